import { get, messageOf, path } from '../../ui/api.js';
import { byId, h, setText, show } from '../../ui/dom.js';
import type { Live } from '../live.js';
import { formError } from '../../ui/menus.js';
import type { ChooserMessage } from '../protocol.js';
import { ask, openOver, Questions } from './questions.js';
import { origin } from './dialog.js';
import { sizeOf, uploadAll, type StoredFile } from '../uploads.js';

/** Asks the person for files that a page of the remote browser wants, from this device or from the session. */
export class FileQuestion {
  #dialog = byId<HTMLDialogElement>('remote-chooser');
  #form = byId<HTMLFormElement>('remote-chooser-form');
  #picker = byId<HTMLInputElement>('remote-chooser-picker');
  #list = byId('remote-chooser-list');
  #accept = byId<HTMLButtonElement>('remote-chooser-accept');
  #device = byId<HTMLButtonElement>('remote-chooser-device');
  #open = new Questions<ChooserMessage>();

  constructor(private readonly live: Live) {
    live.on('chooser', (message) => this.#open.take(message) && this.#show());
    live.on('control', () => this.#allow());
    ask(live, this.#open, this.#dialog, () => this.#show());
    this.#device.addEventListener('click', () => this.#picker.click());
    this.#picker.addEventListener('change', () => void this.#send([...(this.#picker.files ?? [])]));
    this.#list.addEventListener('change', () => this.#allow());
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#answer(this.#chosen());
    });
    byId('remote-chooser-cancel').addEventListener('click', () => this.#answer(null));
    this.#dialog.addEventListener('cancel', (event) => {
      // This device's own file picker also fires a cancel event, which bubbles.
      if (event.target !== this.#dialog) return;
      event.preventDefault();
      this.#answer(null);
    });
  }

  #show(): void {
    const message = this.#open.first;
    if (!message) return this.#dialog.close();
    const from = origin(message.url);
    setText(byId('remote-chooser-title'), `The page asks for ${message.multiple ? 'files' : 'a file'}${from ? ` · ${from}` : ''}`);
    this.#picker.value = '';
    this.#picker.multiple = message.multiple ?? false;
    this.#picker.accept = message.accept ?? '';
    this.#say('');
    formError(this.#form, '');
    void this.#offer(message);
    this.#allow();
    openOver(this.#dialog);
  }

  /** Lists the session's files. */
  async #offer(message: ChooserMessage): Promise<void> {
    this.#list.replaceChildren();
    show(byId('remote-chooser-stored'), false);
    const { files } = await get<{ files: StoredFile[] }>(`${path`/v1/sessions/${this.live.session}/files`}?limit=200`).catch(() => ({ files: [] }));
    if (this.#open.first !== message || files.length === 0) return;
    this.#list.replaceChildren(
      ...files.reverse().map(({ name, size }) =>
        h('label', { class: 'stored-file' }, h('input', { type: message.multiple ? 'checkbox' : 'radio', name: 'stored', value: name }), h('span', { class: 'clip', text: name }), h('span', { class: 'meta tabular', text: sizeOf(size) })),
      ),
    );
    show(byId('remote-chooser-stored'), true);
    this.#allow();
  }

  #chosen(): string[] {
    return [...this.#list.querySelectorAll<HTMLInputElement>('input:checked')].map((input) => input.value);
  }

  #allow(): void {
    const allowed = this.live.mayAnswer;
    const busy = this.#form.getAttribute('aria-busy') === 'true';
    this.#device.disabled = !allowed || busy;
    byId<HTMLButtonElement>('remote-chooser-cancel').disabled = !allowed;
    this.#accept.disabled = !allowed || busy || this.#chosen().length === 0;
  }

  #say(text: string): void {
    setText(byId('remote-chooser-state'), text);
    this.#form.setAttribute('aria-busy', String(text !== ''));
    this.#allow();
  }

  async #send(files: File[]): Promise<void> {
    const open = this.#open.first;
    if (!open || files.length === 0) return;
    formError(this.#form, '');
    try {
      const names = await uploadAll(this.live.session, files, (text) => {
        if (this.#open.first === open) this.#say(text);
      });
      if (this.#open.first === open) this.#answer(names);
    } catch (error) {
      if (this.#open.first === open) formError(this.#form, messageOf(error));
    } finally {
      if (this.#open.first === open) this.#say('');
      this.#picker.value = '';
    }
  }

  #answer(files: string[] | null): void {
    const { first } = this.#open;
    if (!first || !this.live.mayAnswer) return;
    if (!this.live.mine && this.live.party === 'nobody') this.live.takeControl();
    this.live.send({ type: 'chooser', id: first.id, files });
    this.#open.shift();
    this.#show();
  }
}
