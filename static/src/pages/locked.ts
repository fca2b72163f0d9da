import { APIError, messageOf, post } from '../ui/api.js';
import { byId, setText, show } from '../ui/dom.js';
import { Embedding } from '../remote/embedding.js';
import { followLinks, hideLinkSecret, linkSecret } from '../ui/linksecret.js';
import { keep, recall } from '../ui/storage.js';

/** The page of a visitor with a share link, who has no access yet. It exchanges the link's secret for a cookie and loads again. */
const secret = linkSecret();
/** In a frame of another site, browsers only send a special kind of cookie. */
const framed = window.parent !== window;

async function redeem(): Promise<void> {
  show(byId('locked-retry'), false);
  setText(byId('locked-title'), 'Opening…');
  setText(byId('locked-text'), 'One moment.');
  try {
    await post('/v1/links/redeem', { secret, path: location.pathname, ...(framed && { embedded: true }) });
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
  const { status } = await fetch(location.pathname, { method: 'HEAD' });
  return status !== 401 && status !== 403;
}

/** Loads the page again without the secret in its address. */
function enter(): void {
  keep('takeover.refused', null);
  hideLinkSecret();
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

followLinks();

const lost = byId('locked').dataset.lost ?? '';

if (secret) void redeem();
else if (lost) over(lost);
else {
  setText(byId('locked-title'), 'This link is incomplete');
  setText(byId('locked-text'), 'The part after the # sign is missing. Copy the whole link, or sign in with a key.');
  show(byId('locked-sign-in'), true);
}
