// The main bundle of a worker: it sets up the script's globals, and starts the script.

import './node/polyfills.ts';
import './node/json.ts';
import { answerOf } from './core/answer.ts';
import { APIResponse } from './net/apiresponse.ts';
import { Browser, BrowserType } from './objects/browser.ts';
import { BrowserContext } from './objects/context.ts';
import { Clock } from './objects/clock.ts';
import { CDPSession } from './objects/cdp.ts';
import { Dialog } from './objects/dialog.ts';
import { Download } from './objects/download.ts';
import { ConsoleMessage } from './objects/consolemessage.ts';
import { Disposable, WebError } from './objects/events.ts';
import { FileChooser } from './objects/filechooser.ts';
import { addWorker } from './objects/pageevents.ts';
import { Tracing } from './objects/tracing.ts';
import { Worker } from './objects/worker.ts';
import { Frame } from './objects/frame.ts';
import { ElementHandle, JSHandle } from './objects/handle.ts';
import { Keyboard, Mouse, Touchscreen } from './objects/input.ts';
import { FrameLocator, Locator } from './objects/locator.ts';
import { Request, Response } from './net/network.ts';
import { APIRequest, APIRequestContext } from './net/request.ts';
import { Route } from './net/route.ts';
import { WebSocket } from './net/websocket.ts';
import { WebSocketRoute } from './net/websocketroute.ts';
import { quietly } from './core/call.ts';
import { causesOf } from './core/causes.ts';
import { TakeoverCancelledError, TakeoverFailedError, TakeoverTimeoutError } from './core/errors.ts';
import { define, installGlobals, lazily } from './node/globals.ts';
import { explained } from './core/hints.ts';
import { host } from './core/host.ts';
import { inspect } from './node/inspect.ts';
import { commands, expecting, runner } from './core/later.ts';
import { makeRequire } from './node/module.ts';
import { Page } from './objects/page.ts';
import { installRefusals } from './objects/refusals.ts';
import { shared } from './shared.ts';
import { installWording, mended } from './core/wording.ts';
import { WebStorage } from './objects/webstorage.ts';
import { SoftErrors, setSoftSink } from './expect/soft.ts';
import { recording } from './objects/recording.ts';
import { onShown, requestTakeover, useWorld } from './objects/takeover.ts';
import { World, type WorldInit } from './objects/world.ts';

host.shared = shared;
installGlobals();
host.unhandled = e => {
  const test = runner.loaded?.state.info;
  if (test)
    test._failed(e); // as in Playwright, the test continues, but has failed
  else
    fail(e);
};

/** The classes that Playwright also has, by its names. */
export const classes = {
  APIRequest,
  APIRequestContext,
  APIResponse,
  Browser,
  BrowserContext,
  BrowserType,
  CDPSession,
  Clock,
  ConsoleMessage,
  Dialog,
  Disposable,
  Download,
  ElementHandle,
  FileChooser,
  Frame,
  FrameLocator,
  JSHandle,
  Keyboard,
  Locator,
  Mouse,
  Page,
  Request,
  Response,
  Route,
  Touchscreen,
  Tracing,
  WebError,
  WebSocket,
  WebSocketRoute,
  WebStorage,
  Worker,
};

// The bundler renames classes that refer to themselves.
for (const [name, c] of Object.entries(classes))
  Object.defineProperty(c, 'name', { value: name, configurable: true });
installRefusals(classes);

host.members = name => stringify([...new Set(Object.entries(classes).filter(([n]) => !name || n === name).flatMap(([, c]) => membersOf(c.prototype as object)))]);
installWording(define);

function membersOf(prototype: object | null): string[] {
  if (!prototype || prototype === Object.prototype)
    return [];
  return [...Object.getOwnPropertyNames(prototype).filter(n => !n.startsWith('_') && n !== 'constructor'), ...membersOf(Object.getPrototypeOf(prototype) as object | null)];
}

const world = new World();
const { parse, stringify } = JSON;
let begun = false;

/** Starts the script. `main` is its body, and `args` is the JSON of its arguments. */
export async function run(main: () => Promise<unknown>, args: string): Promise<void> {
  const soft = new SoftErrors();
  let ended = false;
  const failSoftly = (last?: Error) => {
    const error = soft.summary(last);
    if (error)
      fail(error);
  };
  setSoftSink({
    add(error) {
      const test = runner.loaded?.state.info;
      if (test)
        return test._failed(error);
      soft.add(error);
      if (ended) // from an expectation that was not awaited
        failSoftly();
    },
  });
  try {
    await begin(args);
    const value = await main();
    if (!runner.loaded?.state.used) {
      ended = true;
      failSoftly();
      return host.finish(answerOf(value));
    }
    const error = await runner.loaded.runTests(host.filename());
    if (error)
      host.fail(...error);
    else
      host.finish('null');
  } catch (e) {
    if (e instanceof Error)
      failSoftly(e);
    else
      fail(e);
  }
}

/** Carries out commands of a program. It takes the place of a script's body. */
export function serve(): Promise<unknown> {
  return commands.get().serve({ pages: world.pages, members: host.members!, message: e => text(mended(e).message, ''), classes });
}

/** Handles an event of the server. */
export function event(name: string, params: string): void {
  if (!begun)
    early.push([name, params]);
  else if (name.startsWith('command'))
    commands.get().event(name, parse(params));
  else
    world.event(name, parse(params));
}

const early: [string, string][] = [];

async function begin(args: string): Promise<void> {
  const init = await quietly<WorldInit>('init');
  world.browser = new Browser(world, init.browser.version);
  const context = world.context(init.context.id);
  init.pages.forEach(p => world.page(p));
  init.workers?.forEach(w => addWorker(world, w));
  begun = true;
  for (const [name, params] of early)
    event(name, params);
  useWorld(world);
  let page: Page | undefined = (init.activePage && world.pages.get(init.activePage)) || context.pages()[0];
  if (!page) {
    const made = await quietly<{ page: string }>('context.newPage', { context: context._guid });
    page = world.pages.get(made.page);
  }
  define({
    page, context, browser: world.browser, request: context.request, requestTakeover, recording,
    require: makeRequire(world.browser),
    args: parse(args),
    TakeoverFailedError, TakeoverTimeoutError, TakeoverCancelledError,
  });
  followShown(page!);
  lazily('expect', () => expecting.get().expect);
}

// Makes the global page follow the tab that people chose, unless the script has replaced it.
function followShown(given: Page): void {
  const globals = globalThis as { page?: unknown };
  onShown(page => {
    if (globals.page === given)
      define({ page: given = page });
  });
}

function fail(e: unknown): void {
  if (e instanceof Error)
    host.fail(text(e.name, 'Error'), explained(text(mended(e).message, '')), stackOf(e), causesOf(e));
  else
    host.fail('Error', `thrown: ${inspect(e)}`, '', '');
}

// Returns the stack without the message, which may contain lines that look like a stack.
function stackOf(e: Error): string {
  const [stack, head] = [text(e.stack, ''), `${text(e.name, 'Error')}: ${text(e.message, '')}`];
  return stack.startsWith(head) ? stack.slice(head.length) : stack;
}

function text(value: unknown, otherwise: string): string {
  try {
    return value === undefined ? otherwise : String(value);
  } catch {
    return otherwise;
  }
}
