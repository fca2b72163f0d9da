import { byId, setText } from './dom.js';
import type { Live } from './live.js';
import type { Screen } from './screen.js';

/** Connection state and round trip; pictures per second on demand. */
export function showConnection(live: Live, screen: Screen): void {
  const label = byId('connection');
  const words = byId('connection-words');
  const shape = label.querySelector('.shape');
  let rtt: number | null = null;
  let detailed = false;

  const update = (): void => {
    const { phase } = live.connection.state;
    label.dataset.state = phase;
    if (shape) shape.className = phase === 'open' ? 'shape dot good' : phase === 'connecting' ? 'shape ring' : 'shape cross wrong';
    if (phase === 'open') {
      const trip = rtt === null ? 'Connected' : `${Math.max(1, Math.round(rtt))} ms`;
      setText(words, detailed ? `${trip} · ${screen.rate}/s` : trip);
    } else setText(words, phase === 'connecting' ? 'Connecting…' : phase === 'waiting' ? 'Connection lost' : 'Closed');
  };
  live.connection.on('rtt', (value) => {
    rtt = rtt === null ? value : rtt * 0.6 + value * 0.4;
    update();
  });
  live.on('connection', (state) => {
    if (state.phase !== 'open') rtt = null;
    update();
  });
  label.title = 'Round trip to the session. Click for pictures per second.';
  label.addEventListener('click', () => {
    detailed = !detailed;
    update();
  });
  window.setInterval(() => detailed && update(), 1_000);
}
