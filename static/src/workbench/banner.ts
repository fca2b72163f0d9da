import { byId, maybeById, setText, show } from '../ui/dom.js';
import { askReason } from '../remote/failing.js';
import type { Keyboard } from '../remote/keyboard.js';
import type { Live } from '../remote/live.js';
import { offerMoreTime } from '../remote/moretime.js';
import { isOpen } from '../remote/protocol.js';
import { clock } from '../ui/times.js';

/** Shows the takeover banner: what is needed, the time left, and the buttons. */
export function showBanner(live: Live, keyboard: Keyboard): void {
  const banner = byId('banner');
  const take = byId('banner-take');
  const done = byId('banner-done');
  const title = document.title;
  const guest = byId('session').hasAttribute('data-guest');

  const whole = byId('banner-whole');
  const text = banner.querySelector<HTMLElement>('.banner-text')!;
  let shown = '';

  /** Shows the whole text where the banner has room for a part only. */
  const open = (all: boolean): void => {
    banner.toggleAttribute('data-open', all);
    whole.setAttribute('aria-expanded', String(all));
    text.tabIndex = all ? 0 : -1; // it scrolls, if it is long
  };
  /** Notes whether there is more than the banner shows. */
  const cut = (): void => {
    const note = byId('banner-note');
    const more = [byId('banner-reason'), note].some((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) || getComputedStyle(note).display === 'none' && !note.hidden;
    banner.toggleAttribute('data-cut', more || banner.hasAttribute('data-open'));
  };

  const update = (): void => {
    const takeover = live.takeover;
    const asks = takeover !== null && isOpen(takeover.state);
    show(banner, asks);
    byId('session').toggleAttribute('data-asked', asks);
    show(maybeById('more-link'), asks);
    document.title = asks ? `(1) ${takeover.reason}` : title;
    if (!asks) return;
    if (takeover.id !== shown) open(false);
    shown = takeover.id;
    const mine = live.mine;
    /** Whoever claimed it may have left it without an answer. */
    const helped = takeover.state === 'claimed' && (live.party === 'person' || live.away);
    setText(byId('banner-lead'), mine ? 'You are helping with:' : helped ? 'A helper is working:' : live.mayControl ? 'Waiting for you:' : 'Waiting for a person:');
    setText(byId('banner-reason'), takeover.reason);
    setText(byId('banner-note'), takeover.requestNote ?? '');
    show(byId('banner-note'), Boolean(takeover.requestNote));
    cut();
    const link = maybeById('banner-link');
    if (link) Object.assign(link.dataset, { link: takeover.url ?? '', takeover: takeover.id });
    setText(byId('banner-clock'), clock(Date.parse(takeover.deadline) - Date.now()));
    banner.querySelector('.shape')?.classList.toggle('calling', !helped && !mine);
    show(take, !mine && live.mayControl);
    take.classList.toggle('person', !helped);
    done.classList.toggle('person', mine);
    // The person who is working on the takeover ends it; an operator may do so at any time.
    const resolves = live.mayControl && (!guest || live.party !== 'person');
    show(done, resolves);
    show(byId('banner-fail'), resolves);
  };
  whole.addEventListener('click', () => open(!banner.hasAttribute('data-open')));
  new ResizeObserver(cut).observe(byId('banner-reason'));
  // Where the banner has no room for the button, the menu has it.
  maybeById('more-link')?.addEventListener('click', () => maybeById('banner-link')?.click());
  live.on('takeover', update);
  offerMoreTime(live);
  live.on('control', update);
  live.on('hello', update);
  window.setInterval(update, 1_000);

  take.addEventListener('click', () => {
    open(false); // the picture needs the room
    if (live.takeover?.state === 'pending') live.answerTakeover('claim'); // this also takes control
    else live.takeControl();
    keyboard.focus();
  });
  done.addEventListener('click', () => live.answerTakeover('done'));
  byId('banner-fail').addEventListener('click', () => askReason((reason) => live.answerTakeover('fail', reason)));
}
