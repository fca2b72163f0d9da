// Records which code of a page ran and which of its styles were used. Chromium counts; this class uses a CDP session with the page, like those of
// newCDPSession.

import { quietly, step, type Send } from '../core/call.ts';
import { CDPSession } from './cdp.ts';
import { listen } from '../core/emitter.ts';
import type { Page } from './page.ts';

/** The largest number of scripts or style sheets that are reported. Later ones are omitted. */
const maxSources = 10_000;
/** The largest number of characters that are kept. A script whose text no longer fits is reported without it. */
const maxText = 64 << 20;

/** The name of our own code in pages (evaluatorURL in automation/pageside.go). */
const ownURL = 'evaluator';

interface JSOptions { resetOnNavigation?: boolean; reportAnonymousScripts?: boolean }
interface CSSOptions { resetOnNavigation?: boolean }
interface JSEntry {
  url: string; scriptId: string; source?: string;
  functions: { functionName: string; isBlockCoverage: boolean; ranges: { count: number; startOffset: number; endOffset: number }[] }[];
}
interface CSSEntry { url: string; text?: string; ranges: { start: number; end: number }[] }

/** Records which of a page's code and styles are used. */
export class Coverage {
  #page: Page;
  #js: Recording | undefined;
  #css: Recording | undefined;
  #anonymous = false;

  constructor(page: Page) { this.#page = page; }

  startJSCoverage(options: JSOptions = {}): Promise<void> {
    return this.#step('startJSCoverage', async send => {
      if (this.#js)
        throw new Error('JSCoverage is already enabled');
      this.#anonymous = options.reportAnonymousScripts ?? false;
      const js = this.#js = new Recording(this.#page, options.resetOnNavigation ?? true);
      await js.begin(send, async () => {
        js.on('Debugger.scriptParsed', ({ scriptId, url, length, executionContextAuxData }) => {
          if ((url || this.#anonymous) && url !== ownURL && executionContextAuxData?.isDefault !== false) // skip worlds of other clients
            js.add(scriptId, url, length, async () => (await js.quietly('Debugger.getScriptSource', { scriptId })).scriptSource);
        });
        js.on('Debugger.paused', () => js.quietly('Debugger.resume'));
        await js.call(send, 'Profiler.enable');
        await js.call(send, 'Profiler.startPreciseCoverage', { callCount: true, detailed: true });
        await js.call(send, 'Debugger.enable');
        await js.call(send, 'Debugger.setSkipAllPauses', { skip: true });
      }).catch(e => {
        this.#js = undefined;
        throw e;
      });
    });
  }

  stopJSCoverage(): Promise<JSEntry[]> {
    return this.#step('stopJSCoverage', async send => {
      const js = this.#js;
      this.#js = undefined;
      return !js ? [] : js.end(send, async () => {
        const { result } = await js.call(send, 'Profiler.takePreciseCoverage') as { result: JSEntry[] };
        await js.texts();
        return result.filter(entry => js.sources.has(entry.scriptId)).map(entry => {
          const { text } = js.sources.get(entry.scriptId)!;
          return text === undefined ? entry : { url: entry.url, scriptId: entry.scriptId, source: text, functions: entry.functions };
        });
      });
    });
  }

  startCSSCoverage(options: CSSOptions = {}): Promise<void> {
    return this.#step('startCSSCoverage', async send => {
      if (this.#css)
        throw new Error('CSSCoverage is already enabled');
      const css = this.#css = new Recording(this.#page, options.resetOnNavigation ?? true);
      await css.begin(send, async () => {
        css.on('CSS.styleSheetAdded', ({ header: { styleSheetId, sourceURL, length } }) => {
          if (sourceURL)
            css.add(styleSheetId, sourceURL, length, async () => (await css.quietly('CSS.getStyleSheetText', { styleSheetId })).text);
        });
        await css.call(send, 'DOM.enable');
        await css.call(send, 'CSS.enable');
        await css.call(send, 'CSS.startRuleUsageTracking');
      }).catch(e => {
        this.#css = undefined;
        throw e;
      });
    });
  }

  stopCSSCoverage(): Promise<CSSEntry[]> {
    return this.#step('stopCSSCoverage', async send => {
      const css = this.#css;
      this.#css = undefined;
      return !css ? [] : css.end(send, async () => {
        const { ruleUsage } = await css.call(send, 'CSS.stopRuleUsageTracking') as { ruleUsage: (Rule & { styleSheetId: string })[] };
        await css.texts();
        return [...css.sources].map(([id, { url, text }]) =>
          ({ url, ...text !== undefined && { text }, ranges: usedRanges(ruleUsage.filter(rule => rule.styleSheetId === id)) }));
      });
    });
  }

  #step<T>(method: string, body: (send: Send) => Promise<T>): Promise<T> {
    return step(`coverage.${method}`, () => `page.coverage.${method}()`, body);
  }

  /** @internal */
  toJSON(): object { return { _type: 'Coverage' }; }
}

