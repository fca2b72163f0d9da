// Carries out the commands of a program: calls of members of Page, given as JSON. It is loaded instead of a script.

import { answerOf } from '../core/answer.ts';
import { quietly } from '../core/call.ts';
import { TargetClosedError } from '../core/errors.ts';
import { host, type Trace } from '../core/host.ts';
import { giveSource } from '../core/sources.ts';
import { inspect } from '../node/inspect.ts';

/** One call in a command: a member of what the call before it returned; the first one is a member of Page. */
interface Link {
  /** The name of a method or property, or several joined by dots, such as keyboard.press. */
  method: string;
  args?: unknown[];
}

/** The event command. */
interface Command { id: string; page: string; chain: Link[] }

/** A command that is being carried out. */
interface Running {
  /** Its operations. */
  calls: Set<Promise<unknown>>;
  /** Why it was cancelled; empty if it was not. */
  reason: string;
}

/** What commands need of the API. */
export interface Surroundings {
  pages: Map<string, object>;
  /** Returns the public members of a class of the API. */
  members(name: string): string;
  /** Returns the message of an error for people. */
  message(e: Error): string;
  /** The classes of the API by name. */
  classes: Record<string, Function>;
}

const running = new Map<string, Running>();

/** The command whose member is being called now. What it calls later has the trace of this call. */
let current: Running | undefined;

/** The commands of calls, by the calls' traces. */
const owners = new WeakMap<Trace, Running>();

let around: Surroundings;

/** Events that came before serve; undefined afterwards. */
let early: [string, unknown][] | undefined = [];

/** Carries out commands until the worker ends. */
export function serve(s: Surroundings): Promise<unknown> {
  around = s;
  const { trace, call } = host;
  host.trace = () => {
    const made = trace();
    if (current)
      owners.set(made, current);
    return made;
  };
  host.call = (op, params, of, step) => {
    const owner = of && owners.get(of);
    if (owner?.reason)
      throw new Error(owner.reason);
    const answer = call(op, params, of, step);
    if (owner) {
      const over = () => void owner.calls.delete(answer);
      owner.calls.add(answer);
      answer.then(over, over);
    }
    return answer as Promise<any>;
  };
  const waiting = early!;
  early = undefined;
  for (const [name, e] of waiting)
    event(name, e);
  return quietly('command.serve'); // its answer would end the worker; it never comes
}

/** Handles an event of the server about commands. */
export function event(name: string, e: unknown): void {
  if (early)
    early.push([name, e]);
  else if (name === 'command')
    void carryOut(e as Command);
  else
    cancel(e as { id: string; reason: string });
}

function cancel({ id, reason }: { id: string; reason: string }): void {
  const command = running.get(id);
  if (!command)
    return;
  command.reason = reason;
  command.calls.forEach(call => host.abort(call, reason));
}

async function carryOut({ id, page, chain }: Command): Promise<void> {
  const command: Running = { calls: new Set(), reason: '' };
  running.set(id, command);
  let answer: object;
  try {
    const start = around.pages.get(page);
    if (!start)
      throw new TargetClosedError('Target page, context or browser has been closed');
    answer = { id, result: answerOf(plain(await follow(start, chain, command))) ?? 'null' };
  } catch (e) {
    answer = e instanceof Error ? { id, name: `${e.name}`, message: around.message(e) } : { id, name: 'Error', message: `thrown: ${inspect(e)}` };
  }
  running.delete(id);
  quietly('command.done', answer).catch(() => {}); // the program is gone
}

async function follow(start: object, chain: Link[], command: Running): Promise<unknown> {
  let value: unknown = start;
  for (const { method, args } of chain) {
    const names = method.split('.');
    const last = names.pop()!;
    for (const name of names)
      value = await member(value, name);
    const found = await member(value, last);
    if (typeof found !== 'function') {
      if (args?.length)
        throw new TypeError(`${method} is not a function`);
      value = found;
      continue;
    }
    const given = await Promise.all((args ?? []).map(arg => revive(arg, start, command)));
    if (command.reason)
      throw new Error(command.reason);
    current = command;
    let answer: unknown;
    try {
      answer = found.apply(value, given);
    } finally {
      current = undefined;
    }
    value = await answer;
  }
  return value;
}

/** Returns a public member of an object of the API. */
function member(value: unknown, name: string): unknown {
  const kind = kindOf(value);
  if (!kind)
    throw new TypeError(`${name}: ${value === null ? 'null' : typeof value} has no members for commands`);
  if (!publicMembers(kind).has(name) && !isOwn(value as object, name))
    throw new TypeError(`${kind} has no member ${name}`);
  return (value as Record<string, unknown>)[name];
}

// Fields of objects, such as page.keyboard, are not on the prototype.
function isOwn(value: object, name: string): boolean {
  return !name.startsWith('_') && Object.hasOwn(value, name) && kindOf((value as Record<string, unknown>)[name]) !== undefined;
}

const membersByClass = new Map<string, Set<string>>();

function publicMembers(kind: string): Set<string> {
  let known = membersByClass.get(kind);
  if (!known) {
    known = new Set(JSON.parse(around.members(kind)) as string[]);
    membersByClass.set(kind, known);
  }
  return known;
}

/** Returns the name of the class of an object of the API; undefined for other values. */
function kindOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null)
    return undefined;
  for (let p: any = Object.getPrototypeOf(value); p; p = Object.getPrototypeOf(p)) {
    if (around.classes[p.constructor?.name] === p.constructor)
      return p.constructor.name;
  }
  return undefined;
}

/**
 * Converts an argument. JSON lacks three kinds of values: {$function: 'source'} is a function, {$regexp: 'source', $flags: 'i'} a regular expression,
 * and {$chain: [links]} the result of another chain, such as a locator.
 */
async function revive(arg: unknown, start: object, command: Running): Promise<unknown> {
  if (typeof arg !== 'object' || arg === null)
    return arg;
  if (Array.isArray(arg))
    return Promise.all(arg.map(item => revive(item, start, command)));
  const { $function, $regexp, $flags, $chain } = arg as Record<string, unknown>;
  if (typeof $function === 'string')
    return functionOf($function);
  if (typeof $regexp === 'string')
    return new RegExp($regexp, typeof $flags === 'string' ? $flags : '');
  if (Array.isArray($chain))
    return follow(start, $chain as Link[], command);
  const out: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(arg))
    Object.defineProperty(out, name, { value: await revive(item, start, command), enumerable: true, writable: true, configurable: true });
  return out;
}

function functionOf(source: string): unknown {
  const made: unknown = new Function(`return (${source}\n)`)();
  if (typeof made !== 'function')
    throw new TypeError('$function is not a function');
  return giveSource(made, source);
}

/** Describes objects of the API, which have no JSON. */
function plain(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(plain);
  const kind = kindOf(value);
  if (!kind)
    return value;
  const v = value as Record<string, () => unknown>;
  switch (kind) {
    case 'Response': return { type: kind, url: v.url!(), status: v.status!(), statusText: v.statusText!(), ok: v.ok!() };
    case 'APIResponse': return { type: kind, url: v.url!(), status: v.status!(), statusText: v.statusText!(), ok: v.ok!(), headers: v.headers!() };
    case 'Request': return { type: kind, url: v.url!(), method: v.method!(), resourceType: v.resourceType!() };
    case 'ConsoleMessage': return { type: kind, level: v.type!(), text: v.text!() };
    case 'Page':
    case 'Frame': return { type: kind, url: v.url!() };
  }
  const text = String(value);
  return text.startsWith('[object ') ? { type: kind } : { type: kind, text };
}
