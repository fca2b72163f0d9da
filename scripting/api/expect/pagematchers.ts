// expect's matchers for locators and pages, and the requests that they send to the page.

import { reasonOf, type Send } from '../core/call.ts';
import { failure, type Verdict } from './failure.ts';
import { inspect } from '../node/inspect.ts';
import { Locator } from '../objects/locator.ts';
import type { MatcherResult, MatcherState } from './matcher.ts';
import { Page } from '../objects/page.ts';
import { poll } from './poll.ts';
import { refuse, TargetClosedError } from '../core/errors.ts';
import { diffOrBoth, stringify, withType } from './print.ts';
import { argument, result } from '../core/values.ts';
import type { Tagged } from '../../../automation/page/serialize.ts';

type Text = string | RegExp;

/** Common options of these matchers. */
interface Common { timeout?: number; signal?: AbortSignal }
interface TextOptions extends Common { ignoreCase?: boolean; useInnerText?: boolean }

/** A matcher for an element or a page. It is called within a step. */
export type PageMatcher = (this: PageState, subject: any, ...args: any[]) => Promise<MatcherResult>;

/** The `this` of these matchers. */
export interface PageState extends MatcherState {
  send: Send;
  /** The start of the call log: Expect "not toHaveText". */
  announced: string;
}

/** The request to the page (automation's frame.expect). */
interface Question {
  expression: string;
  expressionArg?: unknown;
  expectedText?: object[];
  expectedNumber?: number;
  expectedValue?: object;
  useInnerText?: boolean;
  pseudo?: string;
}

interface Answer { matches: boolean; received?: { value?: Tagged; ariaSnapshot?: string }; log: string[]; errorMessage?: string; timedOut?: boolean }

function isText(value: unknown): value is Text {
  return typeof value === 'string' || value instanceof RegExp;
}

/** Converts texts to the form in which the page compares them. */
function texts(items: readonly unknown[], o: { substring?: boolean; whitespace?: boolean; ignoreCase?: boolean } = {}): object[] {
  return items.map(t => ({
    string: typeof t === 'string' ? t : undefined,
    regexSource: t instanceof RegExp ? t.source : undefined,
    regexFlags: t instanceof RegExp ? t.flags : undefined,
    matchSubstring: o.substring,
    ignoreCase: o.ignoreCase,
    normalizeWhiteSpace: o.whitespace,
  }));
}

/** Throws for a subject of the wrong kind. */
function subjectOf(name: string, subject: unknown, kinds: [string, Function][]): void {
  if (kinds.some(([, type]) => subject instanceof type))
    return;
  const what = kinds.map(([kind]) => kind).join(' or ');
  const type = typeof subject === 'object' && subject !== null ? `${subject.constructor?.name ?? ''} ` : '';
  throw new Error(`${name} can be only used with ${what} object${kinds.length > 1 ? 's' : ''}, was called with ${type}${inspect(subject)}`);
}

/** Asks the page until the answer is the wanted one or the time is up. */
async function ask(state: PageState, subject: Locator | Page, q: Question, options: Common | undefined): Promise<Answer & { value: unknown; timeout: number }> {
  const timeout = options?.timeout ?? state.timeout;
  const [frame, selector] = subject instanceof Locator ? [subject._frame, subject._selector] : [subject.mainFrame(), undefined];
  const signal = options?.signal;
  if (signal?.aborted)
    return { matches: state.isNot, log: [], errorMessage: `The assertion was aborted: ${reasonOf(signal)}`, value: undefined, timeout };
  const params = { frame: frame._guid, selector, strict: selector === undefined ? undefined : true, ...q, isNot: state.isNot, timeout };
  const answer = await state.send<Answer>('frame.expect', params, signal).catch(unanswered(state.isNot));
  answer.log.unshift(`  - ${state.announced}${subject instanceof Locator ? ` ${subject}` : ''} with timeout ${timeout}ms`);
  return { ...answer, value: answer.received?.value === undefined ? undefined : result({ value: answer.received.value }), timeout };
}

