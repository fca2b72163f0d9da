import { expression, argument, buffer, result } from './values.ts';
import { pick, step, type Send } from './call.ts';
import type { Frame } from './frame.ts';
import { ElementHandle } from './handle.ts';

const pointer = ['button', 'clickCount', 'delay', 'force', 'modifiers', 'noWaitAfter', 'position', 'trial', 'steps'];
const click = pointer;
const dblclick = pointer.filter(o => o !== 'clickCount');
const hover = ['force', 'modifiers', 'noWaitAfter', 'position', 'trial'];
const check = ['force', 'noWaitAfter', 'position', 'trial'];

/**
 * The operations on an element that Page, Frame, Locator and ElementHandle share,
 * with the options that each takes (automation/operations.go). A new one is a
 * line here and a method in each class that has it.
 */
export const actions: Record<string, readonly string[]> = {
  click, dblclick, hover, tap: hover, check, uncheck: check,
  fill: ['force', 'noWaitAfter'],
  type: ['delay', 'noWaitAfter'],
  press: ['delay', 'noWaitAfter'],
  selectOption: ['force', 'noWaitAfter'],
  selectText: ['force'],
  setInputFiles: ['noWaitAfter'],
  focus: [], blur: [], dispatchEvent: [], scrollIntoViewIfNeeded: [],
  textContent: [], innerText: [], innerHTML: [], inputValue: [], getAttribute: [],
  isVisible: [], isHidden: [], isEnabled: [], isDisabled: [], isEditable: [], isChecked: [],
  count: [], allInnerTexts: [], allTextContents: [], boundingBox: [],
  ariaSnapshot: ['mode', 'depth'],
  waitForSelector: ['state', 'omitReturnValue'],
  screenshot: ['type', 'quality', 'omitBackground', 'scale', 'caret', 'animations', 'style'],
};

/** Operations that give what is there now and wait for nothing. */
const immediate = new Set(['isVisible', 'isHidden', 'count', 'allInnerTexts', 'allTextContents']);

/** On what an operation is carried out. */
export interface Subject {
  /** Parameters that name it: {frame, selector, strict} or {handle}. */
  target: object;
  /** The frame whose timeouts hold. */
  frame: Frame;
  /** What its methods' names begin with: page, frame, locator, elementHandle. */
  prefix: string;
  /** The call, as a person would write it. */
  title: (method: string, args: readonly unknown[]) => string;
}

/** Further parameters; as a function they may throw, as a part of the step. */
export type Extra = object | (() => object);

/** Carries out one of the actions as a step of the script's; gives its value. */
export function act(s: Subject, method: string, options?: object, extra?: Extra, shown: readonly unknown[] = []): Promise<any> {
  return step(`${s.prefix}.${method}`, () => s.title(method, shown), send => perform(send, s, method, options, extra));
}

/** The same without a step, within one. */
export async function perform(send: Send, s: Subject, method: string, options?: object, extra?: Extra): Promise<any> {
  const verb = 'handle' in s.target ? 'handle' : 'frame';
  const answer = await send<{ value?: unknown } | undefined>(`${verb}.${method}`, {
    ...s.target,
    ...pick(options, actions[method] ?? []),
    ...typeof extra === 'function' ? extra() : extra,
    ...immediate.has(method) ? {} : { timeout: s.frame._timeouts.action(options) },
  });
  return answer?.value;
}

/** Waits for the element and evaluates in the page with it. */
export function evaluateOn(s: Subject, code: unknown, arg: unknown, options?: object): Promise<any> {
  return step(`${s.prefix}.evaluate`, () => s.title('evaluate', []), async send => result(await send('frame.evaluateOnElement', {
    ...s.target, ...expression(code, arg), timeout: s.frame._timeouts.action(options),
  })));
}

/** The element's picture, as a Buffer. */
export function screenshot(s: Subject, options?: object): Promise<any> {
  return step(`${s.prefix}.screenshot`, () => s.title('screenshot', []), async send => {
    warnOfPath(s.prefix, options);
    const verb = 'handle' in s.target ? 'handle' : 'frame';
    const { data } = await send<{ data: string }>(`${verb}.screenshot`, {
      ...s.target, ...pick(options, actions['screenshot']!), timeout: s.frame._timeouts.action(options),
    });
    return buffer(data);
  });
}

/** Says that a path was given where there are no files. */
export function warnOfPath(prefix: string, options: object | undefined): void {
  if (options && 'path' in options)
    console.warn(`${prefix}.screenshot: path is ignored, scripts have no files; the picture is what the call returns`);
}

/** What selectOption takes, as parameters. */
export function selectValues(values: unknown): { options: object[]; elements: string[] } {
  const options: object[] = [];
  const elements: string[] = [];
  for (const v of values === null || values === undefined ? [] : Array.isArray(values) ? values : [values]) {
    if (v instanceof ElementHandle)
      elements.push(v._handle);
    else if (typeof v === 'string')
      options.push({ valueOrLabel: v });
    else
      options.push(pick(v as object, ['value', 'label', 'index']));
  }
  return { options, elements };
}

/** What setInputFiles takes, as parameters. */
export function inputFiles(files: unknown): { files: object[] } {
  const list = Array.isArray(files) ? files : [files];
  return {
    files: list.map(f => {
      if (typeof f === 'string')
        throw new Error(`cannot read "${f}": scripts have no files; pass { name, mimeType, buffer } instead`);
      const { name, mimeType, buffer: data } = f as { name: string; mimeType: string; buffer: Uint8Array };
      return { name, mimeType, buffer: base64(data) };
    }),
  };
}

function base64(data: Uint8Array): string {
  const tagged = argument(data).value;
  return 'ta' in tagged ? tagged.ta.b : btoa(String(data));
}
