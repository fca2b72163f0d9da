import { step, type Send } from './call.ts';
import type { Frame } from './frame.ts';
import { Locator } from './locator.ts';
import { asymmetric, complaint, matchers, type Outcome } from './matchers.ts';
import { Page } from './page.ts';
import { Response } from './network.ts';
import { argument, result } from './values.ts';
import { inspect } from './inspect.ts';
import type { Tagged } from '../../automation/page/serialize.ts';

/** Default of how long expect waits, in ms, as in Playwright. */
const expectTimeout = 5_000;

/** What a matcher asks of the page (automation's frame.expect). */
interface Question {
  expression: string;
  expressionArg?: unknown;
  expectedText?: object[];
  expectedNumber?: number;
  expectedValue?: object;
  useInnerText?: boolean;
  /** As the error says it. */
  expected?: unknown;
}

interface Answer { matches: boolean; received?: { value?: Tagged }; log?: string[]; errorMessage?: string; timedOut?: boolean }

interface TextOptions { ignoreCase?: boolean; useInnerText?: boolean; timeout?: number }

type Text = string | RegExp;

function texts(items: readonly Text[], o: { substring?: boolean; whitespace?: boolean; ignoreCase?: boolean }): object[] {
  return items.map(t => ({
    string: typeof t === 'string' ? t : undefined,
    regexSource: typeof t === 'string' ? undefined : t.source,
    regexFlags: typeof t === 'string' ? undefined : t.flags,
    matchSubstring: o.substring,
    ignoreCase: o.ignoreCase,
    normalizeWhiteSpace: o.whitespace,
  }));
}

function textQuestion(name: string, arrayName: string, substring: boolean) {
  return (expected: Text | Text[], o: TextOptions = {}): Question => ({
    expression: Array.isArray(expected) ? arrayName : name,
    expectedText: texts(Array.isArray(expected) ? expected : [expected], { substring, whitespace: true, ignoreCase: o.ignoreCase }),
    useInnerText: o.useInnerText,
    expected,
  });
}

const plain = (expression: string, word: string) => (): Question => ({ expression, expected: word });
const text = (expression: string, whitespace = false) => (expected: Text, o: TextOptions = {}): Question => ({
  expression, expectedText: texts([expected], { ignoreCase: o.ignoreCase, whitespace }), expected,
});
const choice = (yes: string, no: string, option: string) => (o: Record<string, unknown> = {}): Question => {
  const expression = o[option] === false ? no : yes;
  return { expression, expected: expression.slice(expression.lastIndexOf('.') + 1) };
};

