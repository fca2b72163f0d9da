import type { Locator } from './locator.ts';
import type { Page } from './page.ts';

// Does again what a person did when they were asked under the same name.

/** A step of a person, as the server keeps it (codegen/step.go). */
interface PersonStep {
  kind: 'click' | 'dblclick' | 'fill' | 'check' | 'uncheck' | 'select' | 'press' | 'files' | 'drag' | 'goto' | 'back' | 'forward' | 'reload';
  tab?: number;
  frames?: string[];
  selector?: string;
  value?: string;
  values?: string[];
  /** The name of the secret that the field holds. */
  secret?: string;
  key?: string;
  url?: string;
  x?: number;
  y?: number;
}

/** What was learned under a name. */
export interface Learned { tab: number; steps: PersonStep[] }

/** How long a step may take (ms) before a person is asked instead. */
const patience = 10_000;

/** Makes the steps again, beginning on a page. Returns how many succeeded, and why the next one did not. */
export async function again({ tab, steps }: Learned, first: Page, secrets: Record<string, string>): Promise<{ done: number; error?: unknown }> {
  const tabs = [tab];
  let done = 0;
  try {
    for (const step of steps) {
      if (!tabs.includes(step.tab ?? tab))
        tabs.push(step.tab ?? tab);
      await make(step, await pageAt(first, tabs.indexOf(step.tab ?? tab)), secrets);
      done++;
    }
  } catch (error) {
    return { done, error };
  }
  return { done };
}

/** Returns the first page, or the one that came after so many others, once it is there. */
async function pageAt(first: Page, index: number): Promise<Page> {
  if (index === 0)
    return first;
  const context = first.context();
  for (const until = Date.now() + patience; context.pages().length <= index && Date.now() < until;)
    await new Promise(resolve => setTimeout(resolve, 100));
  const page = context.pages()[index];
  if (!page)
    throw new Error('the tab that a step needs did not open');
  return page;
}

async function make(step: PersonStep, page: Page, secrets: Record<string, string>): Promise<void> {
  const options = { timeout: patience };
  let frame: Page | ReturnType<Locator['contentFrame']> = page;
  for (const selector of step.frames ?? [])
    frame = frame.locator(selector).contentFrame();
  const element = frame.locator(step.selector ?? 'html');
  switch (step.kind) {
    case 'click': return element.click(options);
    case 'dblclick': return element.dblclick(options);
    case 'check': return element.check(options);
    case 'uncheck': return element.uncheck(options);
    case 'press': return element.press(step.key ?? '', options);
    case 'select': return void await element.selectOption((step.values ?? []).map(label => ({ label })), options);
    case 'fill': {
      const value = step.secret ? secrets[step.secret] : step.value ?? '';
      if (typeof value !== 'string')
        throw new Error(`secrets.${step.secret} is not given`);
      return element.fill(value, options);
    }
    case 'goto': return void await page.goto(step.url ?? '', options);
    case 'back': return void await page.goBack(options);
    case 'forward': return void await page.goForward(options);
    case 'reload': return void await page.reload(options);
    case 'drag': {
      await element.hover(options);
      const box = await element.boundingBox(options);
      if (!box)
        throw new Error('what was dragged is not there');
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      await page.mouse.down();
      await page.mouse.move(x + (step.x ?? 0), y + (step.y ?? 0), { steps: 20 });
      return page.mouse.up();
    }
    default: throw new Error(`nobody learned how to ${step.kind}`);
  }
}
