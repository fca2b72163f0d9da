import { step } from '../core/call.ts';
import type { BrowserContext } from './context.ts';
import { hide } from './object.ts';
import { quote } from '../core/selectors.ts';

type Time = number | string | Date;

/** The clock of a context's pages. */
export class Clock {
  #context: BrowserContext;

  constructor(context: BrowserContext) {
    this.#context = context;
    hide(this);
  }

  install(options: { time?: Time } = {}): Promise<void> { return this.#do('install', options.time === undefined ? undefined : () => moment(options.time!)); }
  fastForward(ticks: number | string): Promise<void> { return this.#do('fastForward', () => duration(ticks), ticks); }
  runFor(ticks: number | string): Promise<void> { return this.#do('runFor', () => duration(ticks), ticks); }
  pauseAt(time: Time): Promise<void> { return this.#do('pauseAt', () => moment(time), time); }
  resume(): Promise<void> { return this.#do('resume', undefined); }
  setFixedTime(time: Time): Promise<void> { return this.#do('setFixedTime', () => moment(time), time); }
  setSystemTime(time: Time): Promise<void> { return this.#do('setSystemTime', () => moment(time), time); }

  #do(method: string, value: (() => number) | undefined, ...shown: unknown[]): Promise<void> {
    return step(`clock.${method}`, () => `clock.${method}(${shown.map(quote).join(', ')})`, async send => {
      await send('clock', { context: this.#context._guid, method, value: value?.() });
    });
  }
}

/** Converts a time to milliseconds since the epoch. */
function moment(time: Time): number {
  const ms = typeof time === 'number' ? time : new Date(time).getTime();
  if (Number.isNaN(ms) && typeof time !== 'number')
    throw new Error(`Invalid date: ${time}`);
  return ms || 0;
}

/** Reads a duration: milliseconds, or text such as 30:00. */
function duration(ticks: number | string): number {
  if (typeof ticks === 'number')
    return ticks;
  if (!ticks)
    return 0;
  if (!/^(\d\d:){0,2}\d\d?$/.test(ticks))
    throw new Error(`Clock only understands numbers, 'mm:ss' and 'hh:mm:ss'`);
  let seconds = 0;
  for (const part of ticks.split(':')) {
    if (Number(part) >= 60)
      throw new Error(`Invalid time ${ticks}`);
    seconds = seconds * 60 + Number(part);
  }
  return seconds * 1000;
}
