import { get, messageOf, patch, path, post } from '../ui/api.js';
import { byId, h, setText, show } from '../ui/dom.js';
import type { Editor } from './editor/editor.js';
import { isMac } from '../ui/platform.js';
import { busy, formError } from '../ui/menus.js';
import { notice } from '../ui/notices.js';

/** A saved script, as in the API. */
export interface SavedScript { id: string; name: string; code: string; args: unknown; updatedAt: string }

/** How many saved scripts the menu shows. The scripts page lists all of them. */
const OFFERED = 8;
const KEY = 'takeover.saved.';
const UNSAVED = 'Untitled script';

/** The saved script in the editor, if any, and the arguments of its runs. */
export class Scripts {
  #saved: SavedScript | null = null;
  #args: unknown = null;
  #name = byId('script-name');

  constructor(private readonly session: string, private readonly editor: Editor) {
    const keys = byId('save-keys');
    keys.textContent = isMac() ? '⌘ S' : 'Ctrl S';
    byId('script-save').addEventListener('click', () => void this.save());
    byId('script-save-as').addEventListener('click', () => this.#ask());
    byId('script-args').addEventListener('click', () => this.#askArgs());
    document.querySelector('[data-menu="script-menu"]')?.addEventListener('click', () => void this.#list());
    document.addEventListener('keydown', (event) => {
      const inEditor = event.target instanceof Element && event.target.closest('#script-pane');
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || !inEditor) return;
      event.preventDefault();
      void this.save();
    });
    this.#forms();
    editor.onChange = () => this.#show();
    void this.#restore();
  }

  /** Returns the arguments of the next run, or undefined. */
  get args(): unknown {
    return this.#args ?? undefined;
  }

  /** Returns the script's name in errors; undefined for the server's default. */
  get filename(): string | undefined {
    if (!this.#saved) return undefined;
    const name = this.#saved.name.replace(/[^\p{L}\p{Nd}.-]/gu, '-');
    return /\.[jt]s$/.test(name) ? name : `${name}.ts`;
  }

  /** Puts code into the editor as an unsaved script, with its arguments. */
  use(code: string, args: unknown): void {
    this.#saved = null;
    this.#take(code, args);
  }

  /** Saves under the present name, or asks for one. */
  async save(): Promise<void> {
    const saved = this.#saved;
    if (!saved) {
      this.#ask();
      return;
    }
    try {
      this.#have(await patch<SavedScript>(path`/v1/saved-scripts/${saved.id}`, { code: this.editor.value, args: this.#args }));
      notice('Saved');
    } catch (error) {
      notice(messageOf(error));
    }
  }

  /** Restores the script after a reload, or opens the script that a link from the scripts page names. */
  async #restore(): Promise<void> {
    const wanted = new URLSearchParams(location.search).get('script');
    try {
      if (wanted) {
        await this.#open(wanted);
        history.replaceState(null, '', location.pathname);
        return;
      }
      const kept = JSON.parse(sessionStorage.getItem(KEY + this.session) ?? 'null') as { id: string | null; args: unknown } | null;
      if (!kept) return;
      this.#args = kept.args;
      if (kept.id) this.#saved = await get<SavedScript>(path`/v1/saved-scripts/${kept.id}`);
    } catch (error) {
      if (wanted) notice(messageOf(error));
    }
    this.#show();
  }

  async #open(id: string): Promise<void> {
    const saved = await get<SavedScript>(path`/v1/saved-scripts/${id}`);
    this.#saved = saved;
    this.#take(saved.code, saved.args);
  }

  #take(code: string, args: unknown): void {
    this.#args = args;
    this.editor.mark(null);
    this.editor.value = code;
    this.#keep();
    this.#show();
  }

  #have(saved: SavedScript): void {
    this.#saved = saved;
    this.#keep();
    this.#show();
  }

  #keep(): void {
    try {
      sessionStorage.setItem(KEY + this.session, JSON.stringify({ id: this.#saved?.id ?? null, args: this.#args }));
    } catch {
      // The saved script is then known only until the page is left.
    }
  }

  #show(): void {
    const saved = this.#saved;
    const changed = saved !== null && (saved.code !== this.editor.value || JSON.stringify(saved.args) !== JSON.stringify(this.#args));
    setText(this.#name, saved ? saved.name + (changed ? ' •' : '') : UNSAVED);
    this.#name.title = changed ? `${saved.name}, with unsaved changes` : '';
  }

  async #list(): Promise<void> {
    const list = byId('script-list');
    try {
      const { scripts } = await get<{ scripts: SavedScript[] }>(`/v1/saved-scripts?limit=${OFFERED}`);
      list.replaceChildren(...scripts.map((saved) => h('button', { type: 'button', class: 'menu-item', on: { click: () => void this.#open(saved.id).catch((error) => notice(messageOf(error))) } }, h('span', { class: 'clip', text: saved.name }))));
      show(list, scripts.length > 0);
    } catch {
      show(list, false); // If the list cannot be loaded, saving will say why.
    }
  }

  #ask(): void {
    const form = byId<HTMLFormElement>('save-form');
    formError(form, '');
    const name = form.elements.namedItem('name') as HTMLInputElement;
    name.value = this.#saved?.name ?? '';
    byId<HTMLDialogElement>('save-dialog').showModal();
    name.select();
  }

  #askArgs(): void {
    const form = byId<HTMLFormElement>('args-form');
    formError(form, '');
    (form.elements.namedItem('args') as HTMLTextAreaElement).value = this.#args === null ? '{}' : JSON.stringify(this.#args, null, 2);
    byId<HTMLDialogElement>('args-dialog').showModal();
  }

  #forms(): void {
    const save = byId<HTMLFormElement>('save-form');
    save.addEventListener('submit', (event) => {
      event.preventDefault();
      const name = String(new FormData(save).get('name'));
      void busy(save.querySelector('[type=submit]'), (message) => formError(save, message), async () => {
        this.#have(await post<SavedScript>('/v1/saved-scripts', { name, code: this.editor.value, args: this.#args }));
        byId<HTMLDialogElement>('save-dialog').close();
        notice('Saved');
      });
    });
    const args = byId<HTMLFormElement>('args-form');
    args.addEventListener('submit', (event) => {
      event.preventDefault();
      const text = String(new FormData(args).get('args')).trim();
      try {
        this.#args = text === '' ? null : JSON.parse(text);
      } catch (error) {
        formError(args, `This is not JSON: ${messageOf(error)}`);
        return;
      }
      this.#keep();
      this.#show();
      byId<HTMLDialogElement>('args-dialog').close();
    });
  }
}
