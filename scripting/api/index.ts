// What a worker loads: the script's globals, and how its run is started.

import './polyfills.ts';
import './json.ts';
import { answerOf } from './answer.ts';
import { APIResponse } from './apiresponse.ts';
import { Browser, BrowserType } from './browser.ts';
import { BrowserContext } from './context.ts';
import { Clock } from './clock.ts';
import { CDPSession } from './cdp.ts';
import { Dialog } from './dialog.ts';
import { Download } from './download.ts';
import { ConsoleMessage, Disposable, WebError } from './events.ts';
import { FileChooser } from './filechooser.ts';
import { addWorker } from './pageevents.ts';
import { Tracing } from './tracing.ts';
import { Worker } from './worker.ts';
import { Frame } from './frame.ts';
import { ElementHandle, JSHandle } from './handle.ts';
import { Keyboard, Mouse, Touchscreen } from './input.ts';
import { FrameLocator, Locator } from './locator.ts';
import { Request, Response } from './network.ts';
import { APIRequest, APIRequestContext } from './request.ts';
import { Route } from './route.ts';
import { WebSocket } from './websocket.ts';
import { WebSocketRoute } from './websocketroute.ts';
import { quietly } from './call.ts';
import { causesOf } from './causes.ts';
import { TakeoverCancelledError, TakeoverFailedError, TakeoverTimeoutError } from './errors.ts';
import { define, installGlobals, lazily } from './globals.ts';
import { explained } from './hints.ts';
import { host } from './host.ts';
import { inspect } from './inspect.ts';
import { expecting, runner } from './later.ts';
import { makeRequire } from './module.ts';
import { Page } from './page.ts';
import { installRefusals } from './refusals.ts';
import { shared } from './shared.ts';
import { installWording, mended } from './wording.ts';
import { WebStorage } from './webstorage.ts';
import { SoftErrors, setSoftSink } from './soft.ts';
import { onShown, requestTakeover, useWorld } from './takeover.ts';
import { World, type WorldInit } from './world.ts';

host.shared = shared;
installGlobals();
host.unhandled = e => {
  const test = runner.loaded?.state.info;
  if (test)
    test._failed(e); // as in Playwright, the test goes on, and has failed
  else
    fail(e);
};

/** The classes that Playwright has too, by its names. */
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

// The bundler gives classes that name themselves other names.
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

/** Starts the script: main is its body, args the JSON of its arguments. */
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
      if (ended) // of an expectation that nobody waited for
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

/** Takes an event of the server. */
export function event(name: string, params: string): void {
  if (begun)
    world.event(name, parse(params));
  else
    early.push([name, params]);
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
    page, context, browser: world.browser, request: context.request, requestTakeover,
    require: makeRequire(world.browser),
    args: parse(args),
    TakeoverFailedError, TakeoverTimeoutError, TakeoverCancelledError,
  });
  followShown(page!);
  lazily('expect', () => expecting.get().expect);
}

// The global page follows the people who took over, unless the script has put
// something else in its place.
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

// The stack without the message, which may hold lines that look like it.
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
