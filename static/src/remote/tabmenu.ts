import { byId, h, icon, setText, show } from '../ui/dom.js';
import type { Live } from './live.js';
import { morph } from '../ui/morph.js';
import { notice } from '../ui/notices.js';
import type { Tab } from './protocol.js';
import { titleOf } from '../ui/titles.js';

/** Shows a menu of the remote tabs while there are several, and the way back from a tab that the page opened. */
export function showTabMenu(live: Live): void {
  const menu = byId('tabs-menu');
  let before: readonly Tab[] = [];

  live.on('tabs', ({ tabs, active }) => {
    show(byId('errand-tabs'), tabs.length > 1);
    setText(byId('tabs-count'), `${tabs.length} tabs`);
    const fresh = menu.cloneNode() as HTMLElement;
    fresh.append(...tabs.map((tab) => row(tab, tab.tab === active)));
    morph(menu, fresh);
    const isNew = before.length > 0 && !before.some(({ tab }) => tab === active);
    if (isNew && tabs.length > before.length && live.mine) {
      notice('This is a new tab.', { label: 'Go back', run: () => live.navigate({ type: 'tab', action: 'close', tab: active }) });
    }
    before = tabs;
  });

  menu.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    const tab = Number(button?.closest('[data-key]')?.getAttribute('data-key'));
    if (tab) live.navigate({ type: 'tab', action: button?.classList.contains('tab-close') ? 'close' : 'activate', tab });
  });
}

function row(tab: Tab, active: boolean): HTMLElement {
  const title = titleOf(tab);
  return h(
    'div',
    { class: 'tab-row', 'data-key': tab.tab },
    h('button', { type: 'button', class: 'menu-item', 'aria-current': active ? 'page' : false, text: title }),
    h('button', { type: 'button', class: 'button quiet square tab-close', 'aria-label': `Close ${title}`, title: 'Close' }, icon('close')),
  );
}
