import { byId, setText, show } from '../ui/dom.js';
import type { ConnectionState } from './connection.js';
import { PARTY_WORDS, type Live, type Party } from './live.js';
import { isOpen } from './protocol.js';

/** Who is in control. `waits`: nobody, while a takeover is open. `held`: no person, and programs are held. */
type Shown = Party | 'waits' | 'held';

const SHAPES: Record<Shown, string> = { me: 'dot person', person: 'dot person', waits: 'dot person', held: 'pause script', script: 'ring script', agent: 'ring script', nobody: 'ring nobody' };

const WORDS: Record<Shown, string> = { ...PARTY_WORDS, waits: 'Waiting for a person', held: 'Programs are held' };

/** A short form for narrow places. */
const SHORT: Record<Shown, string> = { me: 'You', person: 'In use', waits: 'Waiting', held: 'Held', script: 'Script', agent: 'Agent', nobody: 'Nobody' };

/** Returns the whole seconds until a time. */
const secondsTo = (until: string): number => Math.max(0, Math.ceil((Date.parse(until) - Date.now()) / 1000));

/** Shows who is in control, in words, shape and colour, with the button that changes it. */
export function showControl(live: Live): void {
  const state = byId('control-state');
  const button = byId<HTMLButtonElement>('control-button');
  let known = false;
  const label = (party: Party): string => {
    if (party === 'me') return 'Give back';
    if (live.asked?.mine) return `Requested (${secondsTo(live.asked.until)} s)`;
    return party === 'person' ? 'Ask for control' : 'Take control';
  };
  /** Whether what is pressed here arrives. */
  const usable = (line: ConnectionState): boolean => line.phase === 'open' && line.quiet !== 'lost';
  /** Says who is in control, or what matters more. */
  const say = (): void => {
    const place = document.getElementById('control-words');
    if (!place) return; // the helper's page thanks, and has no tools any more
    const { party } = live;
    const { state: line } = live.connection;
    const open = usable(line);
    const slow = line.phase === 'open' && line.quiet === 'slow' && !document.getElementById('connection'); // otherwise, that says it
    const held = live.held !== null && !live.personActs;
    const over = line.phase === 'closed';
    const ended = over && (line.cause === 'ended' || line.cause === 'gone');
    const saysHeld = held && open && !slow && !live.away;
    const shown: Shown = over ? 'nobody' : saysHeld ? 'held' : party === 'nobody' && isOpen(live.takeover?.state) ? 'waits' : party;
    const [words, short] = ended ? ['Ended', 'Ended']
      : !open ? ['Not connected', 'Offline']
      : slow ? ['The connection is slow', 'Slow']
      : live.away ? ['The person in control is away', 'Away']
      : [WORDS[shown], SHORT[shown]];
    state.dataset.party = shown;
    document.getElementById('session')?.toggleAttribute('data-mine', party === 'me');
    const shape = state.querySelector('.shape');
    if (shape) shape.className = `shape ${SHAPES[shown]}`;
    setText(place, words);
    setText(document.getElementById('control-short'), short);
    const below = document.getElementById('control-below');
    setText(below, short);
    if (below) below.dataset.party = shown;
  };
  const update = (): void => {
    say();
    const { party } = live;
    setText(button.querySelector('span') ?? button, label(party));
    button.dataset.does = party === 'me' ? 'Give control back' : label(party);
    button.querySelector('use')?.setAttribute('href', party === 'me' ? '#i-release' : '#i-hand');
    button.disabled = !usable(live.connection.state) || !live.mayControl || live.asked !== null && party !== 'me';
    show(button, live.mayControl || !known);
  };
  live.on('control', update);
  live.on('takeover', say);
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
