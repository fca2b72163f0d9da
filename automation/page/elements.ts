import { drop, type Dropped } from './drop.ts';
import type { FilePayload, Injected } from './injected.ts';
import { missingText } from './pointer.ts';
import type { Resolver, Target } from './resolve.ts';
import { again, Fatal, type Task } from './task.ts';

/** The readable properties of an element. */
export type Property = 'textContent' | 'innerText' | 'innerHTML' | 'inputValue' | 'attribute' | 'box'
  | 'enabled' | 'disabled' | 'editable' | 'checked' | 'preview' | 'selector';

export interface ActOptions {
  force?: boolean;
  value?: string;
  options?: unknown[];
  resetSelection?: boolean;
  files?: FilePayload[];
  type?: string;
  init?: unknown;
}

/** All operations that read or change elements without a pointer. */
export class Elements {
  constructor(private readonly injected: Injected, private readonly resolver: Resolver) {}

  /** Waits for the element and reads one property. */
  get(task: Task, target: Target, property: Property, name?: string): Promise<unknown> {
    this.resolver.announce(task, target);
    return this.resolver.find(task, target, { late: true }, element => this.read(element, property, name));
  }

  private read(element: Element, property: Property, name?: string): unknown {
    switch (property) {
      case 'textContent': return element.textContent;
      case 'innerHTML': return element.innerHTML;
      case 'attribute': return element.getAttribute(name!);
      case 'preview': return this.injected.previewNode(element);
      case 'selector': return this.injected.generateSelectorSimple(element);
      case 'innerText':
        if (element.namespaceURI !== 'http://www.w3.org/1999/xhtml')
          throw this.injected.createStacklessError('Node is not an HTMLElement');
        return (element as HTMLElement).innerText;
      case 'inputValue': {
        const input = this.injected.retarget(element, 'follow-label');
        if (!input || !['INPUT', 'TEXTAREA', 'SELECT'].includes(input.nodeName))
          throw this.injected.createStacklessError('Node is not an <input>, <textarea> or <select> element');
        return (input as HTMLInputElement).value;
      }
      case 'box': {
        if (!element.getClientRects().length)
          return null;
        const { x, y, width, height } = element.getBoundingClientRect();
        return { x, y, width, height };
      }
      default: {
        const state = this.injected.elementState(element, property);
        if (state.received === 'error:notconnected')
          throw new Fatal('Element is not attached to the DOM');
        return state.matches;
      }
    }
  }

  /** Returns whether the element exists and is visible now. */
  isVisible(target: Target): boolean {
    const element = this.resolver.all(target)[0];
    return !!element && this.injected.elementState(element, 'visible', target.frameVisible ?? true).matches;
  }

  /** Reads one property of each element. */
  list(target: Target, property: 'innerText' | 'textContent'): string[] {
    return this.resolver.all(target).map(e => (property === 'innerText' ? (e as HTMLElement).innerText : e.textContent) ?? '');
  }

  /** Waits until the element has a state. Returns the element, or undefined for detached and hidden. */
  waitFor(task: Task, target: Target, state: 'attached' | 'detached' | 'visible' | 'hidden'): Promise<Element | undefined> {
    this.resolver.announce(task, target, state === 'attached' ? '' : ` to be ${state}`);
    return task.poll<Element | undefined>(() => {
      if (target.scope && !target.scope.isConnected)
        throw new Fatal('Element is not attached to the DOM');
      const elements = this.resolver.all(target);
      const element = elements[0];
      const visible = !!element && this.injected.elementState(element, 'visible', target.frameVisible ?? true).matches;
      if (element) {
        const preview = this.injected.previewNode(element);
        task.log.push(elements.length > 1
          ? `  locator resolved to ${elements.length} elements. Proceeding with the first one: ${preview}`
          : `  locator resolved to ${visible ? 'visible' : 'hidden'} ${preview}`);
      }
      switch (state) {
        case 'attached': return element ?? again;
        case 'visible': return visible ? element : again;
        case 'detached': return element ? again : undefined;
        case 'hidden': return visible ? again : undefined;
      }
    });
  }

