/** The regions of a session's page: their borders, what is folded, and the sheets of narrow windows. */

import { byId } from '../ui/dom.js';
import { read, write } from '../ui/storage.js';
import { movable } from './dividers.js';

const NARROWEST_SIDE = 320;
const NARROWEST_VIEW = 400;
const LOWEST_EVENTS = 120;
/** What the bars and the lowest picture take from the window's height. */
const ABOVE_EVENTS = 300;
/** A flatter remote page (height by width) leaves room for a panel below its picture on a phone. */
const WIDE = 0.8;
/** How long (ms) a press on a button that opened by itself still opens. */
const JUST_OPENED = 5_000;
/** Below this width of the window, panels are sheets; between the two, the side panel is folded at first. As in workbench.css. */
const SHEETS = 1024;
const ROOMY = 1200;

/** Makes the borders between the regions movable. */
export function enableBorders(root: HTMLElement): void {
  const dock = byId('events-dock');
  movable({
    handle: byId('divider'), host: root, property: '--side', key: 'takeover.side', unit: 'px', step: 24, reverse: true,
    initial: () => Math.min(560, Math.max(400, window.innerWidth * 0.34)),
    min: NARROWEST_SIDE,
    max: () => Math.max(NARROWEST_SIDE, window.innerWidth - NARROWEST_VIEW),
    at: (event) => window.innerWidth - event.clientX,
  });
  movable({
    handle: byId('split'), host: root, property: '--events', key: 'takeover.events', unit: 'px', step: 24, reverse: true,
    initial: () => dock.offsetHeight + byId('notices').offsetHeight, // which take its room
    min: LOWEST_EVENTS,
    max: () => Math.max(LOWEST_EVENTS, window.innerHeight - ABOVE_EVENTS),
    at: (event) => window.innerHeight - event.clientY,
  });
  const panel = byId('panel-script');
  movable({
    handle: byId('output-split'), host: panel, property: '--output', key: 'takeover.output', unit: '%', step: 4, reverse: true,
    initial: () => 46, min: 16, max: () => 80,
    at: (event) => ((panel.getBoundingClientRect().bottom - event.clientY) / panel.clientHeight) * 100,
  });
}

/** Folds the events to a bar and the side panel to a rail, and stores both. Returns a function that opens the side panel. */
export function enableFolding(root: HTMLElement): () => void {
  const EVENTS = 'takeover.eventsFolded';
  const SIDE = 'takeover.sideFolded';
  const eventsFold = byId('events-fold');
  const foldEvents = (folded: boolean): void => {
    if (folded) root.dataset.events = 'folded';
    else delete root.dataset.events;
    eventsFold.setAttribute('aria-expanded', String(!folded));
    eventsFold.title = folded ? 'Show events' : 'Fold events';
  };
  foldEvents(read(EVENTS) === 'yes');
  eventsFold.addEventListener('click', () => {
    const folded = root.dataset.events !== 'folded';
    foldEvents(folded);
    write(EVENTS, folded ? 'yes' : '');
  });

  const foldSide = (folded: boolean): void => {
    root.dataset.side = folded ? 'folded' : 'open';
    write(SIDE, folded ? 'yes' : 'no');
  };
  const kept = read(SIDE);
  if (kept) foldSide(kept === 'yes');
  byId('side-fold').addEventListener('click', () => {
    foldSide(true);
    document.querySelector<HTMLElement>('.rail [data-unfold]')?.focus();
  });
  const unfold = (): void => {
    const folded = root.dataset.side ? root.dataset.side === 'folded' : window.innerWidth < ROOMY;
    if (folded && window.innerWidth >= SHEETS) foldSide(false);
  };
  for (const button of document.querySelectorAll<HTMLElement>('[data-unfold]')) {
    button.addEventListener('click', () => {
      unfold();
      const tab = byId(button.dataset.unfold ?? '');
      tab.click();
      requestAnimationFrame(() => tab.focus()); // a sheet opens meanwhile
    });
  }
  return unfold;
}

/** The panels that narrow windows open as sheets. */
type Sheet = 'script' | 'events';

/** What a page does itself with the panels of a narrow window. */
export interface Sheets {
  /** Opens the panel that the person wants. */
  choose(sheet: Sheet): void;
  /** Opens a panel while there is room for it below the picture, unless the person has chosen one, or none. */
  offer(sheet: Sheet): void;
  /** Closes the panel that was offered: the picture gets its room. */
  withdraw(): void;
  /** Closes whichever panel is open. */
  close(): void;
}

/** Opens panels below the page in narrow windows, or over a page that needs all the room. */
export function enableSheets(root: HTMLElement, typing: () => boolean): Sheets {
  const KEY = 'takeover.sheet';
  const NONE = 'none';
  const narrow = matchMedia('(max-width: 1023.98px) and (min-height: 640px)');
  const small = matchMedia('(max-width: 400px) and (min-height: 560px)');
  const notices = byId('notices');
  const kept = read(KEY);
  /** The person has opened or closed a panel. */
  let chosen = kept !== '';
  /** What the page has open as long as the person has not chosen, and since when (ms). */
  let offered: Sheet | '' = '';
  let opened = -Infinity;
  const open = (sheet: string): void => {
    if (sheet) root.dataset.sheet = sheet;
    else delete root.dataset.sheet;
    for (const button of document.querySelectorAll<HTMLElement>('.dock [data-sheet]')) button.setAttribute('aria-pressed', String(button.dataset.sheet === sheet));
  };
  /** Whether there is room for a panel below the picture. On a small phone, a notice takes it. */
  const room = (): boolean => root.hasAttribute('data-wide') && (narrow.matches || (small.matches && !notices.offsetHeight));
  /** Opens the offered panel if there is room for it below the picture; otherwise closes it. */
  const fit = (): void => {
    const below = room();
    root.toggleAttribute('data-below', below); // for workbench.css
    const sheet = below ? offered : '';
    if (chosen || (root.dataset.sheet ?? '') === sheet) return;
    open(sheet);
    opened = performance.now();
  };
  const choose = (sheet: string): void => {
    chosen = true;
    write(KEY, sheet || (room() ? NONE : '')); // who closes one that covers the picture may still want one below it
    open(sheet);
  };
  /** Whether a sheet lies over the picture. */
  const over = (): boolean => [byId('side'), byId('events-dock')].some((panel) => getComputedStyle(panel).position === 'fixed' && panel.clientHeight > 0);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-sheet]') : null;
    if (button && button !== root) {
      if (window.innerWidth >= SHEETS) return; // such a button also unfolds
      const wanted = button.dataset.sheet ?? '';
      const justOpened = !chosen && performance.now() - opened < JUST_OPENED; // who presses then wants it open
      choose(root.dataset.sheet === wanted && !justOpened ? '' : wanted);
    } else if (root.dataset.sheet && event.target instanceof Element && event.target.closest('#stage-area') && over()) choose('');
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && root.dataset.sheet && !typing()) choose('');
  });
  for (const media of [narrow, small]) media.addEventListener('change', fit);
  new ResizeObserver(fit).observe(notices);
  if (kept === 'script' || kept === 'events') open(kept);
  const offer = (sheet: Sheet | ''): void => {
    offered = sheet;
    fit();
  };
  const close = (): void => {
    offered = '';
    open('');
  };
  return { choose, offer, withdraw: () => offer(''), close };
}

/** Tells the stylesheet the shape of the remote page, which decides how much room the panels get. */
export function shape(root: HTMLElement, { width, height }: { width: number; height: number }): void {
  root.toggleAttribute('data-wide', height / width <= WIDE);
  root.style.setProperty('--page-ratio', String(height / width));
}
