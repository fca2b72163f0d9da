/** What a person reads over the picture at the end: what happened, and what to do. */
export interface Ending { title: string; text: string }

/** Reasons of the server. Other reasons are free text. */
const WHY = new Map<string, Ending>(Object.entries({
  timeout: { title: 'Time is up', text: 'The session reached its time limit, and its browser is closed.' },
  'idle timeout': { title: 'This session has ended', text: 'Nobody used it for a while, so its browser is closed.' },
  released: { title: 'This session has ended', text: 'Someone ended it, and its browser is closed.' },
}));

const OVER: Ending = { title: 'This session has ended', text: 'Its browser is closed.' };

/** `cause` is how the connection ended, `reason` is the server's reason. A guest cannot start a session. */
export function endingOf(cause: 'ended' | 'gone' | 'forbidden', reason: string, guest: boolean): Ending {
  if (cause === 'forbidden') {
    const text = reason || 'Your sign-in or link has expired, or does not give access.';
    return { title: 'You cannot see this session', text: `${text} ${guest ? 'Ask the person who sent you the link for a new one.' : 'Sign in again.'}` };
  }
  const { title, text } = WHY.get(reason) ?? (reason ? { ...OVER, text: `${OVER.text} Reason: ${reason}.` } : OVER);
  return { title, text: `${text} ${guest ? 'If you need to continue, ask the person who sent you the link for a new one.' : 'You can continue in a new session.'}` };
}
