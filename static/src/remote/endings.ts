/** The text over the picture: what happened, and what to do or what happens next. */
export interface Ending { title: string; text: string }

/** The server's reasons. Other reasons are free text. */
const WHY = new Map<string, Ending>(Object.entries({
  timeout: { title: 'Time is up', text: 'The session reached its time limit, and its browser is closed.' },
  'idle timeout': { title: 'This session has ended', text: 'Nobody used it for a while, so its browser is closed.' },
  drained: { title: 'This session has ended', text: 'Its server was stopped, and its browser is closed.' },
  released: { title: 'This session has ended', text: 'A program ended it over the API, and its browser is closed.' },
  'ended by a person': { title: 'This session has ended', text: 'A person ended it, and its browser is closed.' },
}));

const OVER: Ending = { title: 'This session has ended', text: 'Its browser is closed.' };

/** Explains the end of a connection. `cause` is how it ended, `reason` is the server's reason. A guest cannot start a session. */
export function endingOf(cause: 'ended' | 'gone' | 'forbidden', reason: string, guest: boolean): Ending {
  if (cause === 'forbidden') {
    const text = reason || 'Your sign-in or link has expired, or does not give access.';
    return { title: 'You cannot see this session', text: `${text} ${guest ? 'Ask the person who sent you the link for a new one.' : 'Sign in again.'}` };
  }
  const { title, text } = WHY.get(reason) ?? (reason ? { ...OVER, text: `${OVER.text} Reason: ${reason}.` } : OVER);
  return { title, text: `${text} ${guest ? 'If you need to continue, ask the person who sent you the link for a new one.' : 'You can continue in a new session.'}` };
}

/** Why the server closed a connection, by its close code (docs/protocol.md, Close codes). The page connects again after each of these. */
const INTERRUPTIONS = new Map<number, Ending>([
  [1001, { title: 'The server is stopping', text: 'Reconnecting… The page continues when the server is back, if the session is still there.' }],
  [1009, { title: 'The server closed the connection', text: 'This page sent more at once than the server accepts. Reconnecting…' }],
  [1011, { title: 'The server closed the connection', text: 'Something went wrong on the server. Reconnecting…' }],
  [4008, { title: 'Your connection fell behind', text: 'This page received nothing for too long, so the server closed the connection. Reconnecting…' }],
]);

/** Returns the text while the page waits to reconnect. `seen` means that a picture was shown before. */
export function interruptionOf(code: number, seen: boolean): Ending {
  return INTERRUPTIONS.get(code) ?? (seen
    ? { title: 'Connection lost', text: 'Reconnecting…' }
    : { title: 'The server cannot be reached', text: 'Reconnecting… Check your network if this continues.' });
}

/** Returns the text after the page has reconnected following a disconnection by the server. It is empty if there is nothing to explain. */
export function reconnectedAfter(code: number): string {
  return code === 4008 ? 'Reconnected. This page had received nothing for too long, so the server had closed the connection.' : '';
}