/** Matchers of a locator, with what they ask. A new one is a line here. */
const locatorMatchers: Record<string, (...args: any[]) => Question> = {
  toBeAttached: choice('to.be.attached', 'to.be.detached', 'attached'),
  toBeVisible: choice('to.be.visible', 'to.be.hidden', 'visible'),
  toBeEnabled: choice('to.be.enabled', 'to.be.disabled', 'enabled'),
  toBeEditable: choice('to.be.editable', 'to.be.readonly', 'editable'),
  toBeHidden: plain('to.be.hidden', 'hidden'),
  toBeDisabled: plain('to.be.disabled', 'disabled'),
  toBeEmpty: plain('to.be.empty', 'empty'),
  toBeFocused: plain('to.be.focused', 'focused'),
  toBeChecked: (o: { checked?: boolean; indeterminate?: boolean } = {}) => ({
    expression: 'to.be.checked',
    expectedValue: argument({ checked: o.checked, indeterminate: o.indeterminate }),
    expected: o.indeterminate ? 'indeterminate' : o.checked === false ? 'unchecked' : 'checked',
  }),
  toBeInViewport: (o: { ratio?: number } = {}) => ({ expression: 'to.be.in.viewport', expectedNumber: o.ratio, expected: 'in viewport' }),
  toHaveText: textQuestion('to.have.text', 'to.have.text.array', false),
  toContainText: textQuestion('to.have.text', 'to.contain.text.array', true),
  toHaveAttribute: (name: string, value?: Text, o: TextOptions = {}) => value === undefined || typeof value === 'object' && !(value instanceof RegExp)
    ? { expression: 'to.have.attribute', expressionArg: name, expected: 'have attribute' }
    : { expression: 'to.have.attribute.value', expressionArg: name, expectedText: texts([value], { ignoreCase: o.ignoreCase }), expected: value },
  toHaveClass: (expected: Text | Text[]) => ({
    expression: Array.isArray(expected) ? 'to.have.class.array' : 'to.have.class', expectedText: texts(Array.isArray(expected) ? expected : [expected], {}), expected,
  }),
  toContainClass: (expected: string | string[]) => ({
    expression: Array.isArray(expected) ? 'to.contain.class.array' : 'to.contain.class', expectedText: texts(Array.isArray(expected) ? expected : [expected], {}), expected,
  }),
  toHaveCount: (expected: number) => ({ expression: 'to.have.count', expectedNumber: expected, expected }),
  toHaveCSS: (name: string, expected: Text) => ({ expression: 'to.have.css', expressionArg: name, expectedText: texts([expected], {}), expected }),
  toHaveId: text('to.have.id'),
  toHaveJSProperty: (name: string, expected: unknown) => ({ expression: 'to.have.property', expressionArg: name, expectedValue: argument(expected), expected }),
  toHaveRole: (expected: string) => ({ expression: 'to.have.role', expectedText: texts([expected], {}), expected }),
  toHaveValue: text('to.have.value'),
  toHaveValues: (expected: Text[]) => ({ expression: 'to.have.values', expectedText: texts(expected, {}), expected }),
  toHaveAccessibleName: text('to.have.accessible.name', true),
  toHaveAccessibleDescription: text('to.have.accessible.description', true),
  toHaveAccessibleErrorMessage: text('to.have.accessible.error.message', true),
};

/** Matchers of a page. */
const pageMatchers: Record<string, (page: Page, ...args: any[]) => Question> = {
  toHaveTitle: (_, expected: Text) => ({ expression: 'to.have.title', expectedText: texts([expected], { whitespace: true }), expected }),
  toHaveURL: (page, expected: Text, o: TextOptions = {}) => {
    const base = page.context()._options.baseURL;
    const url = typeof expected === 'string' && base ? new URL(expected, base).href : expected;
    return { expression: 'to.have.url', expectedText: texts([url], { ignoreCase: o.ignoreCase }), expected: url };
  },
};

/** Asks until the answer is the wanted one or time is up. */
async function ask(send: Send, frame: Frame, selector: string | undefined, q: Question, isNot: boolean, timeout: number): Promise<Answer> {
  const { expected: _, ...question } = q;
  return send<Answer>('frame.expect', { frame: frame._guid, selector, strict: selector === undefined ? undefined : true, ...question, isNot, timeout });
}

async function check(name: string, subject: Locator | Page, q: Question, not: boolean, timeout: number, message: string | undefined): Promise<void> {
  const what = subject instanceof Locator ? 'locator' : 'page';
  const title = `expect(${subject instanceof Locator ? subject : 'page'})${not ? '.not' : ''}.${name}()`;
  await step('', () => title, async send => {
    const frame = subject instanceof Locator ? subject._frame : subject.mainFrame();
    const answer = await ask(send, frame, subject instanceof Locator ? subject._selector : undefined, q, not, timeout);
    if (answer.matches !== not)
      return;
    const received = answer.errorMessage ? `<${answer.errorMessage}>` : answer.received?.value === undefined ? '' : shown(result({ value: answer.received.value }));
    const lines = [
      message ?? `expect(${what})${not ? '.not' : ''}.${name}(${q.expressionArg === undefined && ['string', 'number'].includes(typeof q.expected) && /^to\.be\./.test(q.expression) ? '' : 'expected'}) failed`,
      '',
      ...subject instanceof Locator ? [`Locator:  ${subject}`] : [],
      `Expected: ${not ? 'not ' : ''}${/^to\.be\./.test(q.expression) ? String(q.expected) : shown(q.expected)}`,
      ...received ? [`Received: ${received}`] : [],
      ...answer.timedOut ?? true ? [`Timeout:  ${timeout}ms`] : [],
      '',
      'Call log:',
      `  - Expect "${not ? 'not ' : ''}${name}" with timeout ${timeout}ms`,
      ...(answer.log ?? []).map(l => `  - ${l}`),
    ];
    throw new Error(lines.join('\n'));
  });
}

