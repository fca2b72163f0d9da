import { byId, setText, show } from '../ui/dom.js';
import { PARTY_WORDS, type Live, type Party } from './live.js';

const SHAPES: Record<Party, string> = { me: 'dot person', person: 'dot person', script: 'ring script', agent: 'ring script', nobody: 'ring nobody' };

/** A short form for narrow places. */
const SHORT: Record<Party, string> = { me: 'You', person: 'In use', script: 'Script', agent: 'Agent', nobody: 'Nobody' };

/** Returns the whole seconds until a time. */
const secondsTo = (until: string): number => Math.max(0, Math.ceil((Date.parse(until) - Date.now()) / 1000));

/** Shows who is in control, in words, shape and colour, with the button that changes it. */
export function showControl(live: Live): void {
  const state = byId('control-state');
  const button = byId<HTMLButtonElement>('control-button');
  let known = false;
  const label = (party: Party): string => {
    if (party === 'me') return 'Release';
    if (live.asked?.mine) return `Requested (${secondsTo(live.asked.until)} s)`;
    return party === 'person' ? 'Ask for control' : 'Take control';
  };
  const update = (): void => {
    const { party } = live;
    const { state: line } = live.connection;
    const open = line.phase === 'open' && line.quiet !== 'lost';
    const slow = line.phase === 'open' && line.quiet === 'slow';
    const held = live.held !== null && !live.personActs;
    const over = line.phase === 'closed';
    const ended = over && (line.cause === 'ended' || line.cause === 'gone');
    state.dataset.party = over ? 'nobody' : party;
    document.getElementById('session')?.toggleAttribute('data-mine', party === 'me');
    const shape = state.querySelector('.shape');
    if (shape) shape.className = `shape ${SHAPES[over ? 'nobody' : party]}`;
    setText(byId('control-words'), ended ? 'Ended' : !open ? 'Not connected' : slow ? 'The connection is slow' : live.away ? 'The person in control is away' : held ? 'Programs are held' : PARTY_WORDS[party]);
    setText(document.getElementById('control-short'), ended ? 'Ended' : !open ? 'Offline' : slow ? 'Slow' : live.away ? 'Away' : held ? 'Held' : SHORT[party]);
    setText(button.querySelector('span') ?? button, label(party));
    button.disabled = !open || !live.mayControl || live.asked !== null && party !== 'me';
    show(button, live.mayControl || !known);
  };
  live.on('control', update);
  live.on('hello', () => {
    known = true;
    update();
  });
  live.on('connection', update);
  button.addEventListener('click', () => (live.mine ? live.releaseControl() : live.takeControl()));
  showAsked(live, update);
}

/** Shows another person's request for control, with a countdown, to both persons. */
function showAsked(live: Live, update: () => void): void {
  const bar = byId('asked');
  let timer = 0;
  const tick = (): void => {
    if (live.asked) setText(byId('asked-clock'), `${secondsTo(live.asked.until)} s`);
    update();
  };
  live.on('asked', (asked) => {
    show(bar, asked !== null && live.mine);
    window.clearInterval(timer);
    if (!asked) return;
    tick();
    timer = window.setInterval(tick, 250);
  });
  byId('asked-keep').addEventListener('click', () => live.keepControl());
  byId('asked-give').addEventListener('click', () => live.releaseControl());
}
