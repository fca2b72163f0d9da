import { byId, setText, show } from '../ui/dom.js';
import { capital } from '../ui/titles.js';
import type { Live } from '../remote/live.js';
import type { HeldAction } from '../remote/protocol.js';
import { holderWords } from './panel/describe.js';

/** Describes an action of a program that waits: who wants what, and with what. The name is an operation such as frame.click, or a command such as Page.navigate. */
export function heldWords({ by, name, target }: HeldAction): { text: string; target: string } {
  const operation = /^[a-z]/.test(name) ? name.slice(name.lastIndexOf('.') + 1) : name;
  return { text: `${capital(holderWords(by))}: ${operation}`, target };
}

/** Shows what programs that are held want to do, and lets an operator hold them, let actions pass, and go on: by buttons, and by keys while the picture has the focus. */
export function showHeld(live: Live, keys: { idle: (key: string) => boolean }): void {
  const bar = byId('held');
  const button = byId<HTMLButtonElement>('hold-button');
  const item = document.querySelector('#more-menu [data-act="hold"]');
  const next = (): HeldAction | undefined => live.held?.waiting[0];
  const may = (): boolean => live.role === 'control' && live.connection.state.phase === 'open';
  /** Whether keys hold programs: while a person is in control, the picture's keys are theirs. */
  const byKeys = (): boolean => may() && !live.personActs;
  const decide = (action: 'pass' | 'end'): void => {
    const waiting = next();
    if (waiting) live.hold(action, waiting.number);
  };
  const toggle = (): void => live.hold(live.held ? 'go_on' : 'hold');

  const update = (): void => {
    const held = live.held !== null && live.connection.state.phase !== 'closed';
    show(bar, held);
    if (live.role === 'control') show(button, true);
    button.disabled = !may();
    button.setAttribute('aria-pressed', String(held));
    button.dataset.does = held ? 'Let programs go on' : 'Hold programs';
    button.title = held ? 'Let programs go on (Space, while the picture has the focus)' : 'Hold programs (Space, while the picture has the focus)';
    item?.querySelector('use')?.setAttribute('href', held ? '#i-play' : '#i-pause');
    setText(item?.querySelector('span') ?? null, button.dataset.does);
    show(byId('keys-hold'), byKeys());
    for (const id of ['held-pass', 'held-go', 'held-end']) show(byId(id), may());
    const first = next();
    for (const id of ['held-pass', 'held-end']) byId<HTMLButtonElement>(id).disabled = !first;
    if (!held || !live.held) return;
    const words = first ? heldWords(first) : { text: 'They may still read the page. The next action waits.', target: '' };
    setText(byId('held-words'), words.text);
    setText(byId('held-target'), words.target);
    const more = live.held.waiting.length - 1;
    setText(byId('held-more'), more > 0 ? `and ${more} more` : '');
  };
  live.on('control', update);
  live.on('hello', update);
  live.on('connection', update);
  button.addEventListener('click', toggle);
  item?.addEventListener('click', toggle);
  byId('held-go').addEventListener('click', () => live.hold('go_on'));
  byId('held-pass').addEventListener('click', () => decide('pass'));
  byId('held-end').addEventListener('click', () => decide('end'));
  keys.idle = (key) => {
    if (!byKeys()) return false;
    if (key === ' ') toggle();
    else if (key === 'ArrowRight' && next()) decide('pass');
    else if (key === 'Escape' && next()) decide('end');
    else return false;
    return true;
  };
}