// Makes the expectation fail with the error of its operation, for example because the page closed.
const unanswered = (isNot: boolean) => (e: Error): Answer => {
  const [message, ...rest] = e.message.split('\nCall log:\n');
  const log = rest.join('').split('\n').filter(Boolean);
  if (e instanceof TargetClosedError)
    log.push(`  - ${message}`);
  return { matches: isNot, errorMessage: message!.replace(/^Error: /, ''), log };
};

/** Converts an answer to a verdict. */
function verdict(state: PageState, name: string, subject: Locator | Page, a: Answer & { timeout: number }, rest: Partial<Verdict> & { argument: string }): MatcherResult {
  return failure(state, {
    name, subject, pass: a.matches, log: a.log, ...a.timedOut ? { timeout: a.timeout } : {}, ...a.errorMessage ? { error: a.errorMessage } : {},
    ...a.received?.ariaSnapshot === undefined ? {} : { ariaSnapshot: a.received.ariaSnapshot }, ...rest,
  });
}

type Ask<A extends unknown[]> = (...args: A) => { question: Question; expected: string; shown?: string; options?: Common };

/** Returns a matcher for a state of an element, such as visible. make returns the request to the page and the name of the expected state. */
function word<A extends unknown[]>(name: string, make: Ask<A>): PageMatcher {
  return async function (subject, ...args) {
    subjectOf(name, subject, [['Locator', Locator]]);
    const { question, expected, shown = '', options } = make(...args as A);
    const answer = await ask(this, subject, question, options);
    const seen = answer.matches ? expected : String(answer.value);
    return verdict(this, name, subject, answer, {
      argument: shown, wanted: `Expected: ${this.isNot ? 'not ' : ''}${expected}`, got: answer.errorMessage ? undefined : `Received: ${seen}`, expected,
      ...answer.errorMessage ? {} : { actual: answer.value },
    });
  };
}

const plain = (name: string, expression: string, expected: string) => word(name, (options?: Common) => ({ question: { expression }, expected, options }));

// Returns a matcher like word's, with an option that inverts the state.
function turned(name: string, option: string, yes: string, no: string, expected = [yes, no]): PageMatcher {
  return word(name, (options?: Common & Record<string, unknown>) => {
    const on = options?.[option] !== false;
    return { question: { expression: `to.be.${on ? yes : no}` }, expected: (on ? expected[0] : expected[1])!, shown: on ? '' : `{ ${option}: false }`, options };
  });
}

/** How a text matcher is built. */
interface TextMatcher { expression: string; substring?: boolean; whitespace?: boolean; page?: boolean; argument?: boolean }

/** Returns a matcher for one text. With `argument`, the first argument names the attribute or property. */
function text(name: string, m: TextMatcher): PageMatcher {
  return async function (subject, ...args) {
    subjectOf(name, subject, [m.page ? ['Page', Page] : ['Locator', Locator]]);
    const expressionArg = m.argument ? args.shift() as string : undefined;
    const [expected, options = {}] = args as [Text, (TextOptions & { pseudo?: string })?];
    return matchText(this, name, subject, expected, m, {
      expressionArg, useInnerText: options.useInnerText, pseudo: options.pseudo,
    }, options);
  };
}

async function matchText(state: PageState, name: string, subject: Locator | Page, expected: Text, m: TextMatcher, more: Partial<Question>, options: TextOptions): Promise<MatcherResult> {
  if (!isText(expected)) {
    const wrong = `expected value must be a string or regular expression\n${withType('Expected', expected)}`;
    return failure(state, { name, subject, pass: state.isNot, argument: 'expected', error: wrong });
  }
  const question = { expression: m.expression, expectedText: texts([expected], { substring: m.substring, whitespace: m.whitespace, ignoreCase: options.ignoreCase }), ...more };
  const answer = await ask(state, subject, question, options);
  return verdict(state, name, subject, answer, { ...compared(state, expected, answer, m.substring), argument: 'expected', expected });
}