/** A script or a style sheet. */
interface Source { url: string; text?: string }

/** One recording: its session, and the sources reported to it. */
class Recording {
  readonly sources = new Map<string, Source>();
  #reading = new Set<Promise<void>>();
  #room = maxText;
  #session: CDPSession | undefined;
  #page: Page;
  #reset: boolean;

  constructor(page: Page, reset: boolean) {
    this.#page = page;
    this.#reset = reset;
  }

  /** Opens the session; set starts recording. */
  async begin(send: Send, set: () => Promise<void>): Promise<void> {
    const { session } = await send<{ session: string }>('cdp.attach', this.#page._where);
    this.#session = new CDPSession(this.#page._world, session);
    this.#page._world.sessions.set(session, this.#session);
    this.on('Page.frameNavigated', ({ frame }) => {
      if (this.#reset && !frame.parentId)
        this.#forget();
    });
    try {
      await this.call(send, 'Page.enable');
      await set();
    } catch (e) {
      await this.#detach(send);
      throw e;
    }
  }

  /** Closes the session after take has fetched the recording. */
  async end<T>(send: Send, take: () => Promise<T>): Promise<T> {
    try {
      return await take();
    } finally {
      await this.#detach(send);
    }
  }

  on(event: string, listener: (params: any) => unknown): void { listen(this.#session!, event, listener); }

  async call(send: Send, method: string, params?: object): Promise<any> {
    return (await send<{ result: unknown }>('cdp.send', { session: this.#session!._guid, method, params })).result;
  }

  /** Sends a command in response to an event. The result is empty if that fails, for example because the target is gone. */
  async quietly(method: string, params?: object): Promise<any> {
    try {
      return (await quietly<{ result: unknown }>('cdp.send', { session: this.#session!._guid, method, params })).result;
    } catch {
      return {};
    }
  }

  /** Adds a source, and its text if there is room. */
  add(id: string, url: string, length: number, read: () => Promise<string | undefined>): void {
    if (this.sources.size >= maxSources)
      return;
    const source: Source = { url };
    this.sources.set(id, source);
    if (length > this.#room)
      return;
    this.#room -= length;
    const reading = read().then(text => {
      if (text !== undefined)
        source.text = text;
      this.#reading.delete(reading);
    });
    this.#reading.add(reading);
  }

  /** Waits until all requested texts have arrived. */
  async texts(): Promise<void> { await Promise.all(this.#reading); }

  #forget(): void {
    this.sources.clear();
    this.#room = maxText;
  }

  async #detach(send: Send): Promise<void> {
    await send('cdp.detach', { session: this.#session!._guid }).catch(() => {}); // fails if the page is gone
    this.#session!._onClosed();
  }
}

interface Rule { startOffset: number; endOffset: number; used: boolean }

/** Returns the parts of a text in which the innermost rule was used, in order. */
function usedRanges(rules: Rule[]): { start: number; end: number }[] {
  const edges = rules.filter(rule => rule.startOffset < rule.endOffset).flatMap((rule, i) => [{ at: rule.startOffset, begins: true, rule, i }, { at: rule.endOffset, begins: false, rule, i }]);
  const lengthOf = ({ rule }: { rule: Rule }) => rule.endOffset - rule.startOffset;
  edges.sort((a, b) => a.at - b.at || Number(a.begins) - Number(b.begins) || (a.begins ? lengthOf(b) - lengthOf(a) || a.i - b.i : lengthOf(a) - lengthOf(b) || b.i - a.i));
  const used: { start: number; end: number }[] = [];
  const open: Rule[] = [];
  let last = 0;
  for (const { at, begins, rule } of edges) {
    if (open.at(-1)?.used && last < at) {
      const before = used.at(-1);
      if (before?.end === last)
        before.end = at;
      else
        used.push({ start: last, end: at });
    }
    last = at;
    if (begins)
      open.push(rule);
    else
      open.splice(open.lastIndexOf(rule), 1);
  }
  return used;
}
