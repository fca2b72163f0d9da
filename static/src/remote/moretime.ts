import { byId, show } from '../ui/dom.js';
import type { Live } from './live.js';

/** More time is offered when this much (ms) of a takeover is left. */
const LITTLE = 60_000;

/** Shows the button that asks for more time when little is left. */
export function offerMoreTime(live: Live): void {
  const button = byId('more-time');
  const update = (): void => {
    const left = live.takeover ? Date.parse(live.takeover.deadline) - Date.now() : Infinity;
    show(button, live.mayControl && left < LITTLE);
  };
  button.addEventListener('click', () => live.answerTakeover('extend'));
  live.on('takeover', update);
  live.on('hello', update);
  window.setInterval(update, 1_000);
}
