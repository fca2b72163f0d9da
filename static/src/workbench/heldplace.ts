import { byId, show } from '../ui/dom.js';
import type { Live } from '../remote/live.js';
import type { Screen } from '../remote/screen.js';

/** The smallest side of the frame, in CSS pixels: a point gets one of this size. */
const LEAST = 28;

/** Frames the place in the picture where the action that waits would act, while programs are held. */
export function showHeldPlace(live: Live, screen: Screen): void {
  const frame = document.createElement('div');
  frame.id = 'held-place';
  frame.className = 'held-place';
  frame.setAttribute('aria-hidden', 'true');
  byId('edge').after(frame);
  const place = (): void => {
    const waiting = live.held?.waiting[0];
    const seen = waiting?.rect && waiting.tab === screen.tab;
    show(frame, Boolean(seen));
    frame.classList.toggle('point', seen ? waiting.rect!.width === 0 && waiting.rect!.height === 0 : false);
    if (!seen) return;
    const stage = screen.stage.getBoundingClientRect();
    const { left, top, width, height } = screen.toWindow(waiting.rect!);
    const [w, h] = [Math.max(LEAST, width + 8), Math.max(LEAST, height + 8)];
    Object.assign(frame.style, {
      left: `${left - stage.left + (width - w) / 2}px`, top: `${top - stage.top + (height - h) / 2}px`, width: `${w}px`, height: `${h}px`,
    });
  };
  live.on('control', place);
  screen.on('view', place);
  screen.on('drawn', place);
  place();
}
