import { call, get, messageOf, path } from '../ui/api.js';
import { byId, h, setText, show } from '../ui/dom.js';
import { fileAddress } from '../remote/downloads.js';
import type { Live } from '../remote/live.js';
import { busy } from '../ui/menus.js';
import { notice } from '../ui/notices.js';
import { ago } from '../ui/times.js';
import { sizeOf, uploadAll, type StoredFile } from '../remote/uploads.js';

/** Maximum number of listed files; the API returns the others. */
const LISTED = 500;

/** Shows the session's files: what pages downloaded, scripts wrote and people added. */
export class FilesPanel {
  #list = byId('files-list');

  constructor(private readonly session: string, live: Live) {
    live.on('download', ({ state }) => state === 'done' && void this.list());
    live.on('run', ({ status }) => status !== 'running' && void this.list());
    const picker = byId<HTMLInputElement>('files-picker');
    const add = byId('files-add');
    add.addEventListener('click', () => picker.click());
    picker.addEventListener('change', () => {
      const files = [...(picker.files ?? [])];
      void busy(add, notice, async () => {
        await uploadAll(session, files, notice);
        picker.value = '';
        await this.list();
      });
    });
    void this.list();
  }

  async list(): Promise<void> {
    let files: StoredFile[];
    try {
      ({ files } = await get<{ files: StoredFile[] }>(path`/v1/sessions/${this.session}/files` + `?limit=${LISTED}`));
    } catch (error) {
      this.#list.replaceChildren(h('p', { class: 'runs-empty', text: messageOf(error) }));
      return;
    }
    const count = byId('files-count');
    show(count, files.length > 0);
    setText(count, String(files.length));
    const empty = h('p', { class: 'runs-empty', text: 'No files yet. What pages download, scripts write and people add is listed here until the session ends.' });
    this.#list.replaceChildren(...(files.length ? files.reverse().map((file) => this.#row(file)) : [empty]));
  }

  #row({ name, size, modifiedAt }: StoredFile): HTMLElement {
    const at = new Date(modifiedAt);
    const remove = h('button', { type: 'button', class: 'button quiet', 'aria-label': `Delete ${name}`, text: 'Delete' });
    remove.addEventListener('click', () => void busy(remove, notice, async () => {
      await call('DELETE', fileAddress(this.session, name));
      await this.list();
    }));
    return h(
      'div',
      { class: 'file-row' },
      h('span', { class: 'clip', title: name, text: name }),
      h('span', { class: 'meta tabular', title: at.toLocaleString(), text: `${sizeOf(size)} · ${ago(Date.now() - at.getTime())}` }),
      h('a', { class: 'button quiet', href: fileAddress(this.session, name), download: name, 'aria-label': `Save ${name}`, text: 'Save' }),
      remove,
    );
  }
}
