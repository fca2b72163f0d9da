import { APIError, messageOf, post } from '../ui/api.js';
import { byId, setText, show } from '../ui/dom.js';
import { Embedding } from '../remote/embedding.js';
import { keep, recall } from '../ui/storage.js';

/**
 * The page of a visitor with a share link. The secret is in the link's fragment, which browsers never send. The page exchanges it for a cookie and
 * loads again.
 */
const secret = location.hash.slice(1);
/** In a frame of another site, browsers only send a special kind of cookie. */
const framed = window.parent !== window;

async function redeem(): Promise<void> {
  show(byId('locked-retry'), false);
  setText(byId('locked-title'), 'Opening…');
  setText(byId('locked-text'), 'One moment.');
  try {
    await post('/v1/links/redeem', framed ? { secret, embedded: true } : { secret });
  } catch (error) {
    if (error instanceof APIError && error.status !== 0 && error.status < 500 && error.status !== 429) return refused(messageOf(error));
    setText(byId('locked-title'), 'That did not work');
    setText(byId('locked-text'), messageOf(error));
    show(byId('locked-retry'), true);
    return;
  }
  if (framed && !(await keptCookie())) {
    return over('Your browser blocks cookies in embedded pages. Open the link in its own window. (For the owner of the page around this one: a frame needs a Takeover server with HTTPS.)', 'This page cannot be shown here');
  }
  enter();
}

/** Returns whether the browser sends the cookie that it has just received. */
async function keptCookie(): Promise<boolean> {
  return (await fetch(location.pathname, { method: 'HEAD' })).status !== 401;
}

/** Loads the page again without the secret in its address. */
function enter(): void {
  keep('takeover.refused', null);
  history.replaceState(null, '', location.pathname + location.search);
  location.reload();
}

function refused(why: string): void {
  // This browser may already have the cookie of a used-up link, and not have sent it because the visitor came from another site.
  if (recall('takeover.refused') !== secret && keep('takeover.refused', secret)) {
    location.reload();
    return;
  }
  over(why);
}

function over(why: string, title = 'This link no longer works'): void {
  new Embedding().send({ type: 'ended', reason: why });
  setText(byId('locked-title'), title);
  setText(byId('locked-text'), why);
  show(byId('locked-sign-in'), true);
}

byId('locked-retry').addEventListener('click', () => void redeem());

const lost = byId('locked').dataset.lost ?? '';

if (secret) void redeem();
else if (lost) over(lost);
else {
  setText(byId('locked-title'), 'This link is incomplete');
  setText(byId('locked-text'), 'The part after the # sign is missing. Copy the whole link, or sign in with a key.');
  show(byId('locked-sign-in'), true);
}
