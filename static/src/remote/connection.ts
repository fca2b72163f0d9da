import { backoff } from '../ui/backoff.js';
import { Emitter } from './emitter.js';
import type { Stamp } from './outbox.js';
import { parseMessage, parsePicture, SUBPROTOCOL, type ClientMessage, type InputMessage, type Picture, type ServerMessage } from './protocol.js';

/** After a connection of this length (ms), the wait before the next one is short again. */
const HEALTHY_AFTER = 5_000;
/** The round trip is measured this often (ms), so that something is heard as often. After SILENCE ms without a message, even while connecting, the connection counts as dead. */
const PING_EVERY = 1_000;
const SILENCE = 10_000;
/** After this many ms without a message, an open connection is called slow, and lost. */
const SLOW = 2_500;
const LOST = 5_000;

/** WebSocket close codes after which trying again cannot help (RFC 6455, 7.4). */
const CLOSE_NORMAL = 1000;
const CLOSE_POLICY = 1008;
/** The code for a connection that broke without a close frame. */
const CLOSE_ABNORMAL = 1006;

/** The state of the connection; retryAt is Unix time in ms, and code is the close code with which the last connection ended. */
export type ConnectionState =
  | { phase: 'connecting' }
  | { phase: 'open'; quiet?: 'slow' | 'lost' }
  | { phase: 'waiting'; retryAt: number; code: number }
  | { phase: 'closed'; cause: 'ended' | 'forbidden' | 'gone' | 'left'; reason: string };

interface ConnectionEvents {
  state: ConnectionState;
  message: ServerMessage;
  picture: Picture;
  /** Measured round trip in ms. */
  rtt: number;
}

interface Options {
  /** Returns the `ws:` or `wss:` address of the view, computed again for each connection. */
  url(): string;
  /** Address of the session. The response says why the session cannot be viewed: by a status code, or by the state of a session that has ended. */
  probe: string;
  /** Returns the first message. It is computed again for each connection, because the window may have changed. */
  hello(): ClientMessage & { type: 'hello' };
}

/** The viewer's socket. It reconnects by itself until the session has ended, the server refuses for good, or `close` is called. */
export class Connection extends Emitter<ConnectionEvents> {
  state: ConnectionState = { phase: 'connecting' };
  #socket: WebSocket | null = null;
  #attempt = 0;
  #openedAt = 0;
  #heardAt = 0;
  #ended: string | null = null;
  #retry = 0;
  #pinger = 0;

  constructor(private readonly options: Options) {
    super();
  }

  open(): void {
    window.addEventListener('online', this.#hurry);
    document.addEventListener('visibilitychange', this.#hurry);
    this.#connect();
  }

  close(): void {
    this.#finish('left', '');
  }

  send(message: ClientMessage): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  sendInput(message: InputMessage, stamp: Stamp): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ ...message, ...stamp }));
  }

  #connect(): void {
    window.clearTimeout(this.#retry);
    this.#setState({ phase: 'connecting' });
    const socket = new WebSocket(this.options.url(), SUBPROTOCOL);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    this.#heardAt = performance.now();
    this.#pinger = window.setInterval(() => this.#ping(), PING_EVERY);
    socket.onopen = () => {
      this.#openedAt = this.#heardAt = performance.now();
      this.send(this.options.hello());
      this.#setState({ phase: 'open' });
      this.#ping();
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.#receive(event.data);
    socket.onclose = (event) => this.#closed(event);
  }

  #receive(data: string | ArrayBuffer): void {
    this.#heardAt = performance.now();
    this.#listen();
    if (typeof data !== 'string') {
      const picture = parsePicture(data);
      if (picture) this.emit('picture', picture);
      return;
    }
    const message = parseMessage(data);
    if (!message) return;
    if (message.type === 'pong') this.emit('rtt', Math.max(0, performance.now() - message.t));
    if (message.type === 'ended') this.#ended = message.reason;
    this.emit('message', message);
  }

  /** Says whether an open connection has been silent for long. */
  #listen(): void {
    const { state } = this;
    if (state.phase !== 'open') return;
    const silent = performance.now() - this.#heardAt;
    const quiet = silent > LOST ? 'lost' : silent > SLOW ? 'slow' : undefined;
    if (state.quiet !== quiet) this.#setState({ phase: 'open', ...(quiet ? { quiet } : {}) });
  }

  #ping(): void {
    this.#listen();
    if (performance.now() - this.#heardAt > SILENCE) {
      this.#drop();
      this.#lost(CLOSE_ABNORMAL);
      return;
    }
    this.send({ type: 'ping', t: performance.now() });
  }

  /** Drops the socket without waiting, because closing it over a dead connection takes a minute. */
  #drop(code?: number): void {
    const socket = this.#socket;
    this.#socket = null;
    window.clearInterval(this.#pinger);
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close(code);
  }

  #closed(event: CloseEvent): void {
    this.#drop();
    if (this.#ended !== null) return this.#finish('ended', this.#ended);
    if (event.code === CLOSE_POLICY) return this.#finish('forbidden', event.reason);
    if (event.code === CLOSE_NORMAL && event.reason) return this.#finish('ended', event.reason);
    this.#lost(event.code);
  }

  /** Reconnects after a wait. */
  #lost(code: number): void {
    if (this.#openedAt && performance.now() - this.#openedAt > HEALTHY_AFTER) this.#attempt = 0;
    const opened = this.#openedAt > 0;
    this.#openedAt = 0;
    const wait = backoff(this.#attempt++) * (0.8 + 0.4 * Math.random());
    this.#setState({ phase: 'waiting', retryAt: Date.now() + wait, code });
    this.#retry = window.setTimeout(() => this.#connect(), wait);
    // Scripts cannot see the status code of a refused upgrade, so make a plain request.
    if (!opened) void this.#askWhy();
  }

  async #askWhy(): Promise<void> {
    let answer: Response;
    let told: { status?: string; endReason?: string } = {};
    try {
      answer = await fetch(this.options.probe, { headers: { Accept: 'application/json' } });
      if (answer.ok) told = await answer.json();
    } catch {
      return; // The server is away; the retry goes on.
    }
    const { status } = answer;
    if (this.#socket?.readyState === WebSocket.OPEN) return;
    // Everybody who may see the view may also request the session. This notices a revoked link, or a sign-in that has ended.
    if (status === 401 || status === 403) this.#finish('forbidden', '');
    else if (status === 404 || status === 410) this.#finish('gone', '');
    // A visitor who may still see the session learns how it ended.
    else if (told.status === 'released' || told.status === 'failed') this.#finish('ended', told.endReason ?? '');
  }

  #hurry = (): void => {
    if (document.visibilityState === 'visible' && this.state.phase === 'waiting') this.#connect();
  };

  #finish(cause: 'ended' | 'forbidden' | 'gone' | 'left', reason: string): void {
    if (this.state.phase === 'closed') return;
    window.clearTimeout(this.#retry);
    window.removeEventListener('online', this.#hurry);
    document.removeEventListener('visibilitychange', this.#hurry);
    this.#drop(CLOSE_NORMAL);
    this.#setState({ phase: 'closed', cause, reason });
  }

  #setState(state: ConnectionState): void {
    this.state = state;
    this.emit('state', state);
  }
}
