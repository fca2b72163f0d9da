import { Elements, fontsLoaded, type ActOptions, type Property } from './elements.ts';
import { Expectations, Unmet, type ExpectOptions } from './expect.ts';
import { domEvent } from './domevent.ts';
import type { Dropped } from './drop.ts';
import type { AriaOptions, Injected, ParsedSelector, Point } from './injected.ts';
import { Pointer, type PointerOptions } from './pointer.ts';
import { Resolver, type Target } from './resolve.ts';
import { drawing } from './drawing.ts';
import { scrollPage } from './scroll.ts';
import { Screenshots, type ShotOptions } from './screenshot.ts';
import { isSecret } from '../../capture/page/secret.ts';
import { hideSecrets, type AriaNode } from './secrets.ts';
import { Expired, Fatal, Ready, Task } from './task.ts';
import { parse, type Tagged } from './serialize.ts';
import { outline, sourceMap, summary } from './outline.ts';
import { vitals } from './vitals.ts';

/** The parameters of every operation, besides objects. */
interface Request extends Omit<Target, 'scope'> {
  /** The number by which the operation can be aborted. */
  task: number;
  /** Milliseconds; 0 for none. */
  timeout?: number;
  /** The number of the attempt that replied ready and now continues. */
  resumed?: number;
  /** Whether the operation continues an earlier one that has already logged what it waits for. */
  quiet?: boolean;
}

/** The result of an operation. */
interface Reply {
  value?: unknown;
  log?: string[];
  /** The locator, for messages about an operation that did not finish. */
  locator?: string;
  expired?: true;
  /** The attempt could continue, but asks the server first. */
  ready?: true;
  attempt?: number;
  error?: string;
  /** The error is Playwright's own refusal, and is not shown as an error of the page. */
  fatal?: true;
}

const states = { attached: 1, detached: 1, visible: 1, hidden: 1 };

/** The page side of automation in one execution context. Go holds it by object id and calls its methods. The page cannot see it. */
export class Layer {
  private readonly tasks = new Map<number, Task>();
  private readonly kept = new Map<number, Element>();
  private readonly resolver: Resolver;
  private readonly elements: Elements;
  private readonly pointer: Pointer;
  private readonly expectations: Expectations;
  private highlights: { source: string; selector: ParsedSelector; cssStyle?: string }[] = [];
  private readonly screenshots = new Screenshots();

  constructor(private readonly injected: Injected) {
    this.resolver = new Resolver(injected);
    this.elements = new Elements(injected, this.resolver);
    this.pointer = new Pointer(injected, this.resolver);
    this.expectations = new Expectations(injected, this.resolver);
  }

  /** Aborts an operation that is waiting. */
  abort(task: number) { this.tasks.get(task)?.abort(); }

  /** Returns a selector of an element. */
  selectorOf(element: Element): string { return this.injected.generateSelectorSimple(element); }

  get(r: Request & { property: Property; name?: string }, scope?: Node) {
    return this.run(r, scope, (task, target) => this.elements.get(task, target, r.property, r.name));
  }

  isVisible(r: Request, scope?: Node) {
    return this.run(r, scope, (task, target) => {
      task.log.push(`  checking visibility of ${this.resolver.describe(r.selector)}`);
      return this.elements.isVisible(target);
    });
  }

  /** Returns whether the element holds a secret; null while there is no element. */
  isSecret(r: Request, scope?: Node) {
    return this.run(r, scope, (_, target) => {
      const [element] = this.resolver.all(target);
      return element ? isSecret(element) : null;
    });
  }

  count(r: Request, scope?: Node) {
    return this.run(r, scope, (_, target) => this.resolver.all(target).length);
  }

  list(r: Request & { property: 'innerText' | 'textContent' }, scope?: Node) {
    return this.run(r, scope, (_, target) => this.elements.list(target, r.property));
  }

  fill(r: Request & ActOptions, scope?: Node) {
    return this.run(r, scope, (task, target) => this.elements.fill(task, target, r));
  }

  selectText(r: Request & ActOptions, scope?: Node) {
    return this.run(r, scope, (task, target) => this.elements.selectText(task, target, r));
  }

  selectOption(r: Request & ActOptions, scope?: Node, ...elements: Element[]) {
    const options = [...elements, ...r.options ?? []];
    return this.run(r, scope, (task, target) => this.elements.selectOption(task, target, { ...r, options }));
  }

  focus(r: Request & ActOptions, scope?: Node) {
    return this.run(r, scope, (task, target) => this.elements.focus(task, target, r));
  }

  blur(r: Request, scope?: Node) {
    return this.run(r, scope, (task, target) => this.elements.blur(task, target));
  }

  dispatch(r: Request & { type: string; arg?: Tagged }, scope?: Node, ...handles: unknown[]) {
    return this.run(r, scope, (task, target) => this.elements.dispatch(task, target, { type: r.type, init: parse(r.arg, handles) }));
  }

