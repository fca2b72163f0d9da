import { Calling, type Call } from './calling.js';
import { EventStream } from './sse.js';

/** What the server tells of all sessions. */
export interface Overview { live: number; waiting: Call[] }

/** What the pages of one browser agree by who of them tells the person of calls. */
const LOCK = 'takeover.calls';

function follow(changed: (overview: Overview) => void, state?: (state: 'connecting' | 'open' | 'waiting' | 'closed') => void): EventStream {
  return new EventStream({
    url: '/v1/sessions/stream',
    event: ({ event, data }) => {
      if (event !== 'changed') return;
      try {
        changed(JSON.parse(data) as Overview);
      } catch {
        // Not the server's words; the next message may be.
      }
    },
    ...(state && { state }),
  });
}

/** Resolves when this page is the one that tells; never while another one does. */
async function elected(): Promise<void> {
  // Without locks (no secure context) there are no notifications either: each page only makes its sound.
  if (!('locks' in navigator)) return;
  await new Promise<void>((resolve) => void navigator.locks.request(LOCK, () => new Promise<never>(() => resolve())));
}

/** Tells of takeovers from any page of the operator: of those that are open, one keeps the connection and tells. */
export function tellOfCalls(): void {
  if (window.top !== window || !('locks' in navigator)) return;
  const calling = new Calling();
  void elected().then(() => follow(({ waiting }) => calling.update(waiting, true)));
}

/** Follows the sessions for their list, which also tells of calls when it is elected to. */
export class Watching {
  readonly #calling = new Calling();
  #tells = false;
  #connected = false;

  constructor(changed: (overview: Overview) => void, connection: (connected: boolean) => void) {
    void elected().then(() => (this.#tells = true));
    follow(
      (overview) => {
        this.#calling.update(overview.waiting, this.#tells);
        changed(overview);
      },
      (state) => {
        if (state === 'connecting') return;
        this.#connected = state === 'open';
        connection(this.#connected);
      },
    );
  }

  /** The server tells by itself: nobody has to ask. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Takes in the open takeovers of a list that the page asked for. The server's own word is newer. */
  calls(waiting: Call[]): void {
    if (!this.#connected) this.#calling.update(waiting, this.#tells);
  }
}