/** Describes an expected and a received text. */
function compared(state: PageState, expected: Text, answer: Answer & { value: unknown }, substring?: boolean): Partial<Verdict> {
  const not = state.isNot ? 'not ' : '';
  const kind = typeof expected !== 'string' ? ' pattern' : substring ? ' substring' : '';
  const wanted = `Expected${kind}: ${not}${stringify(expected)}`;
  if (answer.errorMessage)
    return { wanted };
  const actual = { actual: answer.value };
  const seen = typeof answer.value === 'string' ? answer.value : '';
  if (state.isNot)
    return { ...actual, wanted, got: `Received${kind ? ' string' : ''}: ${stringify(seen)}` };
  const both = diffOrBoth(expected, seen, `Expected${kind}`, `Received${kind ? ' string' : ''}`);
  return { ...actual, ...sidesOf(both) };
}

// Splits a comparison into the parts of a message: two lines, or a difference.
function sidesOf(both: string): Partial<Verdict> {
  const lines = both.split('\n');
  return lines.length === 2 && lines[0]!.startsWith('Expected') ? { wanted: lines[0], got: lines[1] } : { diff: both };
}

/** Compares a value as a whole. */
async function whole(state: PageState, name: string, subject: Locator, expected: unknown, question: Question, options: Common | undefined): Promise<MatcherResult> {
  const answer = await ask(state, subject, question, options);
  const rest: Partial<Verdict> & { argument: string } = { argument: 'expected', expected };
  if (answer.errorMessage || state.isNot) {
    rest.wanted = `Expected: ${state.isNot ? 'not ' : ''}${stringify(expected)}`;
    if (!answer.errorMessage)
      rest.got = `Received: ${stringify(answer.value)}`;
  } else if (!answer.matches) {
    Object.assign(rest, sidesOf(diffOrBoth(matched(expected, answer.value), answer.value)));
  }
  if (!answer.errorMessage)
    rest.actual = answer.value;
  return verdict(state, name, subject, answer, rest);
}

// Replaces each expected pattern with the received text if the pattern matches it, so that the difference shows the text on both sides.
function matched(expected: unknown, received: unknown): unknown {
  if (!Array.isArray(expected) || !Array.isArray(received))
    return expected;
  return expected.map((e: unknown, i) => {
    const item: unknown = received[i];
    return e instanceof RegExp && typeof item === 'string' && new RegExp(e).test(item) ? item : e;
  });
}

/** Returns a matcher for one text, or for a list of the texts of all elements. */
function textOrList(name: string, one: TextMatcher, list: string, o: { whitespace?: boolean; substring?: boolean } = {}, check: (expected: unknown) => void = () => {}): PageMatcher {
  return async function (subject, expected, options: TextOptions = {}) {
    subjectOf(name, subject, [['Locator', Locator]]);
    check(expected);
    const useInnerText = options.useInnerText;
    if (!Array.isArray(expected))
      return matchText(this, name, subject, expected as Text, one, { useInnerText }, options);
    const question = { expression: list, expectedText: texts(expected, { ...o, ignoreCase: options.ignoreCase }), useInnerText };
    return whole(this, name, subject, expected, question, options);
  };
}

const isOptions = (value: unknown): boolean => typeof value === 'object' && value !== null && !(value instanceof RegExp);

