import { byId, setText, show } from '../../ui/dom.js';
import type { Live } from '../live.js';
import type { DialogMessage } from '../protocol.js';
import { ask, openOver, Questions } from './questions.js';

const TITLES: Record<string, string> = { alert: 'The page says', confirm: 'The page asks', prompt: 'The page asks', beforeunload: 'Leave this page?' };

/** Returns the part of an address that is shown for a question. */
export function origin(url: string | undefined): string {
  try {
    return url ? new URL(url).host : '';
  } catch {
    return '';
  }
}

/** Shows `alert`, `confirm`, `prompt` and `beforeunload` of the remote page, which are not part of its picture. */
export class DialogQuestion {
  #dialog = byId<HTMLDialogElement>('remote-dialog');
  #input = byId<HTMLInputElement>('remote-dialog-input');
  #open = new Questions<DialogMessage>();

  constructor(private readonly live: Live) {
    live.on('dialog', (message) => this.#open.take(message) && this.#show());
    live.on('control', () => this.#allow());
    ask(live, this.#open, this.#dialog, () => this.#show());
    byId('remote-dialog-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#answer(true);
    });
    byId('remote-dialog-cancel').addEventListener('click', () => this.#answer(false));
    this.#dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      this.#answer(this.#open.first?.kind === 'alert');
    });
  }

  #show(): void {
    const message = this.#open.first;
    if (!message) return this.#dialog.close();
    const from = origin(message.url);
    setText(byId('remote-dialog-title'), `${TITLES[message.kind ?? ''] ?? 'The page asks'}${from ? ` · ${from}` : ''}`);
    setText(byId('remote-dialog-message'), message.kind === 'beforeunload' ? 'What you entered there may be lost.' : (message.message ?? ''));
    show(byId('remote-dialog-field'), message.kind === 'prompt');
    show(byId('remote-dialog-cancel'), message.kind !== 'alert');
    setText(byId('remote-dialog-cancel'), message.kind === 'beforeunload' ? 'Stay' : 'Cancel');
    setText(byId('remote-dialog-accept'), message.kind === 'beforeunload' ? 'Leave' : 'OK');
    this.#input.value = message.defaultValue ?? '';
    this.#allow();
    openOver(this.#dialog);
  }

  /** Enables the buttons only for people who may control the page. Others may read the question but not answer it. */
  #allow(): void {
    const allowed = this.live.mayAnswer;
    byId<HTMLButtonElement>('remote-dialog-accept').disabled = !allowed;
    byId<HTMLButtonElement>('remote-dialog-cancel').disabled = !allowed;
    if (!allowed && this.#dialog.open && this.live.party !== 'nobody') this.#dialog.classList.add('readonly');
    else this.#dialog.classList.remove('readonly');
  }

  #answer(accept: boolean): void {
    const { first } = this.#open;
    if (!first || !this.live.mayAnswer) return;
    if (!this.live.mine && this.live.party === 'nobody') this.live.takeControl();
    const { id, kind } = first;
    this.live.send({ type: 'dialog', id, accept, ...(kind === 'prompt' && accept ? { text: this.#input.value } : {}) });
    this.#open.shift();
    this.#show();
  }
}
