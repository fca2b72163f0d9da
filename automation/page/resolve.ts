import type { Injected, ParsedSelector, SelectorPart } from './injected.ts';
import { again, Fatal, type Task } from './task.ts';

/** The target of an operation: the elements of a selector, or one known element. */
export interface Target {
  selector: string;
  strict?: boolean;
  /** The index of this frame's part in a selector that enters frames. */
  chunk?: number;
  /** The root of the search instead of the document; the element itself for ":scope". */
  scope?: Node;
  /** Whether the frame's own element is visible in all its parents. Default true. */
  frameVisible?: boolean;
  /** Do not log what the operation waits for. */
  quiet?: boolean;
}

const enterFrame = (p: SelectorPart) => p.name === 'internal:control' && p.body === 'enter-frame';

/** Parses selectors and splits them where they enter frames. */
export class Resolver {
  private readonly parsed = new Map<string, ParsedSelector[]>();

  constructor(private readonly injected: Injected) {}

  /** A selector in the form of a Playwright locator in JavaScript. */
  describe(selector: string): string {
    try {
      return this.injected.utils.asLocator('javascript', selector);
    } catch {
      return selector;
    }
  }

  /** Returns the selector's parts, one per frame. */
  chunks(selector: string): ParsedSelector[] {
    let chunks = this.parsed.get(selector);
    if (!chunks) {
      chunks = this.split(selector);
      this.parsed.set(selector, chunks);
    }
    return chunks;
  }

  private split(selector: string): ParsedSelector[] {
    let all: ParsedSelector;
    try {
      all = this.injected.parseSelector(selector);
    } catch (e) {
      throw new Fatal(e instanceof Error ? e.message : String(e));
    }
    const chunks: ParsedSelector[] = [{ parts: [] }];
    all.parts.forEach((part, i) => {
      const chunk = chunks[chunks.length - 1]!;
      if (part.name === 'internal:control' && part.body === 'any-frame')
        throw new Fatal(`frameLocator() without a selector is not supported, while parsing selector ${selector}`);
      if (enterFrame(part)) {
        if (!chunk.parts.length)
          throw new Fatal('Selector cannot start with entering frame, select the iframe first');
        chunks.push({ parts: [] });
        return;
      }
      if (entersFrameInside(part))
        throw new Fatal(`Frame locators are not allowed inside composite locators, while querying "${this.describe(selector)}"`);
      if (all.capture === i)
        chunk.capture = chunk.parts.length;
      chunk.parts.push(part);
    });
    const last = chunks[chunks.length - 1]!;
    if (!last.parts.length)
      throw new Fatal(`Selector cannot end with entering frame, while parsing selector ${selector}`);
    if (all.capture !== undefined && last.capture === undefined)
      throw new Fatal('Can not capture the selector before diving into the frame. Only use * after the last frame has been selected');
    return chunks;
  }

  /** Returns all elements, in document order. If strict, more than one is an error. */
  all(target: Target): Element[] {
    const chunks = this.chunks(target.selector);
    const parsed = chunks[target.chunk ?? chunks.length - 1]!;
    const elements = this.elementsOf(parsed, target);
    this.injected.checkDeprecatedSelectorUsage(parsed, elements);
    if (target.strict && elements.length > 1)
      throw this.injected.strictModeViolationError(parsed, elements);
    return elements;
  }

  private elementsOf(parsed: ParsedSelector, target: Target): Element[] {
    if (target.scope && parsed.parts.length === 1 && parsed.parts[0]!.source === ':scope')
      return [target.scope as Element];
    return this.injected.querySelectorAll(parsed, target.scope ?? this.injected.document);
  }

  /** Evaluates each part of a selector once, because some parts are parsed only then. */
  tryOut(selector: string): void {
    for (const chunk of this.chunks(selector)) this.elementsOf(chunk, { selector });
  }

  /** Returns the iframe element to which the target's part leads. */
  frameElement(target: Target): Element | undefined {
    const elements = this.all(target);
    for (const e of elements) {
      if (e.nodeName !== 'IFRAME' && e.nodeName !== 'FRAME')
        throw this.injected.createStacklessError(`Selector "${this.textOf(target)}" resolved to ${this.injected.previewNode(e)}, <iframe> was expected`);
    }
    return elements[0];
  }

  // Returns the part of a selector for the target's own frame.
  private textOf(target: Target): string {
    const chunks = this.chunks(target.selector);
    const { parts } = chunks[target.chunk ?? chunks.length - 1]!;
    return parts.map(p => (p.name === 'css' ? p.source : `${p.name}=${p.source}`)).join(' >> ');
  }

  /** Logs what the operation waits for. */
  announce(task: Task, target: Target, suffix = '') {
    if (!target.quiet && target.selector !== ':scope')
      task.log.push(`waiting for ${this.describe(target.selector)}${suffix}`);
  }

  /** Waits for an element and passes it to body, which may ask for another attempt. With late, the log does not say which element was found. */
  find<T>(task: Task, target: Target, o: { frameVisible?: boolean; late?: boolean }, body: (element: Element) => T | typeof again | Promise<T | typeof again>): Promise<T> {
    return task.poll(() => {
      const elements = this.all(target);
      const element = elements[0];
      if (!element)
        return again;
      if (!o.late)
        this.resolved(task, target, elements);
      if (o.frameVisible && target.frameVisible === false) {
        task.log.push('  element is inside a hidden frame, retrying');
        return again;
      }
      return body(element);
    });
  }

  private resolved(task: Task, target: Target, elements: Element[]) {
    const preview = this.injected.previewNode(elements[0]!);
    if (elements.length > 1)
      task.log.push(`  locator resolved to ${elements.length} elements. Proceeding with the first one: ${preview}`);
    else if (target.selector !== ':scope')
      task.log.push(`  locator resolved to ${preview}`);
  }

  /** Handles an element that was detached. Throws if it is the target's own element; otherwise asks for another attempt. */
  detached(task: Task, target: Target, element: Element): typeof again {
    if (target.scope === element)
      throw new Fatal('Element is not attached to the DOM');
    task.log.push('element was detached from the DOM, retrying');
    return again;
  }
}

function entersFrameInside(part: SelectorPart): boolean {
  const nested = (part.body as { parsed?: ParsedSelector } | null)?.parsed;
  return !!nested && nested.parts.some(p => enterFrame(p) || entersFrameInside(p));
}