/** Matchers by name. To add one, add an entry here. */
export const pageMatchers: Readonly<Record<string, PageMatcher>> = {
  toBeAttached: turned('toBeAttached', 'attached', 'attached', 'detached'),
  toBeVisible: turned('toBeVisible', 'visible', 'visible', 'hidden'),
  toBeEnabled: turned('toBeEnabled', 'enabled', 'enabled', 'disabled'),
  toBeEditable: turned('toBeEditable', 'editable', 'editable', 'readonly', ['editable', 'readOnly']),
  toBeHidden: plain('toBeHidden', 'to.be.hidden', 'hidden'),
  toBeDisabled: plain('toBeDisabled', 'to.be.disabled', 'disabled'),
  toBeEmpty: plain('toBeEmpty', 'to.be.empty', 'empty'),
  toBeFocused: plain('toBeFocused', 'to.be.focused', 'focused'),
  toBeChecked: word('toBeChecked', (options?: Common & { checked?: boolean; indeterminate?: boolean }) => {
    const { checked, indeterminate } = options ?? {};
    return {
      question: { expression: 'to.be.checked', expectedValue: argument({ checked, indeterminate }) },
      expected: indeterminate ? 'indeterminate' : checked === false ? 'unchecked' : 'checked',
      shown: indeterminate ? '{ indeterminate: true }' : checked === false ? '{ checked: false }' : '',
      options,
    };
  }),
  toBeInViewport: word('toBeInViewport', (options?: Common & { ratio?: number }) => ({
    question: { expression: 'to.be.in.viewport', expectedNumber: options?.ratio }, expected: 'in viewport', options,
  })),

  toHaveText: textOrList('toHaveText', { expression: 'to.have.text', whitespace: true }, 'to.have.text.array', { whitespace: true }),
  toContainText: textOrList('toContainText', { expression: 'to.have.text', whitespace: true, substring: true }, 'to.contain.text.array', { whitespace: true, substring: true }),
  toHaveClass: textOrList('toHaveClass', { expression: 'to.have.class' }, 'to.have.class.array'),
  toContainClass: textOrList('toContainClass', { expression: 'to.contain.class' }, 'to.contain.class.array', {}, expected => {
    if (expected instanceof RegExp)
      throw new Error('"expected" argument in toContainClass cannot be a RegExp value');
    if (Array.isArray(expected) && expected.some(e => e instanceof RegExp))
      throw new Error('"expected" argument in toContainClass cannot contain RegExp values');
  }),
  async toHaveAttribute(subject, name: string, value?: Text | Common, options: TextOptions = {}) {
    subjectOf('toHaveAttribute', subject, [['Locator', Locator]]);
    if (value === undefined || arguments.length < 4 && isOptions(value))
      return hasAttribute.call(this, subject, name, value ?? options);
    return matchText(this, 'toHaveAttribute', subject, value as Text, { expression: 'to.have.attribute.value' }, { expressionArg: name }, options);
  },
  toHaveCSS: text('toHaveCSS', { expression: 'to.have.css', argument: true }),
  toHaveId: text('toHaveId', { expression: 'to.have.id' }),
  async toHaveRole(subject, expected: string, options: Common = {}) {
    subjectOf('toHaveRole', subject, [['Locator', Locator]]);
    if (typeof expected !== 'string')
      throw new Error('"role" argument in toHaveRole must be a string');
    return matchText(this, 'toHaveRole', subject, expected, { expression: 'to.have.role' }, {}, options);
  },
  toHaveValue: text('toHaveValue', { expression: 'to.have.value' }),
  toHaveAccessibleName: text('toHaveAccessibleName', { expression: 'to.have.accessible.name', whitespace: true }),
  toHaveAccessibleDescription: text('toHaveAccessibleDescription', { expression: 'to.have.accessible.description', whitespace: true }),
  toHaveAccessibleErrorMessage: text('toHaveAccessibleErrorMessage', { expression: 'to.have.accessible.error.message', whitespace: true }),
  async toHaveCount(subject, expected: number, options?: Common) {
    subjectOf('toHaveCount', subject, [['Locator', Locator]]);
    if (expected !== undefined && typeof expected !== 'number')
      throw new Error(`${this.announced}: expectedNumber: expected float, got ${expected === null ? 'null' : typeof expected}`);
    return whole(this, 'toHaveCount', subject, expected, { expression: 'to.have.count', expectedNumber: expected }, options);
  },
  async toHaveJSProperty(subject, name: string, expected: unknown, options?: Common) {
    subjectOf('toHaveJSProperty', subject, [['Locator', Locator]]);
    return whole(this, 'toHaveJSProperty', subject, expected, { expression: 'to.have.property', expressionArg: name, expectedValue: argument(expected) }, options);
  },
  async toHaveValues(subject, expected: Text[], options?: Common) {
    subjectOf('toHaveValues', subject, [['Locator', Locator]]);
    if (!Array.isArray(expected))
      throw new TypeError('"values" argument in toHaveValues must be an array');
    return whole(this, 'toHaveValues', subject, expected, { expression: 'to.have.values', expectedText: texts(expected) }, options);
  },

  async toMatchAriaSnapshot(subject, expected: string, options: Common = {}) {
    subjectOf('toMatchAriaSnapshot', subject, [['Page', Page], ['Locator', Locator]]);
    if (typeof expected !== 'string')
      refuse('toMatchAriaSnapshot without a string', 'sessions store no snapshots; pass the expected snapshot as a string');
    const template = dedent(expected);
    const answer = await ask(this, subject, { expression: 'to.match.aria', expressionArg: template }, options);
    const raw = (answer.value as { raw?: string } | undefined)?.raw;
    return verdict(this, 'toMatchAriaSnapshot', subject, answer, {
      ...compared(this, template, { ...answer, value: raw }), argument: 'expected', expected: template,
    });
  },
  toHaveTitle: text('toHaveTitle', { expression: 'to.have.title', whitespace: true, page: true }),
  async toHaveURL(page, expected: Text | ((url: URL) => unknown) | { test(url: string): boolean }, options: TextOptions = {}) {
    subjectOf('toHaveURL', page, [['Page', Page]]);
    if (typeof expected === 'function')
      return urlPredicate(this, page, expected, options);
    if (!isText(expected) && typeof (expected as { test?: unknown } | undefined)?.test === 'function') // a URLPattern
      return urlPredicate(this, page, url => (expected as { test(url: string): boolean }).test(url.href), options);
    const base = (page as Page).context()._options.baseURL;
    const url = typeof expected === 'string' && base ? new URL(expected, base).href : expected as Text;
    return matchText(this, 'toHaveURL', page, url, { expression: 'to.have.url', page: true }, {}, options);
  },
};

