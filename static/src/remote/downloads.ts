import { path } from '../ui/api.js';
import { byId, h, icon, setText, show } from '../ui/dom.js';
import type { Live } from './live.js';
import type { DownloadMessage } from './protocol.js';
import { sizeOf } from './uploads.js';

/** Downloads in the list. Older ones are in the session's files. */
const LISTED = 20;

/** Returns the address of a file of a session. */
export const fileAddress = (session: string, name: string): string => path`/v1/sessions/${session}/files/${name}`;

/** Shows the downloads of remote pages as they arrive, with a button that saves them. */
export class Downloads {
  #tray = byId('downloads');
  #list = byId('downloads-list');
  #known = new Map<string, DownloadMessage>();
  #rows = new Map<string, HTMLElement>();

  constructor(private readonly live: Live) {
    live.on('download', (message) => this.#show(message));
    live.on('control', () => this.#allow());
    byId('downloads-close').addEventListener('click', () => show(this.#tray, false));
    for (const button of document.querySelectorAll<HTMLElement>('[data-downloads]')) button.addEventListener('click', () => show(this.#tray, this.#tray.hidden !== false));
  }

  #show(message: DownloadMessage): void {
    const before = this.#known.get(message.id);
    this.#known.set(message.id, message);
    // Downloads that ended before this page was opened are not announced.
    const news = message.state === 'running' ? !before : before?.state === 'running';
    if (news) show(this.#tray, true);
    for (const button of document.querySelectorAll<HTMLElement>('[data-downloads]')) show(button, true);
    let row = this.#rows.get(message.id);
    if (!row) {
      row = h('li', { class: 'download' });
      this.#rows.set(message.id, row);
      this.#list.prepend(row);
      for (const [id, old] of this.#rows) {
        if (this.#rows.size <= LISTED) break;
        old.remove();
        this.#rows.delete(id);
        this.#known.delete(id);
      }
    }
    // A focused button stays in place while only figures change.
    if (before?.state === message.state) setText(row.querySelector('.meta'), wordsOf(message));
    else row.replaceChildren(icon('download'), h('span', { class: 'download-what' }, h('span', { class: 'clip', title: message.name, text: message.name }), h('span', { class: 'meta tabular', text: wordsOf(message) })), this.#action(message) ?? '');
    this.#allow();
  }

  #action({ id, state, name }: DownloadMessage): HTMLElement | null {
    if (state === 'done') return h('a', { class: 'button', href: fileAddress(this.live.session, name), download: name, 'aria-label': `Save ${name}`, text: 'Save' });
    if (state !== 'running') return null;
    return h('button', { type: 'button', class: 'button quiet', 'aria-label': `Cancel ${name}`, text: 'Cancel', on: { click: () => this.live.send({ type: 'download', id, action: 'cancel' }) } });
  }

  #allow(): void {
    const allowed = this.live.mine || (this.live.party !== 'person' && this.live.mayControl);
    for (const button of this.#list.querySelectorAll('button')) button.disabled = !allowed;
  }
}

/** Returns the state of a download in words. */
export function wordsOf({ state, received, total, error }: DownloadMessage): string {
  switch (state) {
    case 'running':
      return total ? `${sizeOf(received)} of ${sizeOf(total)}` : received ? sizeOf(received) : 'Starting…';
    case 'done':
      return received ? `Ready · ${sizeOf(received)}` : 'Ready';
    case 'cancelled':
      return 'Cancelled';
    default:
      return `Failed${error ? `: ${error}` : ''}`;
  }
}