  setInputFiles(r: Request & ActOptions, scope?: Node) {
    return this.run(r, scope, (task, target) => this.elements.setInputFiles(task, target, r));
  }

  fileInput(r: Request & { count: number }, scope?: Node) {
    return this.run(r, scope, (task, target) => this.elements.keepFileInput(task, target, r.count, input => { this.kept.set(r.task, input); }));
  }

  drop(r: Request & Dropped, scope?: Node) {
    return this.run(r, scope, (task, target) => this.elements.drop(task, target, r, e => this.pointer.scroll(e, undefined)));
  }

  highlight(r: Omit<Target, 'scope'>, style: string) {
    this.hideHighlight(r);
    const chunks = this.resolver.chunks(r.selector);
    this.highlights.push({ source: r.selector, selector: chunks[r.chunk ?? chunks.length - 1]!, cssStyle: style || undefined });
    this.injected.setHighlights(this.highlights);
  }

  hideHighlight(r: Omit<Target, 'scope'>) {
    this.highlights = this.highlights.filter(h => h.source !== r.selector);
    this.injected.setHighlights(this.highlights);
  }

  hideHighlights() {
    this.highlights = [];
    this.injected.setHighlights([]);
  }

  scrollIntoView(r: Request, scope?: Node) {
    return this.run(r, scope, (task, target) => this.elements.scrollIntoView(task, target, e => this.pointer.scroll(e, undefined)));
  }

  screenshotRect(r: Request, scope?: Node) {
    return this.run(r, scope, (task, target) => this.elements.frameForScreenshot(task, target, e => this.pointer.scroll(e, undefined)));
  }

  ariaSnapshot(r: Request & Partial<AriaOptions>, scope?: Node) {
    return this.snapshot(r, scope, (e, options) => this.injected.ariaSnapshot(e, options));
  }

  /** Returns a snapshot as a tree, with the references and depths of the frames in it. With hide, it does not have what secret fields hold. */
  ariaTree(r: Request & Partial<AriaOptions> & { hide?: boolean }, scope?: Node) {
    return this.snapshot(r, scope, (e, options) => {
      const answer = this.injected.ariaSnapshotJSON(e, options);
      if (r.hide)
        answer.json = hideSecrets(answer.json, this.resolver.all({ selector: 'input, textarea, [contenteditable]' }));
      return answer;
    });
  }

  /**
   * Returns the text of a tree, which may consist of several frames. The injected script formats the tree that its ariaSnapshotJSON returns, so it is
   * called on an object whose ariaSnapshotJSON returns the given tree.
   */
  ariaText(r: Request & { tree: unknown[] }) {
    const found = { ariaSnapshotJSON: () => ({ json: r.tree }) };
    return this.run(r, undefined, () => this.injected.ariaSnapshot.call(found, document, { mode: 'ai' }));
  }

  /** Inserts frame snapshots below the frames' elements, by reference. */
  ariaJoin(r: Request & { tree: AriaNode[]; frames: Record<string, AriaNode[]> }) {
    const fill = (node: AriaNode) => {
      if (typeof node === 'string')
        return;
      const inside = r.frames[node.ref ?? ''];
      if (!inside?.length)
        return node.children?.forEach(fill);
      delete node.text;
      node.children = inside;
    };
    return this.run(r, undefined, () => {
      r.tree.forEach(fill);
      return r.tree;
    });
  }

  private snapshot(r: Request & Partial<AriaOptions>, scope: Node | undefined, take: (element: Element, options: AriaOptions) => unknown) {
    return this.run(r, scope, (task, target) => {
      this.resolver.announce(task, target);
      return this.resolver.find(task, target, {}, e => take(e, { mode: r.mode ?? 'default', depth: r.depth, boxes: r.boxes }));
    });
  }

  expect(r: Request & ExpectOptions, scope?: Node, ...handles: unknown[]) {
    return this.run(r, scope, (task, target) => this.expectations.run(task, target, r, handles));
  }

  /** Waits for an element. With keep, take can fetch it afterwards. Returns whether there is one. */
  waitFor(r: Request & { state?: keyof typeof states; keep?: boolean }, scope?: Node) {
    return this.run(r, scope, async (task, target) => {
      const element = await this.elements.waitFor(task, target, r.state ?? 'visible');
      if (element && r.keep)
        this.kept.set(r.task, element);
      return !!element;
    });
  }

  /** Waits until a known element has a state. */
  waitForState(r: Request & { state: string }, scope: Element) {
    return this.run(r, scope, task => this.elements.waitForState(task, scope, r.state));
  }

  /** Finds the element of a frame. found is false if it does not exist yet. */
  enterFrame(r: Request, scope?: Node) {
    return this.run(r, scope, (_, target) => {
      const element = this.resolver.frameElement(target);
      if (!element)
        return { found: false };
      this.kept.set(r.task, element);
      return { found: true, visible: (target.frameVisible ?? true) && this.injected.utils.isElementVisible(element) };
    });
  }

