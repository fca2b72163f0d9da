import type { Injected } from './injected.ts';
import type { Resolver, Target } from './resolve.ts';
import { parse, serialize, type Tagged } from './serialize.ts';
import { again, Expired, type Task } from './task.ts';

/** An expectation in the form of Playwright's client; expectedValue is tagged. */
export interface ExpectOptions {
  expression: string;
  expressionArg?: unknown;
  expectedText?: unknown[];
  expectedNumber?: number;
  expectedValue?: Tagged;
  useInnerText?: boolean;
  pseudo?: string;
  isNot?: boolean;
}

/** The result of an expectation; received is the last seen value. */
export interface ExpectReply {
  matches: boolean;
  timedOut?: boolean;
  received?: { value?: Tagged; ariaSnapshot?: string };
  errorMessage?: string;
}

/** The expectation timed out; this was its last state. */
export class Unmet extends Expired {
  constructor(readonly last: ExpectReply) { super(); }
}

type Asked = Omit<ExpectOptions, 'expectedValue'> & { isNot: boolean; expectedValue: unknown };

/** Waits for expectations with Playwright's own matchers. */
export class Expectations {
  constructor(private readonly injected: Injected, private readonly resolver: Resolver) {}

  /**
   * Waits until the expectation is met. If an error makes that impossible, the reply contains that error. After a timeout, it throws Unmet. handles
   * are the objects in expectedValue; for an ARIA snapshot, the first one is the YAML library.
   */
  async run(task: Task, target: Target, o: ExpectOptions, handles: unknown[]): Promise<ExpectReply> {
    const isNot = !!o.isNot;
    let last: ExpectReply = { matches: isNot };
    try {
      const asked: Asked = { ...o, isNot, expectedValue: o.expression === 'to.match.aria' ? this.template(String(o.expressionArg), handles[0]) : parse(o.expectedValue, handles) };
      if (target.selector)
        this.resolver.announce(task, target);
      // The first check is not logged, and the timeout cannot pass before it is done, as in Playwright.
      last = target.quiet ? last : await this.once(task, target, asked, false);
      if (last.matches !== isNot)
        return last;
      return await task.poll(async () => {
        last = await this.once(task, target, asked, true);
        return last.matches === isNot ? again : last;
      });
    } catch (e) {
      if (e instanceof Expired)
        throw new Unmet({ ...last, timedOut: true });
      if (e instanceof Error)
        return { matches: isNot, errorMessage: e.message };
      throw e;
    }
  }

  private template(text: string, yaml: unknown): unknown {
    const { fragment, errors } = this.injected.utils.parseAriaSnapshot(yaml, text);
    if (errors[0])
      throw this.injected.createStacklessError(errors[0].message);
    return fragment;
  }

  private async once(task: Task, target: Target, o: Asked, logged: boolean): Promise<ExpectReply> {
    const log = (line: string) => { if (logged) task.log.push(line); };
    const isArray = o.expression === 'to.have.count' || o.expression.endsWith('.array');
    const selector = target.selector || (o.expression === 'to.match.aria' ? 'body' : ':root');
    const elements = this.resolver.all({ ...target, selector, strict: !isArray });
    if (isArray)
      log(`  locator resolved to ${elements.length} element${elements.length === 1 ? '' : 's'}`);
    else if (elements[0])
      log(`  locator resolved to ${this.injected.previewNode(elements[0])}`);
    if (!elements.length && !isArray)
      return this.missing(o);
    const asked = this.injected.expect(elements[0], o, elements, target.frameVisible ?? true);
    const { matches, received } = await (logged ? task.race(asked) : asked);
    const seen = received as { value?: unknown; ariaSnapshot?: string } | undefined;
    if (matches === o.isNot && seen && !Array.isArray(seen.value))
      log(`  unexpected value "${shown(seen.value)}"`);
    return {
      matches,
      received: seen && { value: serialize(seen.value, undefined, { functions: 'undefined' }), ariaSnapshot: seen.ariaSnapshot },
    };
  }

  // Returns the result for an element that does not exist.
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
  const raw = (value as { raw?: unknown } | null | undefined)?.raw; // for an ARIA snapshot
  if (typeof raw === 'string')
    return raw;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
