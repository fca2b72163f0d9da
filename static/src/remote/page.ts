import type { Live } from './live.js';
import type { ViewSize } from './protocol.js';
import type { Screen } from './screen.js';

/** How long (ms) a size must stay the same before it is sent to the server. */
const REST = 250;
/** The most device pixels per CSS pixel that are requested for pictures. */
const DENSEST = 4;

/** The cursor names of CSS. Other names from the server are ignored. */
const CURSORS = new Set(
  ('default none context-menu help pointer progress wait cell crosshair text vertical-text alias copy move no-drop not-allowed grab grabbing ' +
    'all-scroll col-resize row-resize n-resize e-resize s-resize w-resize ne-resize nw-resize se-resize sw-resize ew-resize ns-resize nesw-resize nwse-resize zoom-in zoom-out').split(' '),
);

/** Shows the remote page: draws and acknowledges its pictures, sets the cursor, and tells the server how large the page is shown. */
export function showPage(live: Live, screen: Screen): void {
  live.on('picture', (picture) => screen.show(picture));
  screen.on('drawn', ({ seq }) => live.send({ type: 'ack', seq }));
  live.on('cursor', ({ shape }) => (screen.canvas.style.cursor = CURSORS.has(shape) ? shape : 'default'));
  tellSize(live, screen);
}

/** Returns the size of the whole page on the screen: larger than the stage while it is zoomed in. */
export function viewSize({ room, fitted, page, view }: Screen): ViewSize {
  const { width, height } = fitted ? room : { width: page.width * view.scale, height: page.height * view.scale };
  return { width: Math.round(width), height: Math.round(height), dpr: Math.min(DENSEST, window.devicePixelRatio || 1), hidden: document.hidden };
}

/**
 * Tells the server how the page is shown, because pictures need not be larger than that, and are not needed while this page is hidden. A new size is
 * sent after a pause, a change of visibility at once.
 */
function tellSize(live: Live, screen: Screen): void {
  let timer = 0;
  const tell = (): void => {
    window.clearTimeout(timer);
    live.send({ type: 'resize', ...viewSize(screen) });
  };
  const later = (): void => {
    window.clearTimeout(timer);
    timer = window.setTimeout(tell, REST);
  };
  new ResizeObserver(later).observe(screen.stage);
  let scale = 0;
  screen.on('view', (view) => {
    if (view.scale !== scale) later();
    scale = view.scale;
  });
  document.addEventListener('visibilitychange', tell);
}