  /** Returns how many parts a selector has. It is split where it enters a frame. */
  chunks(r: Request) {
    return this.run(r, undefined, () => this.resolver.chunks(r.selector).length);
  }

  /** Returns what is wrong with a selector, or an empty text. The selector need not match anything. */
  selectorError(selector: string): string {
    try {
      this.resolver.tryOut(selector);
      return '';
    } catch (e) {
      return e instanceof Error ? e.message : String(e);
    }
  }

  /** Returns the element that an operation kept. */
  take(task: number): Element | undefined {
    const element = this.kept.get(task);
    this.kept.delete(task);
    return element;
  }

  /** Returns the first element by reference, or null. */
  query(r: Omit<Target, 'scope'>, scope?: Node): Element | null {
    return this.resolver.all({ ...r, scope })[0] ?? null;
  }

  /** Returns all elements by reference. */
  queryAll(r: Omit<Target, 'scope'>, scope?: Node): Element[] {
    return this.resolver.all({ ...r, strict: false, scope });
  }

  aim(r: Request & PointerOptions, scope?: Node) {
    return this.run(r, scope, (task, target) => this.pointer.prepare(task, target, r));
  }

  finish(id: number, checked?: boolean | null, remote?: boolean) { return this.pointer.finish(id, checked, remote); }
  abandon(id: number) { this.pointer.abandon(id); }

  /** Converts a point of a frame to a point of this document, and returns what covers the frame at that point. `element` is the frame's element. */
  outward(element: HTMLElement, point: Point, hit: boolean): { x: number; y: number; covered?: string } | null {
    if (!element.isConnected)
      return null;
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const scaleX = element.offsetWidth ? box.width / element.offsetWidth : 1;
    const scaleY = element.offsetHeight ? box.height / element.offsetHeight : 1;
    const x = box.x + (element.clientLeft + parseFloat(style.paddingLeft) + point.x) * scaleX;
    const y = box.y + (element.clientTop + parseFloat(style.paddingTop) + point.y) * scaleY;
    const result = hit ? this.injected.expectHitTarget({ x, y }, element) : 'done';
    return { x, y, covered: result === 'done' ? undefined : result.hitTargetDescription };
  }

  async beginScreenshot(o: ShotOptions, whole: boolean) {
    await fontsLoaded();
    return this.screenshots.begin(o, whole);
  }
  maskForScreenshot(r: Omit<Target, 'scope'>, color: string, scope?: Node) { this.screenshots.mask(this.queryAll(r, scope), color); }
  endScreenshot() { this.screenshots.end(); }
  isConnected(node: Node) { return node.isConnected; }
  preview(node: Node) { return this.injected.previewNode(node); }
  title() { return document.title; }
  vitals() { return vitals(); }
  outline(most: number) { return outline(most); }
  summary(most: number) { return summary(most); }
  sourceMap(url: string, most: number) { return sourceMap(url, most); }
  domEvent(type: string) { return domEvent(type); }
  drawing() { return drawing(); }
  scrollPage(direction: Parameters<typeof scrollPage>[0], amount: number) { scrollPage(direction, amount); }
  content(includeShadow: boolean) { return this.injected.documentContent(includeShadow); }
  describe(selector: string) { return this.resolver.describe(selector); }
  spell(r: Request) { return this.run(r, undefined, () => this.resolver.describe(r.selector)); }

  /** Replaces the document. */
  setContent(html: string) {
    document.open();
    document.write(html);
    document.close();
  }

  private run(r: Request, scope: Node | undefined, body: (task: Task, target: Target) => unknown): Reply | Promise<Reply> {
    const task = new Task(this.injected, r.timeout ?? 0, r.resumed);
    const target: Target = { selector: r.selector, strict: r.strict, chunk: r.chunk, frameVisible: r.frameVisible, quiet: r.quiet, scope };
    let value: unknown;
    try {
      value = body(task, target);
    } catch (e) {
      return this.failed(task, r, e);
    }
    if (!(value instanceof Promise))
      return { value };
    this.tasks.set(r.task, task);
    return value.then(value => ({ value, log: task.log }), e => this.failed(task, r, e)).finally(() => {
      this.tasks.delete(r.task);
      task.dispose();
    });
  }

  private failed(task: Task, r: Request, e: unknown): Reply {
    const locator = this.resolver.describe(r.selector);
    if (e instanceof Expired)
      return { expired: true, value: e instanceof Unmet ? e.last : undefined, log: task.log, locator };
    if (e instanceof Ready)
      return { ready: true, attempt: task.attempt, log: task.log, locator };
    if (e instanceof Fatal)
      return { error: e.message, fatal: true, log: task.log, locator };
    const error = e instanceof Error ? `${e.name}: ${e.message}` : String(e);
    return { error, log: task.log, locator };
  }
}
