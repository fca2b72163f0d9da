import { byId, maybeById, setText, show } from '../ui/dom.js';
import { askReason } from '../remote/failing.js';
import type { Keyboard } from '../remote/keyboard.js';
import type { Live } from '../remote/live.js';
import { offerMoreTime } from '../remote/moretime.js';
import { clock } from '../ui/times.js';

/** Shows the takeover banner: what is needed, the time left, and the buttons. */
export function showBanner(live: Live, keyboard: Keyboard): void {
  const banner = byId('banner');
  const take = byId('banner-take');
  const done = byId('banner-done');
  const title = document.title;
  const guest = byId('session').hasAttribute('data-guest');

  const update = (): void => {
    const takeover = live.takeover;
    const open = takeover !== null && (takeover.state === 'pending' || takeover.state === 'claimed');
    show(banner, open);
    byId('session').toggleAttribute('data-asked', open);
    show(maybeById('more-link'), open);
    document.title = open ? `(1) ${takeover.reason}` : title;
    if (!open) return;
    const mine = live.mine;
    /** Whoever claimed it may have left it without an answer. */
    const helped = takeover.state === 'claimed' && (live.party === 'person' || live.away);
    setText(byId('banner-lead'), mine ? 'You are helping with:' : helped ? 'A helper is working:' : live.mayControl ? 'Waiting for you:' : 'Waiting for a person:');
    setText(byId('banner-reason'), takeover.reason);
    setText(byId('banner-note'), takeover.requestNote ?? '');
    show(byId('banner-note'), Boolean(takeover.requestNote));
    const link = maybeById('banner-link');
    if (link) Object.assign(link.dataset, { link: takeover.url ?? '', takeover: takeover.id });
    setText(byId('banner-clock'), clock(Date.parse(takeover.deadline) - Date.now()));
    banner.querySelector('.shape')?.classList.toggle('calling', !helped && !mine);
    show(take, !mine && live.mayControl);
    take.classList.toggle('person', !helped);
    done.classList.toggle('person', mine);
    // The person who is working on the takeover ends it; an operator may do so at any time.
    const settles = live.mayControl && (!guest || live.party !== 'person');
    show(done, settles);
    show(byId('banner-fail'), settles);
  };
  // Where the banner has no room for the whole text, it opens.
  banner.querySelector('.banner-text')?.addEventListener('click', () => banner.toggleAttribute('data-open'));
  // Where the banner has no room for the button, the menu has it.
  maybeById('more-link')?.addEventListener('click', () => maybeById('banner-link')?.click());
  live.on('takeover', update);
  offerMoreTime(live);
  live.on('control', update);
  live.on('hello', update);
  window.setInterval(update, 1_000);

  take.addEventListener('click', () => {
    if (live.takeover?.state === 'pending') live.answerTakeover('claim'); // this also takes control
    else live.takeControl();
    keyboard.focus();
  });
  done.addEventListener('click', () => live.answerTakeover('done'));
  byId('banner-fail').addEventListener('click', () => askReason((reason) => live.answerTakeover('fail', reason)));
}
