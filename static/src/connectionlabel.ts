import { byId, setText } from './dom.js';
import type { Live } from './live.js';
import type { Screen } from './screen.js';

/** Connection state and round trip; what they mean, and pictures per second, on demand. */
export function showConnection(live: Live, screen: Screen): void {
  const label = byId('connection');
  const words = byId('connection-words');
  const shape = label.querySelector('.shape');
  let rtt: number | null = null;

  const update = (): void => {
    const { phase } = live.connection.state;
    const open = phase === 'open';
    label.dataset.state = phase;
    if (shape) shape.className = open ? 'shape dot good' : phase === 'connecting' ? 'shape ring' : 'shape cross wrong';
    const state = open ? 'Connected' : phase === 'connecting' ? 'Connecting…' : phase === 'waiting' ? 'Connection lost' : 'Closed';
    const trip = open && rtt !== null ? `${Math.max(1, Math.round(rtt))} ms` : '';
    setText(words, trip || state);
    label.title = trip ? `Connected. Round trip to the server: ${trip}` : state;
    setText(byId('figure-state'), state);
    setText(byId('figure-trip'), trip || '–');
    setText(byId('figure-rate'), open ? `${screen.rate} per second` : '–');
  };
  live.connection.on('rtt', (value) => {
    rtt = rtt === null ? value : rtt * 0.6 + value * 0.4;
    update();
  });
  live.on('connection', (state) => {
    if (state.phase !== 'open') rtt = null;
    update();
  });
  label.addEventListener('click', update);
  window.setInterval(() => byId('connection-menu').hidden || update(), 1_000);
}