function shown(v: unknown): string {
  return typeof v === 'string' ? JSON.stringify(v) : inspect(v);
}

/** What expect() gives: an object whose matchers are looked up by name. */
function assertion(value: unknown, not: boolean, message: string | undefined, mode: { timeout: number; wrap?: 'resolves' | 'rejects' | 'poll'; intervals?: number[] }): any {
  const run = (name: string, args: any[]): unknown => {
    const special = value instanceof Locator ? locatorMatchers[name] : value instanceof Page ? pageMatchers[name]?.bind(null, value) : undefined;
    if (special) {
      const last = args[args.length - 1] as { timeout?: number } | undefined;
      return check(name, value as Locator | Page, special(...args), not, last?.timeout ?? mode.timeout, message);
    }
    if (name === 'toPass')
      return toPass(value as () => unknown, args[0] ?? {});
    if (name === 'toBeOK' && value instanceof Response)
      return verify(name, not, { pass: value.ok(), expected: 'ok', received: value.status() }, message);
    const matcher = matchers[name];
    if (!matcher)
      throw new TypeError(`expect(…).${name} is not a matcher of this version`);
    switch (mode.wrap) {
      case 'resolves': return Promise.resolve(value).then(v => verify(name, not, matcher(v, ...args), message));
      case 'rejects': return Promise.resolve(value).then(
        () => { throw new Error('Received promise resolved instead of rejected'); },
        e => verify(name, not, matcher(e, ...args), message));
      case 'poll': return toPass(async () => verify(name, not, matcher(await (value as () => unknown)(), ...args), message), mode);
      default: return verify(name, not, matcher(value, ...args), message);
    }
  };
  return new Proxy({}, {
    get(_, name) {
      switch (name) {
        case 'not': return assertion(value, !not, message, mode);
        case 'resolves':
        case 'rejects': return assertion(value, not, message, { ...mode, wrap: name });
        case 'then': return undefined; // not a promise
      }
      return typeof name === 'string' ? (...args: unknown[]) => run(name, args) : undefined;
    },
  });
}

function verify(name: string, not: boolean, o: Outcome, message: string | undefined): void {
  if (o.pass === not)
    throw new Error(complaint(name, not, o, message));
}

/** Tries again until it passes: after 100, 250, 500 and then each 1,000 ms, as in Playwright. */
async function toPass(f: () => unknown, o: { timeout?: number; intervals?: number[] }): Promise<void> {
  const intervals = o.intervals ?? [100, 250, 500, 1000];
  const timeout = o.timeout ?? 0;
  const deadline = Date.now() + timeout;
  for (let i = 0; ; i++) {
    try {
      await f();
      return;
    } catch (e) {
      const pause = intervals[Math.min(i, intervals.length - 1)] ?? 1000;
      if (timeout && Date.now() + pause > deadline)
        throw e;
      await new Promise(resolve => { setTimeout(resolve, pause); });
    }
  }
}

/** Playwright's expect. */
export const expect = Object.assign(
  (value: unknown, message?: string | { message?: string }) =>
    assertion(value, false, typeof message === 'object' ? message.message : message, { timeout: expectTimeout }),
  asymmetric,
  {
    poll: (f: () => unknown, o: string | { message?: string; timeout?: number; intervals?: number[] } = {}) => {
      const { message, timeout = expectTimeout, intervals } = typeof o === 'string' ? { message: o } as { message: string; timeout?: number; intervals?: number[] } : o;
      return assertion(f, false, message, { timeout, intervals, wrap: 'poll' });
    },
  },
);