  /** Waits until the element of a handle reaches a state. */
  waitForState(task: Task, element: Element, state: string): Promise<void> {
    return task.tryAction(`wait for ${state}`, 0, async () => {
      const missing = await task.race(this.injected.checkElementStates(element, [state], true));
      return this.ready(task, missing) ? undefined : again;
    });
  }

  private ready(task: Task, missing: Awaited<ReturnType<Injected['checkElementStates']>>): boolean {
    if (missing === 'error:notconnected')
      throw new Fatal('Element is not attached to the DOM');
    if (missing)
      task.log.push(missingText(missing.missingState));
    return !missing;
  }

  /** Fills a control as far as the page can. After 'needsinput', the control is focused with its text selected, and the keyboard must do the rest. */
  fill(task: Task, target: Target, o: ActOptions): Promise<string> {
    const value = o.value!;
    return this.change(task, target, o, {
      name: 'fill', states: ['visible', 'enabled', 'editable', 'non-inert'], waiting: 'visible, enabled and editable',
      begin: `  fill("${value}")`, act: element => this.injected.fill(element, value),
    });
  }

  selectText(task: Task, target: Target, o: ActOptions): Promise<string> {
    return this.change(task, target, o, {
      name: 'selectText', states: ['visible'], waiting: 'visible', act: element => this.injected.selectText(element),
    });
  }

  /** Selects options and returns the selected values. */
  selectOption(task: Task, target: Target, o: ActOptions): Promise<string[] | string> {
    return this.change(task, target, o, {
      name: 'select option', states: ['visible', 'enabled', 'non-inert'], waiting: 'visible and enabled',
      act: element => {
        const result = this.injected.selectOptions(element, o.options!);
        if (result === 'error:optionsnotfound')
          return this.later(task, '  did not find some options');
        if (result === 'error:optionnotenabled')
          return this.later(task, '  option being selected is not enabled');
        if (Array.isArray(result))
          task.log.push('  selected specified option(s)');
        return result;
      },
    });
  }

  private later(task: Task, line: string): typeof again {
    task.log.push(line);
    return again;
  }

  private change<T>(task: Task, target: Target, o: ActOptions,
    how: { name: string; states: string[]; waiting: string; begin?: string; act: (element: Element) => T | string | typeof again }): Promise<T | string> {
    this.resolver.announce(task, target);
    return this.resolver.find<T | string>(task, target, { frameVisible: !o.force }, async element => {
      if (how.begin)
        task.log.push(how.begin);
      const result = await task.tryAction<T | string>(how.name, 0, async () => {
        if (!o.force) {
          task.log.push(`  waiting for element to be ${how.waiting}`);
          const missing = await task.race(this.injected.checkElementStates(element, how.states, target.frameVisible ?? true));
          if (missing === 'error:notconnected')
            return missing;
          if (!this.ready(task, missing))
            return again;
        }
        task.beforeChange();
        return how.act(element);
      });
      return result === 'error:notconnected' ? this.resolver.detached(task, target, element) : result;
    });
  }

  focus(task: Task, target: Target, o: ActOptions): Promise<string> {
    return this.once(task, target, element => this.injected.focusNode(element, o.resetSelection));
  }

  blur(task: Task, target: Target): Promise<string> {
    return this.once(task, target, element => this.injected.blurNode(element));
  }

  dispatch(task: Task, target: Target, o: ActOptions): Promise<string> {
    return this.once(task, target, element => {
      this.injected.dispatchEvent(element, o.type!, o.init);
      return 'done';
    });
  }

  private once(task: Task, target: Target, act: (element: Element) => string): Promise<string> {
    this.resolver.announce(task, target);
    return this.resolver.find(task, target, {}, element => {
      task.beforeChange();
      const result = act(element);
      return result === 'error:notconnected' ? this.resolver.detached(task, target, element) : result;
    });
  }

