import { call, get, messageOf, path, post } from '../ui/api.js';
import { copyText } from '../ui/copying.js';
import { byId, h, icon, setText, show } from '../ui/dom.js';
import { busy, formError } from '../ui/menus.js';
import { morph } from '../ui/morph.js';
import { notice } from '../ui/notices.js';
import { tick } from '../ui/times.js';

/** How often (ms) the visible list of links is refreshed. */
const REFRESH = 3_000;
/** Links shown, newest first. */
const MOST = 200;

interface Visit { number: number; at: string; from: string; viewer?: string; here: boolean }

interface Link {
  id: string;
  role: 'view' | 'takeover' | 'control';
  takeover?: string;
  state: 'open' | 'used up' | 'expired' | 'revoked' | 'ended';
  createdAt: string;
  expiresAt: string;
  endedAt?: string;
  maxUses: number;
  uses: number;
  visits: Visit[];
}

const ROLES: Record<Link['role'], string> = { view: 'Watch', takeover: 'Help when asked', control: 'Watch and take control' };
const STATES: Record<Link['state'], string> = { open: '', 'used up': 'Used up', expired: 'Expired', revoked: 'Revoked', ended: 'Session ended' };

/** The dialog that creates share links, lists them with their uses, and revokes them. */
export class Sharing {
  #dialog = byId<HTMLDialogElement>('share-dialog');
  #form = byId<HTMLFormElement>('share-form');
  #list = byId('share-links');
  #made = new Map<string, string>(); // The server does not store secrets, so only the person who created a link can copy it again.
  #opened = new Set<string>();
  #timer = 0;

