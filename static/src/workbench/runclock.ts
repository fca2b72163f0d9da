import type { Run } from '../remote/protocol.js';
import { clock, took } from '../ui/times.js';

/** A run's times as the server reports them. An older server may not report any. */
export type Times = Pick<Run, 'status' | 'durationMs' | 'waitedMs'>;

type Counter = 'ran' | 'waited' | null;

const COUNTERS: Partial<Record<Run['status'], Counter>> = { running: 'ran', waiting: 'waited' };

/** How long a run has taken, and how long it has waited for people. The server sends the times; between its messages, this clock advances them. */
export class RunClock {
  #ran = 0;
  #waited = 0;
  #counter: Counter = null;
  #since = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Starts from zero. */
  reset(): void {
    this.#ran = this.#waited = 0;
    this.#counter = null;
  }

  /** Sets the times that the server reported. */
  set({ status, durationMs, waitedMs }: Times): void {
    this.#ran = durationMs ?? this.#ran;
    this.#waited = waitedMs ?? this.#waited;
    this.#counter = COUNTERS[status] ?? null;
    this.#since = this.now();
  }

  /** Notes that the run waits, continues or has ended, when the server has not reported its times yet. */
  status(status: Run['status']): void {
    const { ran, waited } = this;
    this.set({ status, durationMs: ran, waitedMs: waited });
  }

  get ran(): number {
    return this.#ran + (this.#counter === 'ran' ? this.now() - this.#since : 0);
  }

  get waited(): number {
    return this.#waited + (this.#counter === 'waited' ? this.now() - this.#since : 0);
  }

  /** Returns how long the run has lasted in all, in whole seconds while it runs. */
  get words(): string {
    const all = this.ran + this.waited;
    return this.#counter ? seconds(all) : took(all);
  }

  /** Returns how much of it people took, or an empty text. */
  get waitedWords(): string {
    if (this.waited === 0 || (this.#counter && this.waited < 1_000)) return '';
    return `${this.#counter ? seconds(this.waited) : took(this.waited)} of it waiting`;
  }
}

const seconds = (ms: number): string => clock(Math.floor(ms / 1000) * 1000);