const hasAttribute = word('toHaveAttribute', (name: string, options?: Common) => ({
  question: { expression: 'to.have.attribute', expressionArg: name }, expected: 'have attribute', options,
}));

async function urlPredicate(state: PageState, page: Page, holds: (url: URL) => unknown, options: Common): Promise<MatcherResult> {
  const timeout = options.timeout ?? state.timeout;
  const wanted = !state.isNot;
  const { last } = await poll(async () => {
    let value = false;
    try {
      value = await holds(new URL(page.url())) as boolean === true;
    } catch {
      // A predicate that throws counts as not met.
    }
    return { done: value === wanted, value };
  }, timeout);
  const pass = last?.value ?? !wanted;
  return failure(state, {
    name: 'toHaveURL', subject: page, pass, argument: 'expected', actual: page.url(),
    wanted: `Expected: predicate to ${state.isNot ? 'fail' : 'succeed'}`, got: `Received: ${stringify(page.url())}`, timeout,
  });
}

/** Removes surrounding empty lines and the common indentation from a text. */
function dedent(text: string): string {
  const lines = text.split('\n');
  const depths = lines.filter(l => l.trim()).map(l => /^\s*/.exec(l)![0].length);
  const depth = depths.length ? Math.min(...depths) : 0;
  return lines.map(l => l.slice(depth)).join('\n').replace(/^(\s*\n)+/, '').trimEnd();
}
