// Checked by tsc, never bundled: the classes here say what Playwright's published
// types say. Members that Playwright does not have, and methods that do not take
// what Playwright's take, are errors.

import type * as pw from 'playwright-core';
import type { Browser, BrowserType } from './browser.ts';
import type { BrowserContext } from './context.ts';
import type { Dialog } from './dialog.ts';
import type { Frame } from './frame.ts';
import type { ElementHandle, JSHandle } from './handle.ts';
import type { Keyboard, Mouse, Touchscreen } from './input.ts';
import type { FrameLocator, Locator } from './locator.ts';
import type { Request, Response } from './network.ts';
import type { Page } from './page.ts';

/** Members of the emitter that Playwright's types leave out. */
type Plumbing = `_${string}` | 'toJSON' | 'emit' | 'listenerCount' | 'addListener' | 'removeListener' | 'on' | 'once' | 'off' | 'removeAllListeners';

/** Our public members that Playwright's class does not have. */
type Invented<Ours, Theirs> = Exclude<keyof Ours, keyof Theirs | Plumbing | 'toString' | 'page'>;

/** Methods whose last options are for a later version: exposeFunctions. */
type Later = 'evaluate' | 'evaluateHandle';

/** How many arguments a method takes at most, as a literal. */
type Most<F> = F extends (...args: infer A) => unknown ? Required<A>['length'] : never;

/** Methods of both whose last overload takes more arguments in Playwright than here. */
type Short<Ours, Theirs> = {
  [K in Exclude<keyof Ours & keyof Theirs, Plumbing | Later>]: Theirs[K] extends (...args: any[]) => unknown
    ? Fits<Most<Theirs[K]>, Most<Ours[K]>> extends true ? never : K : never
}[Exclude<keyof Ours & keyof Theirs, Plumbing | Later>];

type Counts<N extends number, A extends unknown[] = []> = A['length'] extends N ? A : A['length'] extends 8 ? A : Counts<N, [...A, unknown]>;
type Fits<Theirs, Ours> = [Theirs] extends [number] ? [Ours] extends [number] ? Counts<Ours> extends [...Counts<Theirs>, ...unknown[]] ? true : false : true : true;

type None<T extends never> = T;

/** One line a class. */
export type Checks = [
  None<Invented<Browser, pw.Browser>>, None<Short<Browser, pw.Browser>>,
  None<Invented<BrowserType, pw.BrowserType>>, None<Short<BrowserType, pw.BrowserType>>,
  None<Invented<BrowserContext, pw.BrowserContext>>, None<Short<BrowserContext, pw.BrowserContext>>,
  None<Invented<Page, pw.Page>>, None<Short<Page, pw.Page>>,
  None<Invented<Frame, pw.Frame>>, None<Short<Frame, pw.Frame>>,
  None<Invented<Locator, pw.Locator>>, None<Short<Locator, pw.Locator>>,
  None<Invented<FrameLocator, pw.FrameLocator>>, None<Short<FrameLocator, pw.FrameLocator>>,
  None<Invented<JSHandle, pw.JSHandle>>, None<Short<JSHandle, pw.JSHandle>>,
  None<Invented<ElementHandle, pw.ElementHandle>>, None<Short<ElementHandle, pw.ElementHandle>>,
  None<Invented<Keyboard, pw.Keyboard>>, None<Short<Keyboard, pw.Keyboard>>,
  None<Invented<Mouse, pw.Mouse>>, None<Short<Mouse, pw.Mouse>>,
  None<Invented<Touchscreen, pw.Touchscreen>>, None<Short<Touchscreen, pw.Touchscreen>>,
  None<Invented<Dialog, pw.Dialog>>, None<Short<Dialog, pw.Dialog>>,
  None<Invented<Request, pw.Request>>, None<Short<Request, pw.Request>>,
  None<Invented<Response, pw.Response>>, None<Short<Response, pw.Response>>,
];
