import { host } from '../core/host.ts';
import { interrupt } from '../core/pending.ts';
import { errorAt, type Location } from './location.ts';

/** A time limit that several things share: a test with its hooks and fixtures, or one hook. */
export class Slot {
  elapsed = 0;
  #slow = false;

  /** timeout is in ms; 0 means no limit. */
  constructor(public timeout: number) {}

  /** Triples the limit, once. */
  slow(): void {
    if (!this.#slow)
      this.timeout *= 3;
    this.#slow = true;
  }
}

/** Something took longer than its slot. */
export class DeadlineError extends Error {
  constructor(message: string, location: Location | undefined) {
    super(message);
    Object.defineProperty(this, 'stack', { value: errorAt(message, location).stack!.replace(/^Error: /, ''), configurable: true });
  }
}

/** Something that has a time limit. */
export interface Timed {
  /** Default: the slot of the phase. */
  slot?: Slot;
  /** The message of the timeout's error. */
  message: (timeout: number) => string;
  location?: Location;
}

/** The clock of a run's tests. Only one thing runs at a time. */
export class Deadlines {
  /** The time limit of things that have none of their own. */
  phase = new Slot(0);
  /** Receives the error of a timeout, and errors that the timed-out body throws afterwards. */
  late: (error: unknown) => void = () => {};
  #givenUp: Promise<unknown>[] = [];
  #running: { slot: Slot; expire: (error: Error) => void; what: Timed } | undefined;
  #since = 0;
  #timer = 0;
  #pauses = 0;

  /** Runs a body. When its time is up, throws a DeadlineError without waiting for it any longer. */
  async run<T>(what: Timed, body: () => T | Promise<T>): Promise<T> {
    const expired = Promise.withResolvers<never>();
    const before = this.#running;
    this.#stop();
    this.#running = { slot: what.slot ?? this.phase, expire: expired.reject, what };
    this.#start();
    const running = (async () => body())();
    try {
      return await Promise.race([running, expired.promise]);
    } catch (e) {
      if (e instanceof DeadlineError)
        this.#giveUp(e, running);
      throw e;
    } finally {
      this.#stop();
      this.#running = before;
      this.#start();
    }
  }

  /** Changes the timeout of what is running. */
  setTimeout(ms: number): void {
    this.#stop();
    this.#slot.timeout = ms;
    this.#start();
  }

  /** Triples the time of what is running. */
  slow(): void {
    this.#stop();
    this.#slot.slow();
    this.#start();
  }

  /** Returns the timeout of what is running. */
  get timeout(): number { return this.#slot.timeout; }

  /** Ends what is running with an error. */
  abort(error: Error): void { this.#running?.expire(error); }

  /** Stops the clock, for example during a takeover. Pauses nest. */
  pause(): void {
    this.#stop();
    this.#pauses++;
  }

  resume(): void {
    this.#pauses--;
    this.#start();
  }

  get #slot(): Slot { return this.#running?.slot ?? this.phase; }

  /** Waits briefly for the result of a body that was abandoned. */
  async settled(): Promise<void> {
    if (!this.#givenUp.length)
      return;
    const grace = Promise.withResolvers<void>();
    const timer = host.setTimer(() => grace.resolve(), graceTime, false);
    await Promise.race([Promise.all(this.#givenUp), grace.promise]);
    host.clearTimer(timer);
    this.#givenUp = [];
  }

  /** Ends the waits of the body. Errors that it throws after that go to late. */
  #giveUp(error: DeadlineError, running: Promise<unknown>): void {
    this.late(error);
    if (interrupt(error.message).count)
      this.#givenUp.push(running.catch(this.late));
  }

  #start(): void {
    const running = this.#running;
    if (!running || this.#pauses)
      return;
    const { slot, what } = running;
    this.#since = host.now();
    if (slot.timeout <= 0)
      return;
    this.#timer = host.setTimer(() => {
      this.#timer = 0;
      this.#since = 0;
      slot.elapsed = slot.timeout;
      running.expire(new DeadlineError(what.message(slot.timeout), what.location));
    }, slot.timeout - slot.elapsed, false);
  }

  #stop(): void {
    if (this.#running && this.#since)
      this.#running.slot.elapsed += host.now() - this.#since;
    this.#since = 0;
    if (this.#timer)
      host.clearTimer(this.#timer);
    this.#timer = 0;
  }
}

/** How long something that was told to end may take, in ms. */
const graceTime = 1_000;