  scrollIntoView(task: Task, target: Target, scroll: (element: Element) => void): Promise<string> {
    this.resolver.announce(task, target);
    return this.resolver.find<string>(task, target, {}, async element => {
      const result = await task.tryAction<string>('scroll into view', 0, async () => {
        task.log.push('  waiting for element to be stable');
        const missing = await task.race(this.injected.checkElementStates(element, ['stable'], true));
        if (missing === 'error:notconnected')
          return missing;
        if (!this.ready(task, missing))
          return again;
        if (!element.isConnected)
          return 'error:notconnected';
        if (!element.getClientRects().length)
          return this.later(task, '  element is not visible');
        task.beforeChange();
        scroll(element);
        return 'done';
      });
      return result === 'error:notconnected' ? this.resolver.detached(task, target, element) : result;
    });
  }

  setInputFiles(task: Task, target: Target, o: ActOptions): Promise<string> {
    const files = o.files!;
    return this.once(task, target, element => {
      const input = this.fileInput(element, files.length);
      const problem = input ? this.injected.setInputFiles(input, files) : 'error:notconnected';
      if (problem && problem !== 'error:notconnected')
        throw this.injected.createStacklessError(problem);
      return problem ?? 'done';
    });
  }

  /** Drops files or data on the element once it is visible and stable. */
  drop(task: Task, target: Target, o: Dropped, scroll: (element: Element) => void): Promise<string> {
    return this.change(task, target, {}, {
      name: 'drop', states: ['visible', 'stable'], waiting: 'visible and stable',
      act: element => {
        scroll(element);
        task.log.push('  performing drop action');
        if (!drop(element, o))
          throw new Fatal('Drop target did not accept the drop — its dragover handler did not call preventDefault()');
        return 'done';
      },
    });
  }

  /** Keeps the input that gets the files, after checking that it accepts this number of files. */
  keepFileInput(task: Task, target: Target, count: number, keep: (input: Element) => void): Promise<string> {
    return this.once(task, target, element => {
      const input = this.fileInput(element, count);
      if (!input)
        return 'error:notconnected';
      keep(input);
      return 'done';
    });
  }

  private fileInput(element: Element, count: number): HTMLInputElement | null {
    const input = this.injected.retarget(element, 'follow-label') as HTMLInputElement | null;
    if (!input)
      return null;
    if (input.tagName !== 'INPUT')
      throw this.injected.createStacklessError('Node is not an HTMLInputElement');
    if (count > 1 && !input.multiple && !input.webkitdirectory)
      throw this.injected.createStacklessError('Non-multiple file input can only accept single file');
    if (input.webkitdirectory)
      throw this.injected.createStacklessError('[webkitdirectory] input requires passing a path to a directory');
    return input;
  }

  /** Returns the element's rectangle for a screenshot. First waits until the element is visible and stable, and scrolls it into view. */
  frameForScreenshot(task: Task, target: Target, scroll: (element: Element) => void): Promise<unknown> {
    this.resolver.announce(task, target);
    return this.resolver.find<unknown>(task, target, { frameVisible: true }, async element => {
      task.log.push('taking element screenshot', ...await task.race(fontsLoaded()));
      const rect = await task.tryAction<unknown>('scroll into view', 0, async () => {
        task.log.push('  waiting for element to be stable');
        const missing = await task.race(this.injected.checkElementStates(element, ['visible', 'stable'], target.frameVisible ?? true));
        if (missing === 'error:notconnected')
          return null;
        if (!this.ready(task, missing))
          return again;
        scroll(element);
        return this.read(element, 'box');
      });
      return rect ?? this.resolver.detached(task, target, element);
    });
  }
}

/** Waits for the document's fonts and returns the log lines about it. */
export async function fontsLoaded(): Promise<string[]> {
  await document.fonts.ready;
  return ['waiting for fonts to load...', 'fonts loaded'];
}
