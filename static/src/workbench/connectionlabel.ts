import { byId, setText } from '../ui/dom.js';
import type { Live } from '../remote/live.js';
import type { StatsMessage } from '../remote/protocol.js';

/** Shows the connection's state or round trip, with an explanation and more figures on demand. */
export function showConnection(live: Live): void {
  const label = byId('connection');
  const words = byId('connection-words');
  const shape = label.querySelector('.shape');
  let rtt: number | null = null;
  let stats: StatsMessage | null = null;

  const update = (): void => {
    const { state: line } = live.connection;
    const { phase } = line;
    const quiet = line.phase === 'open' ? line.quiet : undefined;
    const open = phase === 'open' && quiet !== 'lost';
    label.dataset.state = phase;
    if (shape) shape.className = open ? (quiet ? 'shape ring person' : 'shape dot good') : phase === 'connecting' || phase === 'closed' ? 'shape ring' : 'shape cross wrong';
    const state = open ? (quiet ? 'Slow connection' : 'Connected') : quiet ? 'Not connected' : phase === 'connecting' ? 'Connecting…' : phase === 'waiting' ? 'Reconnecting…' : 'Closed';
    const trip = open && !quiet && rtt !== null ? `${Math.max(1, Math.round(rtt))} ms` : '';
    setText(words, trip || state);
    const rate = open && stats ? Math.round(stats.fps) : 0;
    label.title = trip ? `Connected. Round trip to the server: ${trip}` : state;
    setText(byId('figure-state'), state);
    setText(byId('figure-trip'), trip || '–');
    setText(byId('figure-rate'), open ? `${rate} per second` : '–');
    setText(byId('figure-skipped'), open && stats ? String(stats.skipped) : '–');
    setText(byId('figure-data'), open && stats ? `${Math.round(stats.kbps)} kbit/s` : '–');
  };
  live.on('stats', (message) => {
    stats = message;
    update();
  });
  live.connection.on('rtt', (value) => {
    rtt = rtt === null ? value : rtt * 0.6 + value * 0.4;
    update();
  });
  live.on('connection', (state) => {
    if (state.phase !== 'open') rtt = stats = null;
    update();
  });
}
