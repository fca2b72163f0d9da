import { Calling, type Call } from './calling.js';
import { EventStream } from './sse.js';

/** What the server reports about all sessions. */
export interface Overview { live: number; waiting: Call[] }

/** The name of the lock with which the pages of one browser elect the one that announces takeovers. */
const LOCK = 'takeover.calls';

/** The channel on which the pages of one browser tell each other how many takeovers wait, and the question for it. */
const COUNTS = 'takeover.counts';
const HOW_MANY = '?';

/** How many takeovers wait for a person, in the bar of the page. */
class Count {
  readonly #channel = new BroadcastChannel(COUNTS);
  /** What the server said to this page itself. */
  #own = -1;

  constructor() {
    this.#channel.addEventListener('message', ({ data }) => {
      if (data !== HOW_MANY) this.#show(Number(data));
      else if (this.#own >= 0) this.#channel.postMessage(this.#own);
    });
    this.#channel.postMessage(HOW_MANY);
  }

  update(open: Call[]): void {
    this.#own = open.filter(({ claimed }) => !claimed).length;
    this.#show(this.#own);
    this.#channel.postMessage(this.#own);
  }

  #show(count: number): void {
    const link = document.querySelector<HTMLElement>('.topnav [href="/takeovers"]');
    if (!link) return;
    link.toggleAttribute('data-waiting', count > 0);
    link.dataset.count = String(count);
    if (count) link.setAttribute('aria-label', `${link.dataset.words}, ${count} waiting`);
    else link.removeAttribute('aria-label');
  }
}

function follow(changed: (overview: Overview) => void, state?: (state: 'connecting' | 'open' | 'waiting' | 'closed') => void): EventStream {
  return new EventStream({
    url: '/v1/sessions/stream',
    event: ({ event, data }) => {
      if (event !== 'changed') return;
      try {
        changed(JSON.parse(data) as Overview);
      } catch {
        // Not a message of the server; the next one may be.
      }
    },
    ...(state && { state }),
  });
}

/** Resolves when this page is elected to announce takeovers. */
async function elected(): Promise<void> {
  // Locks need a secure context. Without one there are no notifications either, and each page plays its own sound.
  if (!('locks' in navigator)) return;
  await new Promise<void>((resolve) => void navigator.locks.request(LOCK, () => new Promise<never>(() => resolve())));
}

/** Announces takeovers from any page of the operator. One of the open pages keeps the connection and announces them. */
export function tellOfCalls(): void {
  if (window.top !== window || !('locks' in navigator)) return;
  const calling = new Calling();
  const count = new Count();
  void elected().then(() => {
    calling.tell();
    follow(({ waiting }) => {
      calling.update(waiting);
      count.update(waiting);
    });
  });
}

/** Follows the sessions for their list, which also announces takeovers when it is elected. */
export class Watching {
  readonly #calling = new Calling();
  readonly #count = new Count();
  #connected = false;

  constructor(changed: (overview: Overview) => void, connection: (connected: boolean) => void) {
    void elected().then(() => this.#calling.tell());
    follow(
      (overview) => {
        this.#calling.update(overview.waiting);
        this.#count.update(overview.waiting);
        changed(overview);
      },
      (state) => {
        if (state === 'connecting') return;
        this.#connected = state === 'open';
        connection(this.#connected);
      },
    );
  }

  /** Returns whether the server reports changes, so that the page need not request the list. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Handles the open takeovers from a list that the page requested. The server's own report takes precedence. */
  calls(waiting: Call[]): void {
    if (!this.#connected) this.#calling.update(waiting);
  }
}
