// Checked by tsc, never bundled: our classes must match Playwright's published types. docs/api-table.md lists the members; apitable_test.go writes
// it.

import type * as pw from 'playwright-core';
import type { Browser, BrowserType } from './objects/browser.ts';
import type { BrowserContext } from './objects/context.ts';
import type { Clock } from './objects/clock.ts';
import type { CDPSession } from './objects/cdp.ts';
import type { Coverage } from './objects/coverage.ts';
import type { Dialog } from './objects/dialog.ts';
import type { Download } from './objects/download.ts';
import type { ConsoleMessage } from './objects/consolemessage.ts';
import type { Disposable, WebError } from './objects/events.ts';
import type { FileChooser } from './objects/filechooser.ts';
import type { Tracing } from './objects/tracing.ts';
import type { Worker } from './objects/worker.ts';
import type { Frame } from './objects/frame.ts';
import type { ElementHandle, JSHandle } from './objects/handle.ts';
import type { Keyboard, Mouse, Touchscreen } from './objects/input.ts';
import type { FrameLocator, Locator } from './objects/locator.ts';
import type { Request, Response } from './net/network.ts';
import type { Page } from './objects/page.ts';
import type { APIResponse } from './net/apiresponse.ts';
import type { APIRequest, APIRequestContext } from './net/request.ts';
import type { WebStorage } from './objects/webstorage.ts';
import type { Route } from './net/route.ts';
import type { WebSocket } from './net/websocket.ts';
import type { WebSocketRoute } from './net/websocketroute.ts';
import type { later, refusals } from './objects/refusals.ts';

/** Our classes, each next to Playwright's. */
interface Pairs {
  APIRequest: [APIRequest, pw.APIRequest];
  APIRequestContext: [APIRequestContext, pw.APIRequestContext];
  APIResponse: [APIResponse, pw.APIResponse];
  Browser: [Browser, pw.Browser];
  BrowserType: [BrowserType, pw.BrowserType];
  BrowserContext: [BrowserContext, pw.BrowserContext];
  CDPSession: [CDPSession, pw.CDPSession];
  Page: [Page, pw.Page];
  Frame: [Frame, pw.Frame];
  Locator: [Locator, pw.Locator];
  FrameLocator: [FrameLocator, pw.FrameLocator];
  JSHandle: [JSHandle, pw.JSHandle<any>];
  ElementHandle: [ElementHandle, pw.ElementHandle<any>];
  Keyboard: [Keyboard, pw.Keyboard];
  Mouse: [Mouse, pw.Mouse];
  Touchscreen: [Touchscreen, pw.Touchscreen];
  Coverage: [Coverage, pw.Coverage];
  Dialog: [Dialog, pw.Dialog];
  Clock: [Clock, pw.Clock];
  Tracing: [Tracing, pw.Tracing];
  ConsoleMessage: [ConsoleMessage, pw.ConsoleMessage];
  WebError: [WebError, pw.WebError];
  Worker: [Worker, pw.Worker];
  Download: [Download, pw.Download];
  FileChooser: [FileChooser, pw.FileChooser];
  Disposable: [Disposable, pw.Disposable];
  Request: [Request, pw.Request];
  Response: [Response, pw.Response];
  WebStorage: [WebStorage, pw.WebStorage];
  Route: [Route, pw.Route];
  WebSocket: [WebSocket, pw.WebSocket];
  WebSocketRoute: [WebSocketRoute, pw.WebSocketRoute];
}

/** Members of the emitter that are missing in Playwright's types. */
type Plumbing = `_${string}` | 'toJSON' | 'emit' | 'listenerCount' | 'addListener' | 'prependListener' | 'removeListener' | 'on' | 'once' | 'off' | 'removeAllListeners';

/** Members that we added, and that docs/api-table.md and the editor's types list. */
type Added = 'waitForSettled';

/** Public members of ours that Playwright's class does not have. */
type Invented<Ours, Theirs> = Exclude<keyof Ours, keyof Theirs | Plumbing | Added | 'toString' | 'page'>;

/** Places where our types differ from Playwright's, with tsc's reason. */
interface Known {
  // The types of our handles do not say what value they refer to.
  'Page.evaluateHandle gives something else': true;
  'Page.waitForFunction gives something else': true;
  'Frame.evaluateHandle gives something else': true;
  'Frame.waitForFunction gives something else': true;
  'JSHandle.evaluateHandle gives something else': true;
  'ElementHandle.evaluateHandle gives something else': true;
  'Worker.evaluateHandle gives something else': true;
  // Options contain locators of our own class.
  'Page.locator refuses arguments': true;
  'Frame.locator refuses arguments': true;
  'Locator.locator refuses arguments': true;
  'Locator.filter refuses arguments': true;
  'FrameLocator.locator refuses arguments': true;
  'Page.addLocatorHandler refuses arguments': true;
  // A frame locator without a selector is not implemented yet.
  'Page.frameLocator refuses arguments': true;
  'Frame.frameLocator refuses arguments': true;
}

