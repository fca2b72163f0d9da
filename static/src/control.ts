import { byId, setText, show } from './dom.js';
import { PARTY_WORDS, type Live, type Party } from './live.js';

const SHAPES: Record<Party, string> = { me: 'dot person', person: 'dot person', script: 'ring script', agent: 'ring script', nobody: 'ring nobody' };

/** Who is in control, in words, shape and colour, and the button that changes it. */
export function showControl(live: Live): void {
  const state = byId('control-state');
  const button = byId<HTMLButtonElement>('control-button');
  let known = false;
  const update = (party: Party): void => {
    const open = live.connection.state.phase === 'open';
    state.dataset.party = party;
    document.getElementById('session')?.toggleAttribute('data-mine', party === 'me');
    const shape = state.querySelector('.shape');
    if (shape) shape.className = `shape ${SHAPES[party]}`;
    setText(byId('control-words'), open ? PARTY_WORDS[party] : 'Not connected');
    setText(button.querySelector('span') ?? button, party === 'me' ? 'Release' : 'Take control');
    button.disabled = !open || !live.mayControl;
    show(button, live.mayControl || !known);
  };
  live.on('control', update);
  live.on('hello', () => {
    known = true;
    update(live.party);
  });
  live.on('connection', () => update(live.party));
  button.addEventListener('click', () => (live.mine ? live.releaseControl() : live.takeControl()));
}
