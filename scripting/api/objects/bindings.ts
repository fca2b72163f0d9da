// Functions of the script that pages can call, and scripts that run before a page's own.

import { quietly, step, type Send } from '../core/call.ts';
import type { BrowserContext } from './context.ts';
import { Disposable } from './events.ts';
import { readTextFile } from '../core/files.ts';
import type { Frame } from './frame.ts';
import type { Page } from './page.ts';
import { quote } from '../core/selectors.ts';
import { sourceText } from '../core/sources.ts';
import { argument, expression, withArgument } from '../core/values.ts';
import { parse, serialize, type Tagged } from '../../../automation/page/serialize.ts';

/** The context, page and frame from which a binding was called. */
export interface BindingSource { context: BrowserContext; page: Page; frame: Frame }

type Binding = (source: BindingSource, ...args: any[]) => unknown;

const bindings = new Map<string, Binding>();

/** A page or a context, to which functions and init scripts can be added. */
export interface Exposing { _guid: string; _prefix: string; _where: object }

/** Gives pages a function that calls the script's function. */
export function expose(on: Exposing, method: string, name: string, binding: Binding): Promise<Disposable> {
  return step(`${on._prefix}.${method}`, () => `${on._prefix}.${method}(${quote(name)})`, async send => {
    if (typeof binding !== 'function')
      throw new Error('callback: expected function');
    const early: BindingCall[] = [];
    waiting.add(early);
    try {
      const { binding: id } = await send<{ binding: string }>('expose', { ...on._where, name });
      bindings.set(id, binding);
      for (const call of early)
        bindingCalled(call, call.source);
      return new Disposable(async () => {
        bindings.delete(id);
        await quietly('unexpose', { binding: id });
      });
    } finally {
      waiting.delete(early);
    }
  });
}

/** A page's call of a binding, as the server reports it. */
interface BindingCall { binding: string; call: string; args: Tagged[]; source: BindingSource }

/** Calls that arrived before the answer that says which function they call. */
const waiting = new Set<BindingCall[]>();

/** Answers a page's call. */
export function bindingCalled(call: Omit<BindingCall, 'source'>, source: BindingSource): void {
  const binding = bindings.get(call.binding);
  if (!binding) {
    waiting.forEach(list => list.push({ ...call, source }));
    return;
  }
  const settle = (ok: boolean, value: unknown) => quietly('binding.settle', { call: call.call, ok, value: argument(value) });
  void (async () => {
    try {
      await settle(true, await binding(source, ...call.args.map(a => parse(a))));
    } catch (e) {
      await settle(false, e);
    }
  })().catch(() => {}); // the page is gone, or the thrown value cannot be sent
}

/** Makes functions in an argument callable by the page, and returns the argument for an operation. */
async function exposing(send: Send, target: { frame: string } | { handle: string }, value: unknown): Promise<{ value: Tagged; handles: string[] }> {
  const functions: ((...args: unknown[]) => unknown)[] = [];
  serialize(value, v => (typeof v === 'function' ? functions.push(v as () => unknown) : undefined));
  const made = new Map<unknown, string>();
  for (const fn of functions) {
    const { binding, handle } = await send<{ binding: string; handle: string }>('makeFunction', target);
    bindings.set(binding, (_source, ...args) => fn(...args));
    made.set(fn, handle);
  }
  return argument(value, v => made.get(v));
}

/** Converts a function or expression for the page, with the options of an evaluation. */
export async function evaluation(send: Send, target: { frame: string } | { handle: string }, code: unknown, arg: unknown, options: { exposeFunctions?: boolean } | undefined): Promise<object> {
  return options?.exposeFunctions ? withArgument(code, await exposing(send, target, arg)) : expression(code, arg);
}

/** Runs a script in every new document before the page's own. */
export function addInitScript(on: Exposing, script: unknown, arg: unknown, options: { exposeFunctions?: boolean } | undefined): Promise<Disposable> {
  return step(`${on._prefix}.addInitScript`, () => `${on._prefix}.addInitScript()`, async send => {
    const source = await initSource(send, script, arg, options);
    const { script: id } = await send<{ script: string }>('addInitScript', { ...on._where, ...source });
    return new Disposable(async () => { await quietly('removeInitScript', { script: id }); });
  });
}

async function initSource(send: Send, script: unknown, arg: unknown, options: { exposeFunctions?: boolean } | undefined): Promise<object> {
  if (typeof script === 'function') {
    if (options?.exposeFunctions)
      return exposedSource(script, arg);
    const text = arg === undefined ? 'undefined' : JSON.stringify(arg);
    return { source: `(${sourceText(script)})(${text})` };
  }
  if (arg !== undefined)
    throw new Error('Cannot evaluate a string with arguments');
  if (typeof script === 'string')
    return { source: script };
  const { path, content } = (script ?? {}) as { path?: string; content?: string };
  if (content !== undefined)
    return { source: content };
  if (path === undefined)
    throw new Error('Either path or content property must be present');
  return { source: `${await readTextFile(send, path)}\n//# sourceURL=${path.replace(/\n/g, '')}` };
}

// Returns the script with ids for the functions in its argument. Each document creates functions with these ids.
function exposedSource(script: Function, arg: unknown): object {
  const functions: unknown[] = [];
  const tagged = serialize(arg, v => (typeof v === 'function' ? functions.push(v) - 1 : undefined));
  const ids = functions.map(fn => {
    const id = `function@${++lastFunction}`;
    bindings.set(id, (_source, ...args) => (fn as (...a: unknown[]) => unknown)(...args));
    return id;
  });
  return { code: sourceText(script), arg: tagged, functions: ids };
}

let lastFunction = 0;
