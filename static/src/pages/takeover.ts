import { get, path } from '../ui/api.js';
import { showControl } from '../remote/control.js';
import { byId, maybeById, setText, show } from '../ui/dom.js';
import { Embedding } from '../remote/embedding.js';
import { askReason } from '../remote/failing.js';
import { enableKeysHelp } from '../ui/keyshelp.js';
import { enableDialogs, enableMenus } from '../ui/menus.js';
import { followLinks, hideLinkSecret } from '../ui/linksecret.js';
import type { Live } from '../remote/live.js';
import { offerMoreTime } from '../remote/moretime.js';
import { notice } from '../ui/notices.js';
import { isOpen, type Takeover } from '../remote/protocol.js';
import { Stage } from '../remote/stage.js';
import { placeOf, siteOf } from '../remote/site.js';
import { showTabMenu } from '../remote/tabmenu.js';
import { read, write } from '../ui/storage.js';
import { startTicking } from '../ui/times.js';

const root = byId('takeover');
const id = root.dataset.takeover ?? '';

type Ending = 'done' | 'failed' | 'expired' | 'cancelled' | 'over' | 'lost' | 'signedOut';

const FAREWELL: Record<Ending, [title: string, text: string, shape: string]> = {
  done: ['Thank you', 'The work goes on from here. You can close this page.', 'tick good'],
  failed: ['Thank you for letting us know', 'Whoever asked has been told. You can close this page.', 'tick good'],
  expired: ['Time is up', 'The request has expired. What you did in the browser is kept. You can close this page.', 'cross'],
  cancelled: ['No longer needed', 'The request was cancelled. You can close this page.', 'ring'],
  over: ['No longer needed', 'This request is over. You can close this page.', 'ring'],
  lost: ['This link no longer works', 'Ask the person who sent you the link for a new one.', 'cross'],
  signedOut: ['You are signed out', 'Sign in again to open this page.', 'cross'],
};

const SEEN = 'takeover.seen';
/** How long (ms) a change of the site is marked. */
const CHANGED = 2_000;
/** The height of a line of the note in px. With less, it cannot be read in its place. */
const LINE = 16;

enableMenus();
enableKeysHelp();
enableDialogs();
startTicking();
hideLinkSecret();
followLinks();

if (isOpen(root.dataset.state ?? '')) work();
else farewell(endingOf(root.dataset.state ?? ''));

function endingOf(state: string): Ending {
  return state === 'done' || state === 'failed' || state === 'expired' || state === 'cancelled' ? state : 'over';
}

function work(): void {
  const stage = new Stage(root.dataset.session ?? '');
  const { live } = stage;
  const embedding = new Embedding();
  embedding.follow(stage);
  let claimed = false;
  let answered: Ending | null = null;
  let finished = false;

  const finish = (ending: Ending, why = ''): void => {
    if (finished) return;
    finished = true;
    if (ending !== 'lost' && ending !== 'signedOut') embedding.send({ type: 'done', outcome: ending });
    live.connection.close();
    farewell(ending, why);
  };

  const consider = (takeover: Takeover | null): void => {
    if (takeover && takeover.id !== id) return finish(answered ?? 'over'); // another takeover has begun
    if (takeover && isOpen(takeover.state)) {
      for (const name of ['errand-reason', 'whole-reason']) setText(byId(name), takeover.reason);
      byId('errand-clock').dataset.deadline = takeover.deadline;
      // A person who opens the link wants to help, so nothing needs to be pressed first.
      if (!claimed) {
        claimed = true;
        if (takeover.state === 'pending') live.answerTakeover('claim');
        else if (live.party === 'nobody') live.takeControl(); // this page was reloaded
      }
      return;
    }
    if (takeover) return finish(endingOf(takeover.state));
    // It ended without a message: because of our own answer, or for a reason that only the server knows.
    if (answered) return finish(answered);
    get<Takeover>(path`/v1/sessions/${live.session}/takeovers/${id}`).then(
      ({ state }) => !isOpen(state) && finish(endingOf(state)),
      () => finish('over'),
    );
  };

  let told = false;
  live.on('takeover', (takeover) => {
    // The first message of a connection reports the open takeover. Before that, null would be a guess.
    if (takeover) told = true;
    if (takeover || told) consider(takeover);
  });
  live.on('connection', (state) => {
    if (state.phase !== 'closed' || state.cause === 'left') return;
    if (answered || state.cause !== 'forbidden') finish(answered ?? 'over');
    else if (root.hasAttribute('data-signed-in')) finish('signedOut');
    else finish('lost', state.reason);
  });
  showControl(live);
  offerMoreTime(live);
  const offerControl = (): void => {
    const button = byId('control-button');
    show(button, !live.mine && live.mayControl);
    // Who came back to a page that nobody works in begins anew, and is not done.
    const first = live.party === 'nobody' && live.mayControl;
    button.classList.toggle('person', first);
    button.classList.toggle('quiet', !first);
    byId('done').classList.toggle('primary', !first);
  };
  live.on('control', offerControl);
  live.on('hello', offerControl);
  showWhoWorks(live);
  showSite(live);
  showTabMenu(live);

  const written = noteBack();
  const done = byId<HTMLButtonElement>('done');
  done.addEventListener('click', () => {
    if (!live.answerTakeover('done', written())) return notice('Not connected. Try again in a moment.');
    answered = 'done';
    done.setAttribute('aria-busy', 'true');
  });
  // An answer over a line that is down would be lost.
  live.on('connection', (state) => {
    const down = state.phase !== 'open' || state.quiet === 'lost';
    if (state.phase === 'waiting') done.removeAttribute('aria-busy');
    for (const name of ['done', 'fail']) byId<HTMLButtonElement>(name).disabled = down;
  });
  byId('fail').addEventListener('click', () =>
    askReason((reason) => {
      if (!live.answerTakeover('fail', reason)) return notice('Not connected. Try again in a moment.');
      answered = 'failed';
    }),
  );
  live.on('trouble', ({ kind }) => {
    if (kind !== 'takeover') return;
    answered = null;
    done.removeAttribute('aria-busy');
  });

  note();
  wholeReason();
  live.on('control', (party) => party === 'me' && firstVisit());
  pasting(stage);
  stage.openOnForm();
  stage.open();
}

