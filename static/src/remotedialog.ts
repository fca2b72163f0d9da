import { byId, setText, show } from './dom.js';
import type { Live } from './live.js';
import type { DialogMessage } from './protocol.js';

const TITLES: Record<string, string> = { alert: 'The page says', confirm: 'The page asks', prompt: 'The page asks', beforeunload: 'Leave this page?' };

/** What is shown of the address that a question came from. */
export function origin(url: string | undefined): string {
  try {
    return url ? new URL(url).host : '';
  } catch {
    return '';
  }
}

/** `alert`, `confirm`, `prompt` and `beforeunload` of the remote page, which no picture shows. */
export class RemoteDialog {
  #dialog = byId<HTMLDialogElement>('remote-dialog');
  #input = byId<HTMLInputElement>('remote-dialog-input');
  #open: DialogMessage | null = null;

  constructor(private readonly live: Live) {
    live.on('dialog', (message) => this.#show(message));
    live.on('control', () => this.#allow());
    byId('remote-dialog-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#answer(true);
    });
    byId('remote-dialog-cancel').addEventListener('click', () => this.#answer(false));
    this.#dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      this.#answer(this.#open?.kind === 'alert');
    });
  }

  #show(message: DialogMessage): void {
    if (message.closed || !message.kind) {
      if (this.#open && this.#open.id === message.id) this.#close();
      return;
    }
    this.#open = message;
    const from = origin(message.url);
    setText(byId('remote-dialog-title'), `${TITLES[message.kind] ?? 'The page asks'}${from ? ` · ${from}` : ''}`);
    setText(byId('remote-dialog-message'), message.kind === 'beforeunload' ? 'What you entered there may be lost.' : (message.message ?? ''));
    show(byId('remote-dialog-field'), message.kind === 'prompt');
    show(byId('remote-dialog-cancel'), message.kind !== 'alert');
    setText(byId('remote-dialog-accept'), message.kind === 'beforeunload' ? 'Leave' : 'OK');
    this.#input.value = message.defaultValue ?? '';
    this.#allow();
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  /** Who may not control may read, not answer. */
  #allow(): void {
    const allowed = this.live.mine || (this.live.party === 'nobody' && this.live.mayControl);
    byId<HTMLButtonElement>('remote-dialog-accept').disabled = !allowed;
    byId<HTMLButtonElement>('remote-dialog-cancel').disabled = !allowed;
    if (this.#open && !allowed && this.#dialog.open && this.live.party !== 'nobody') this.#dialog.classList.add('readonly');
    else this.#dialog.classList.remove('readonly');
  }

  #answer(accept: boolean): void {
    if (!this.#open) return;
    if (!this.live.mine && this.live.party === 'nobody') this.live.takeControl();
    const { id, kind } = this.#open;
    this.live.send({ type: 'dialog', id, accept, ...(kind === 'prompt' && accept ? { text: this.#input.value } : {}) });
    this.#close();
  }

  #close(): void {
    this.#open = null;
    this.#dialog.close();
  }
}