type Common<Ours, Theirs> = Exclude<keyof Ours & keyof Theirs, Plumbing>;
type Method = (...args: any[]) => unknown;

/** The largest number of arguments of a method, as a literal type. */
type Most<F> = F extends (...args: infer A) => unknown ? Required<A>['length'] : never;

/** Methods whose last overload takes more arguments in Playwright than here. */
type Short<Ours, Theirs> = {
  [K in Common<Ours, Theirs>]: Theirs[K] extends Method ? Fits<Most<Theirs[K]>, Most<Ours[K]>> extends true ? never : K : never
}[Common<Ours, Theirs>];

type Counts<N extends number, A extends unknown[] = []> = A['length'] extends N ? A : A['length'] extends 8 ? A : Counts<N, [...A, unknown]>;
type Fits<Theirs, Ours> = [Theirs] extends [number] ? [Ours] extends [number] ? Counts<Ours> extends [...Counts<Theirs>, ...unknown[]] ? true : false : true : true;

/** Replaces our classes by Playwright's, also inside other types. */
type AsTheirs<T> = 0 extends 1 & T ? any
  : T extends Promise<infer U> ? Promise<AsTheirs<U>>
  : T extends (infer U)[] ? AsTheirs<U>[]
  : T extends readonly (infer U)[] ? readonly AsTheirs<U>[]
  : T extends Map<infer K, infer V> ? Map<K, AsTheirs<V>>
  : { [K in keyof Pairs]: T extends Pairs[K][0] ? Pairs[K][0] extends T ? Pairs[K][1] : never : never }[keyof Pairs] extends infer Found ? [Found] extends [never] ? T : Found
  : never;

/** The result of a method, or the value of a property. */
type Given<M> = M extends (...args: any[]) => infer R ? R : M;

/** Members whose type is not compatible with that of Playwright's member. */
type Different<Ours, Theirs> = {
  [K in Common<Ours, Theirs>]: [AsTheirs<Given<Ours[K]>>] extends [Given<Theirs[K]>] ? never : K
}[Common<Ours, Theirs>];

/** Methods that refuse an argument of Playwright's last overload. */
type Picky<Ours, Theirs> = {
  [K in Common<Ours, Theirs>]: Theirs[K] extends (...args: infer A) => unknown ? Ours[K] extends (...args: infer B) => unknown ? Takes<A, B> extends true ? never : K : K : never
}[Common<Ours, Theirs>];

type Takes<Theirs extends unknown[], Ours extends unknown[]> = {
  [I in keyof Theirs]-?: I extends keyof Ours ? [Theirs[I]] extends [AsTheirs<Ours[I]>] ? true : false : true
}[number] extends true ? true : false;

type Name<K> = K extends string ? K : 'a symbol';

type Problem = { [C in keyof Pairs]:
  | `${C}.${Name<Invented<Pairs[C][0], Pairs[C][1]>>} is not Playwright's`
  | `${C}.${Name<Short<Pairs[C][0], Pairs[C][1]>>} takes fewer arguments`
  | `${C}.${Name<Different<Pairs[C][0], Pairs[C][1]>>} gives something else`
  | `${C}.${Name<Picky<Pairs[C][0], Pairs[C][1]>>} refuses arguments`
}[keyof Pairs];

/** Refused members must exist in Playwright and not here. */
type Misplaced = { [C in keyof typeof refusals]: C extends keyof Pairs ? `${C}.${Name<Exclude<keyof typeof refusals[C], Exclude<keyof Pairs[C][1], keyof Pairs[C][0]>>>} is refused but there, or not Playwright's` : C }[keyof typeof refusals];

type Refused<C> = (C extends keyof typeof refusals ? keyof typeof refusals[C] : never) | (C extends keyof typeof later ? keyof typeof later[C] : never);

/** Playwright's members that our class does not have and that refusals.ts does not list. */
type Missing = { [C in keyof Pairs]: `${C}.${Exclude<keyof Pairs[C][1], keyof Pairs[C][0] | Refused<C> | symbol | Plumbing>} is missing: write it, or refuse it in refusals.ts` }[keyof Pairs];

type None<T extends never> = T;

/** Unknown differences, and listed differences that no longer exist. */
export type Checks = [None<Exclude<Problem, keyof Known>>, None<Exclude<keyof Known, Problem>>, None<Misplaced>, None<Missing>];