/** Says who works, and what to do. While another person works, only that person can end the takeover. */
function showWhoWorks(live: Live): void {
  const signedIn = root.hasAttribute('data-signed-in');
  live.on('control', (party) => {
    const busy = party === 'person';
    const words = live.away
      ? 'The person working on this lost their connection. Wait a moment, or ask for control.'
      : 'Another person is working on this. Leave it to them, or ask for control.';
    setText(byId('errand-busy'), busy ? words : '');
    for (const each of root.querySelectorAll<HTMLElement>('.errand-tools > .button')) each.inert = busy; // the menu works for everybody
    show(byId('errand-busy'), busy);
    // Operators may end it at any time.
    show(byId('errand-actions'), !busy || signedIn);
  });
}

function note(): void {
  const button = maybeById('note-button');
  const text = maybeById('note');
  button?.addEventListener('click', () => {
    if (text && !text.hidden && text.offsetHeight < LINE) return byId<HTMLDialogElement>('reason-dialog').showModal(); // there is no room for it here
    const open = button.getAttribute('aria-expanded') !== 'true';
    show(text, open);
    button.setAttribute('aria-expanded', String(open));
  });
}

/** Marks a reason that is cut: a press shows it whole. */
function wholeReason(): void {
  const text = byId('errand-reason');
  new ResizeObserver(() => text.parentElement?.toggleAttribute('data-cut', text.scrollHeight > text.clientHeight + 1)).observe(text);
}

function firstVisit(): void {
  if (read(SEEN)) return;
  write(SEEN, '1');
  const text = `This is a browser on another computer. What you type goes there.${maybeById('kept') ? ' Your steps are kept, without passwords and codes.' : ''}`;
  notice(text);
  // It may lie over what the person wants to press.
  const remove = (): void => [...byId('toasts').children].find((toast) => toast.textContent === text)?.remove();
  window.addEventListener('pointerdown', remove, { once: true, capture: true });
}

/** Shows which site the person sees. A press shows its whole address; a change of the site is marked for a moment, because people are asked for passwords here. */
function showSite(live: Live): void {
  const button = byId('errand-host');
  let site = '';
  live.on('tabs', () => {
    const { secure, host } = placeOf(live.activeTab?.url ?? '');
    const next = siteOf(host);
    if (site && next !== site) {
      button.toggleAttribute('data-changed', true);
      window.setTimeout(() => button.toggleAttribute('data-changed', false), CHANGED);
    }
    site = next;
    setText(byId('errand-name'), host || 'No site');
    byId('errand-lock').querySelector('use')?.setAttribute('href', secure ? '#i-lock' : '#i-globe');
    button.toggleAttribute('data-secure', secure);
  });
  button.addEventListener('click', () => {
    const { url = '' } = live.activeTab ?? {};
    const { host, secure } = placeOf(url);
    notice(host ? `${secure ? 'Encrypted' : 'Not encrypted'}: ${url}` : 'No site is open.');
  });
}

/** Lets the person write a note, which goes with Done, and returns how to read it. */
function noteBack(): () => string {
  const dialog = byId<HTMLDialogElement>('note-dialog');
  const field = byId<HTMLTextAreaElement>('note-text');
  const button = byId('add-note');
  let kept = '';
  button.addEventListener('click', () => {
    field.value = kept;
    dialog.showModal();
  });
  byId('note-form').addEventListener('submit', (event) => {
    event.preventDefault();
    kept = field.value.trim();
    button.setAttribute('aria-label', kept ? 'Change the note' : 'Add a note');
    button.toggleAttribute('data-kept', kept !== '');
    dialog.close();
  });
  return () => kept;
}

/** Pastes on one press if the browser lets the page read the clipboard, and through a field otherwise. */
function pasting(stage: Stage): void {
  const dialog = byId<HTMLDialogElement>('paste-dialog');
  const field = byId<HTMLTextAreaElement>('paste-text');
  byId('paste').addEventListener('click', () => {
    const asked = navigator.clipboard?.readText?.() ?? Promise.reject(new Error('no clipboard'));
    asked.then(
      (text) => (text ? stage.clipboard.text(text) : notice('The clipboard is empty.')),
      () => {
        field.value = '';
        dialog.showModal();
      },
    );
  });
  byId('paste-form').addEventListener('submit', (event) => {
    event.preventDefault();
    dialog.close();
    stage.clipboard.text(field.value);
    field.value = '';
  });
}

/** Replaces the page by a farewell. `why` is a sentence that comes before its text. */
function farewell(ending: Ending, why = ''): void {
  const [title, text, shape] = FAREWELL[ending];
  for (const dialog of document.querySelectorAll<HTMLDialogElement>('dialog[open]')) dialog.close();
  root.remove();
  byId('toasts').replaceChildren(); // they were about the picture
  show(byId('farewell'), true);
  byId('farewell-shape').className = `shape ${shape}`;
  show(byId('farewell-what'), ending !== 'lost' && ending !== 'signedOut');
  setText(byId('farewell-title'), title);
  setText(byId('farewell-text'), `${why} ${text}`.trim());
  document.title = `${title} · Takeover`;
  byId('farewell-title').focus();
}
