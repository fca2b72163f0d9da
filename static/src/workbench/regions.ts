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
    document.querySelector<HTMLElement>('[data-unfold]')?.focus();
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
      tab.focus();
    });
  }
  return unfold;
}

/**
 * Opens panels below the page in narrow windows, or over a page that needs all the room. `offer` opens the script where there is room for it below
 * the picture, unless a panel is open or the person has closed one. `close` gives the picture all the room.
 */
export function enableSheets(root: HTMLElement, typing: () => boolean): { offer(): void; close(): void } {
  const KEY = 'takeover.sheet';
  const below = matchMedia('(max-width: 1023.98px) and (min-height: 640px)'); // as in workbench.css
  let closed = false;
  /** The open sheet was opened by the page itself. */
  let offered = false;
  const open = (sheet: string, stays = true): void => {
    if (sheet) root.dataset.sheet = sheet;
    else delete root.dataset.sheet;
    closed = !sheet;
    offered = false;
    if (stays) write(KEY, sheet);
    for (const button of document.querySelectorAll<HTMLElement>('.dock [data-sheet]')) button.setAttribute('aria-pressed', String(button.dataset.sheet === sheet));
  };
  /** Whether a sheet lies over the picture. */
  const over = (): boolean => [byId('side'), byId('events-dock')].some((panel) => getComputedStyle(panel).position === 'fixed' && panel.clientHeight > 0);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-sheet]') : null;
    if (button && button !== root) {
      const wanted = button.dataset.sheet ?? '';
      open(root.dataset.sheet === wanted && !offered ? '' : wanted); // who presses when it has just opened wants it open
    } else if (root.dataset.sheet && event.target instanceof Element && event.target.closest('#stage-area') && over()) open('');
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && root.dataset.sheet && !typing()) open('');
  });
  const kept = read(KEY);
  if (kept === 'script' || kept === 'events') open(kept);
  return {
    offer: () => {
      if (!below.matches || !root.hasAttribute('data-wide') || root.dataset.sheet || closed) return;
      open('script', false);
      offered = true;
      window.setTimeout(() => {
        offered = false;
      }, JUST_OPENED);
    },
    close: () => root.dataset.sheet && open('', false),
  };
}

/** Tells the stylesheet the shape of the remote page, which decides how much room the panels get. */
export function shape(root: HTMLElement, { width, height }: { width: number; height: number }): void {
  root.toggleAttribute('data-wide', height / width <= WIDE);
  root.style.setProperty('--page-ratio', String(height / width));
}
