import { base64, expression, buffer, result, text } from '../core/values.ts';
import { readFile } from '../core/files.ts';
import { host } from '../core/host.ts';
import { pick, step, stepOf, type Send } from '../core/call.ts';
import type { Frame } from './frame.ts';

const pointer = ['button', 'clickCount', 'delay', 'force', 'modifiers', 'noWaitAfter', 'position', 'scroll', 'trial', 'steps'];
const click = pointer;
const dblclick = pointer.filter(o => o !== 'clickCount');
const hover = ['force', 'modifiers', 'noWaitAfter', 'position', 'scroll', 'trial'];
const check = ['force', 'noWaitAfter', 'position', 'scroll', 'trial'];

/**
 * The operations on an element that Page, Frame, Locator and ElementHandle share, with the options of each (automation/operations.go). To add one,
 * add a line here and a method to each class that has it.
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
  ariaSnapshot: ['mode', 'depth', 'boxes'],
  ariaSnapshotJSON: ['mode', 'depth', 'boxes'],
  drop: ['position'],
  waitForSelector: ['state', 'omitReturnValue'],
};

/** Operations that return the present state without waiting. */
const immediate = new Set(['isVisible', 'isHidden', 'count', 'allInnerTexts', 'allTextContents']);

/** The target of an operation. */
export interface Subject {
  /** Parameters that identify it: {frame, selector, strict} or {handle}. */
  target: object;
  /** The frame with the default timeouts. */
  frame: Frame;
  /** The prefix of its methods' names: page, frame, locator, elementHandle. */
  prefix: string;
  /** Formats the call as code. */
  title: (method: string, args: readonly unknown[]) => string;
}

/** Further parameters. If a function throws, the error belongs to the step. */
export type Extra = object | (() => object);

/** Executes an action as a step of the script with the given name, and returns its value. */
export function act(s: Subject, method: string, options?: object, extra?: Extra, shown: readonly unknown[] = [], name = method): Promise<any> {
  return stepOf(`${s.prefix}.${name}`, () => s.title(name, shown), operation(s, method), () => parameters(s, method, options, extra), valueOf, options);
}

/** Executes an action within a step that is already running. */
export async function perform(send: Send, s: Subject, method: string, options?: object, extra?: Extra): Promise<any> {
  return valueOf(await send(operation(s, method), parameters(s, method, options, extra)));
}

function operation(s: Subject, method: string): string { return `${'handle' in s.target ? 'handle' : 'frame'}.${method}`; }

function parameters(s: Subject, method: string, options?: object, extra?: Extra): object {
  return {
    ...s.target,
    ...pick(options, actions[method] ?? []),
    ...typeof extra === 'function' ? extra() : extra,
    ...immediate.has(method) ? {} : { timeout: s.frame._timeouts.action(options) },
  };
}

/** Returns the value that most answers contain. */
export function valueOf(answer: { value?: any } | undefined): any { return answer?.value; }

/** Waits for the element and evaluates in the page with it. */
export function evaluateOn(s: Subject, code: unknown, arg: unknown, options?: object): Promise<any> {
  return stepOf(`${s.prefix}.evaluate`, () => s.title('evaluate', []), 'frame.evaluateOnElement', () => ({
    ...s.target, ...expression(code, arg), timeout: s.frame._timeouts.action(options),
  }), result, options);
}

/** Takes a screenshot of the element, and returns it as a Buffer. */
export function screenshot(s: Subject, options?: object): Promise<any> {
  return step(`${s.prefix}.screenshot`, () => s.title('screenshot', []), async send => {
    const verb = 'handle' in s.target ? 'handle' : 'frame';
    const { data } = await send<{ data: string }>(`${verb}.screenshot`, {
      ...s.target, ...shotParams(options), timeout: s.frame._timeouts.action(options),
    });
    return picture(send, data, options);
  }, options);
}

/** Converts the options of screenshots to the form of their operations. */
export function shotParams(options: object | undefined, more: readonly string[] = []): object {
  const { path, type, mask } = (options ?? {}) as { path?: string; type?: string; mask?: { _subject: Subject }[] };
  const params: Record<string, unknown> = pick(options, ['quality', 'omitBackground', 'scale', 'caret', 'animations', 'style', 'maskColor', ...more]);
  params['type'] = type ?? (path === undefined ? undefined : typeOf(path));
  params['mask'] = mask?.map(l => ({ ...l._subject.target, strict: false }));
  return params;
}

function typeOf(path: string): string {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const type = { png: 'png', jpg: 'jpeg', jpeg: 'jpeg', webp: 'webp' }[extension];
  if (!type)
    throw new Error(`path: unsupported mime type "${extension}"`);
  return type;
}

/** Returns the result of an operation as a Buffer, and writes it to the file that options name. */
export async function picture(send: Send, data: string, options: object | undefined): Promise<any> {
  const bytes = buffer(data);
  const { path } = (options ?? {}) as { path?: string };
  if (path !== undefined)
    await send('files.write', { name: text('path', path), data });
  return bytes;
}

/** Returns the files for setInputFiles with their contents. Reads the files that are given by name. */
export async function filePayloads(send: Send, given: unknown): Promise<object[]> {
  const { files, names } = inputFiles(given);
  if (files)
    return files;
  return Promise.all((names ?? []).map(async name => ({ name: name.replace(/^.*[\\/]/, ''), mimeType: '', buffer: base64(await readFile(send, name)) })));
}

/** The largest total size of buffers for setInputFiles, as in Playwright. */
const maxBuffers = 50 * 1024 * 1024;

/** Converts the argument of setInputFiles to parameters: names of the session's files, or contents. */
export function inputFiles(given: unknown): { files?: object[]; names?: string[] } {
  const list = Array.isArray(given) ? given as unknown[] : [given];
  if (list.length && list.every(f => typeof f === 'string'))
    return { names: list as string[] };
  let size = 0;
  const files = list.map(f => {
    if (typeof f === 'string')
      throw new Error('File paths cannot be mixed with buffers');
    const { name, mimeType, buffer: data } = f as { name: string; mimeType: string; buffer: Uint8Array };
    const bytes = ArrayBuffer.isView(data) ? data : new Uint8Array(host.encode(String(data)));
    size += bytes.byteLength;
    return { name: text('name', name), mimeType, buffer: base64(bytes) };
  });
  if (size > maxBuffers)
    throw new Error('Cannot set buffer larger than 50Mb, please write it to a file and pass its path instead.');
  return { files };
}
