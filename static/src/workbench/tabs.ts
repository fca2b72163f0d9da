import { addressOf } from './address.js';
import { titleOf } from '../ui/titles.js';
import { byId, h, icon, setText } from '../ui/dom.js';
import type { Keyboard } from '../remote/keyboard.js';
import type { Live } from '../remote/live.js';
import { morph } from '../ui/morph.js';
import type { Tab } from '../remote/protocol.js';

/** Favicons are shown only as data: URLs, because fetching them from the page's server would reveal who watches. */
const SAFE_ICON = /^data:image\/(png|jpeg|gif|webp|x-icon|vnd\.microsoft\.icon|svg\+xml)[;,]/;

const narrow = matchMedia('(max-width: 720px), (max-width: 1023.98px) and (max-height: 500px)');

/** Shortens an address for phones: the lock beside it stands for its scheme. */
function brief(url: string): string {
  return narrow.matches ? url.replace(/^https?:\/\//, '') : url;
}

/** Shows the remote browser's tabs and its address bar. */
export function showTabs(live: Live, keyboard: Keyboard): void {
  const strip = byId('tabs');
  const address = byId<HTMLInputElement>('address');
  const security = byId('security');
  const reload = byId('reload');
  let current: Tab | undefined;

  live.on('tabs', ({ tabs, active }) => {
    current = tabs.find((tab) => tab.tab === active);
    strip.toggleAttribute('data-single', tabs.length < 2);
    // A page may change its title many times a second, so a tab that is pressed or focused is not replaced.
    const fresh = strip.cloneNode() as HTMLElement;
    fresh.append(...tabs.map((tab) => tabElement(tab, tab.tab === active)));
    morph(strip, fresh);
    const url = current?.url ?? '';
    if (document.activeElement !== address) address.value = url === 'about:blank' ? '' : brief(url);
    const secure = url.startsWith('https:');
    security.toggleAttribute('data-secure', secure);
    security.title = secure ? 'The connection to this page is encrypted' : 'The connection to this page is not encrypted';
    security.querySelector('use')?.setAttribute('href', secure ? '#i-lock' : '#i-globe');
    const loading = current?.loading ?? false;
    reload.dataset.go = loading ? 'stop' : 'reload';
    reload.title = loading ? 'Stop loading' : 'Reload';
    reload.setAttribute('aria-label', reload.title);
    reload.querySelector('use')?.setAttribute('href', loading ? '#i-close' : '#i-reload');
    const title = titleOf(current);
    setText(byId('session-title'), title);
    byId('screen').setAttribute('aria-label', `Remote page: ${title}`);
    if (!document.title.startsWith('(')) document.title = `${title} · Takeover`;
  });

  /** Returns the tab of an event, if any, and whether it hit the close button. */
  const hit = (event: MouseEvent): { tab: number; close: boolean } | null => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    const tab = button?.closest('.tab')?.getAttribute('data-key');
    return button && tab ? { tab: Number(tab), close: button.classList.contains('tab-close') } : null;
  };
  strip.addEventListener('click', (event) => {
    const at = hit(event);
    if (at) live.navigate({ type: 'tab', action: at.close ? 'close' : 'activate', tab: at.tab });
  });
  strip.addEventListener('auxclick', (event) => {
    const at = hit(event);
    if (at && !at.close && event.button === 1) live.navigate({ type: 'tab', action: 'close', tab: at.tab });
  });

  live.on('hello', () => {
    address.readOnly = !live.mayControl;
    for (const button of byId('address-form').querySelectorAll('button')) button.disabled = !live.mayControl;
  });
  address.addEventListener('focus', () => {
    if (address.value && address.value === brief(current?.url ?? '')) address.value = current?.url ?? '';
    address.select();
  });
  address.addEventListener('blur', () => {
    if (address.value === current?.url) address.value = brief(address.value);
  });
  address.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    address.value = current?.url ?? '';
    address.select();
  });
  byId('address-form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (!address.value.trim()) return;
    live.navigate({ type: 'navigate', action: 'goto', url: addressOf(address.value) });
    keyboard.focus();
  });
  byId('new-tab').addEventListener('click', () => {
    live.navigate({ type: 'tab', action: 'new' });
    address.value = '';
    address.focus();
  });
}

function iconOf(tab: Tab): Element {
  return SAFE_ICON.test(tab.favicon ?? '') ? h('img', { src: tab.favicon, alt: '', width: 16, height: 16 }) : icon('globe');
}

function tabElement(tab: Tab, active: boolean): HTMLElement {
  const title = titleOf(tab);
  const crashed = tab.state === 'crashed';
  const named = crashed ? `${title} (crashed)` : title;
  const picture = crashed ? h('i', { class: 'shape cross wrong', 'aria-hidden': 'true' }) : iconOf(tab);
  return h(
    'div',
    { class: 'tab', 'data-active': active, 'data-key': tab.tab },
    h('button', { type: 'button', class: 'tab-button', 'aria-current': active ? 'page' : false, title: named }, picture, h('span', { text: named })),
    h('button', { type: 'button', class: 'tab-close', 'aria-label': `Close ${title}` }, icon('close')),
  );
}