  constructor(private readonly session: string) {
    byId('share-button').addEventListener('click', () => this.#open());
    document.querySelector('[data-act="share"]')?.addEventListener('click', () => this.#open());
    this.#dialog.addEventListener('close', () => window.clearInterval(this.#timer));
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void busy(this.#form.querySelector('[type=submit]'), (message) => formError(this.#form, message), () => this.#make());
    });
    this.#list.addEventListener('click', (event) => {
      const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-revoke]') : null;
      if (button) void busy(button, notice, () => this.#revoke(button.dataset.revoke ?? ''));
    });
    this.#list.addEventListener('toggle', (event) => {
      const { target } = event;
      if (!(target instanceof HTMLDetailsElement)) return;
      const id = target.dataset.visits ?? '';
      if (target.open) this.#opened.add(id);
      else this.#opened.delete(id);
    }, true);
  }

  /** Offers the link that was made, or none. Then to copy it is what matters, and not to create another one. */
  #offer(url: string): void {
    show(byId('share-result'), url !== '');
    byId<HTMLInputElement>('share-link').value = url;
    byId('share-copy').dataset.copy = url;
    byId('share-copy').classList.toggle('primary', url !== '');
    byId('share-create').classList.toggle('primary', url === '');
    setText(byId('share-create'), url ? 'Create another' : 'Create link');
  }

  #open(): void {
    this.#offer('');
    formError(this.#form, '');
    this.#dialog.showModal();
    this.#refresh();
    this.#timer = window.setInterval(() => !document.hidden && this.#refresh(), REFRESH);
  }

  async #make(): Promise<void> {
    formError(this.#form, '');
    const data = new FormData(this.#form);
    const { id, url } = await post<{ id: string; url: string }>(path`/v1/sessions/${this.session}/links`, {
      role: String(data.get('role')), expiresIn: Number(data.get('expiresIn')), maxUses: Number(data.get('maxUses')),
    });
    this.#made.set(id, url);
    this.#offer(url);
    byId<HTMLInputElement>('share-link').select();
    if (await copyText(url)) notice('Link copied');
    await this.#load();
  }

  async #revoke(id: string): Promise<void> {
    await call('DELETE', path`/v1/sessions/${this.session}/links/${id}`);
    if (byId('share-copy').dataset.copy === this.#made.get(id)) this.#offer('');
    this.#made.delete(id);
    await this.#load();
    notice('Link revoked. Anyone who used it has been disconnected.');
  }

  #refresh(): void {
    this.#load().then(() => formError(this.#form, ''), (error) => formError(this.#form, messageOf(error)));
  }

  async #load(): Promise<void> {
    const { links } = await get<{ links: Link[] }>(path`/v1/sessions/${this.session}/links` + `?limit=${MOST}`);
    const offered = byId('share-copy').dataset.copy;
    if (links.some(({ id, state }) => state !== 'open' && this.#made.get(id) === offered)) this.#offer('');
    links.sort((a, b) => Number(over(a)) - Number(over(b)) || b.createdAt.localeCompare(a.createdAt));
    const fresh = h('ul', { id: 'share-links', class: 'share-links' }, ...links.map((link) => this.#row(link)));
    if (links.length === 0) fresh.append(h('li', { class: 'meta', text: 'No links yet. Links that you create are listed here, with the number of times they were used.' }));
    morph(this.#list, fresh);
    tick(this.#list);
  }

  #row(link: Link): HTMLElement {
    const dead = over(link);
    const here = link.visits.filter((visit) => visit.here).length;
    const url = this.#made.get(link.id);
    return h('li', { class: dead ? 'share-row over' : 'share-row', 'data-key': link.id },
      h('div', { class: 'share-what' },
        h('b', { text: link.takeover ? 'Help with one request' : ROLES[link.role] }),
        h('p', { class: 'meta' }, ...this.#facts(link, here)),
      ),
      url && link.state === 'open' ? h('button', { type: 'button', class: 'button quiet square', 'data-copy': url, 'data-copied': 'Link copied', 'aria-label': 'Copy the link', title: 'Copy the link' }, icon('copy')) : null,
      dead ? null : h('button', { type: 'button', class: 'button', 'data-revoke': link.id, text: 'Revoke' }),
      link.visits.length ? this.#visits(link) : null,
    );
  }

  #facts(link: Link, here: number): Node[] {
    const facts: Node[] = [];
    const say = (...parts: (Node | string)[]): void => void facts.push(h('span', {}, ...parts));
    if (STATES[link.state]) say(STATES[link.state]);
    if (!over(link) && link.takeover) say('until the request ends');
    else if (!over(link)) say(h('span', { class: 'tabular', 'data-deadline': link.expiresAt }), ' left');
    if (link.maxUses) say(`used ${link.uses} of ${times(link.maxUses)}`);
    else say(link.uses === 0 ? 'not used yet' : `used ${times(link.uses)}`);
    if (here) facts.push(h('span', { class: 'person-text', text: here === 1 ? '1 here now' : `${here} here now` }));
    return facts.flatMap((fact, i) => (i ? [h('span', { class: 'sep', 'aria-hidden': 'true', text: '·' }), fact] : [fact]));
  }

  #visits(link: Link): HTMLElement {
    const rows = [...link.visits].reverse().map((visit) => h('li', { 'data-key': String(visit.number) },
      h('time', { datetime: visit.at, 'data-ago': true }),
      h('span', { class: 'mono clip', title: 'The network of the visitor. The address itself is not stored', text: visit.from || 'unknown network' }),
      visit.viewer ? h('span', { class: 'mono', title: visit.viewer, text: visit.viewer.slice(0, 8) }) : h('span', { text: 'did not connect' }),
      visit.here ? h('span', { class: 'person-text', text: 'here now' }) : null,
    ));
    return h('details', { class: 'share-visits', 'data-visits': link.id, open: this.#opened.has(link.id) },
      h('summary', { text: link.visits.length < link.uses ? `${link.visits.length} of ${link.uses} uses` : 'Uses' }), h('ol', {}, ...rows));
  }
}

/** Returns whether a link no longer works for anybody. A used-up link still works for its visitors. */
function over({ state }: Link): boolean {
  return state !== 'open' && state !== 'used up';
}

function times(n: number): string {
  return n === 1 ? '1 time' : `${n} times`;
}
