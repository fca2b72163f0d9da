import type { Injected } from './injected.ts';
import type { Resolver, Target } from './resolve.ts';
import { parse, serialize, type Tagged } from './serialize.ts';
import { again, Expired, Fatal, type Task } from './task.ts';

/** An expectation as Playwright's client words it; expectedValue is tagged. */
export interface ExpectOptions {
  expression: string;
  expressionArg?: unknown;
  expectedText?: unknown[];
  expectedNumber?: number;
  expectedValue?: Tagged;
  useInnerText?: boolean;
  isNot?: boolean;
}

/** How an expectation went; received is what was seen last. */
export interface ExpectReply {
  matches: boolean;
  timedOut?: boolean;
  received?: { value?: Tagged; ariaSnapshot?: string };
  errorMessage?: string;
}

/** Waits for expectations, with Playwright's own matchers. */
export class Expectations {
  constructor(private readonly injected: Injected, private readonly resolver: Resolver) {}

  async run(task: Task, target: Target, o: ExpectOptions, handles: unknown[]): Promise<ExpectReply> {
    const isNot = !!o.isNot;
    const options = { ...o, isNot, expectedValue: parse(o.expectedValue, handles) };
    if (target.selector)
      this.resolver.announce(task, target);
    let last: ExpectReply = { matches: isNot };
    try {
      return await task.poll(async () => {
        last = await this.once(task, target, options);
        return last.matches === isNot ? again : last;
      });
    } catch (e) {
      if (e instanceof Expired)
        return { ...last, timedOut: true };
      if (e instanceof Fatal || e instanceof Error)
        return { matches: isNot, errorMessage: e.message };
      throw e;
    }
  }

  private async once(task: Task, target: Target, o: Omit<ExpectOptions, 'expectedValue'> & { isNot: boolean; expectedValue: unknown }): Promise<ExpectReply> {
    const isArray = o.expression === 'to.have.count' || o.expression.endsWith('.array');
    const selector = target.selector || (o.expression === 'to.match.aria' ? 'body' : ':root');
    const elements = this.resolver.all({ ...target, selector, strict: !isArray });
    if (isArray)
      task.log.push(`  locator resolved to ${elements.length} element${elements.length === 1 ? '' : 's'}`);
    else if (elements[0] && target.selector)
      task.log.push(`  locator resolved to ${this.injected.previewNode(elements[0])}`);
    if (!elements.length && !isArray)
      return this.missing(o);
    const { matches, received } = await task.race(this.injected.expect(elements[0], o, elements, target.frameVisible ?? true));
    const seen = received as { value?: unknown; ariaSnapshot?: string } | undefined;
    if (matches === o.isNot && seen && !Array.isArray(seen.value))
      task.log.push(`  unexpected value "${shown(seen.value)}"`);
    return {
      matches,
      received: seen && { value: serialize(seen.value, undefined, { functions: 'undefined' }), ariaSnapshot: seen.ariaSnapshot },
    };
  }

  // What holds of an element that is not there.
  private missing(o: { expression: string; isNot: boolean }): ExpectReply {
    if (!o.isNot && (o.expression === 'to.be.hidden' || o.expression === 'to.be.detached'))
      return { matches: true };
    if (o.isNot && ['to.be.visible', 'to.be.attached', 'to.be.in.viewport'].includes(o.expression))
      return { matches: false };
    const body = this.injected.document.body;
    return {
      matches: o.isNot,
      received: body ? { ariaSnapshot: this.injected.ariaSnapshotForExpectFailure(body, { mode: 'default' }) } : undefined,
      errorMessage: 'element(s) not found',
    };
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string')
    return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
