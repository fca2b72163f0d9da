import type { Locator } from './locator.ts';
import type { Page } from './page.ts';

// Does again what a person did when they were asked under the same name.

/** A step of a person, as the server keeps it (codegen/step.go). */
interface PersonStep {
  kind: 'click' | 'dblclick' | 'fill' | 'check' | 'uncheck' | 'select' | 'press' | 'files' | 'drag' | 'goto' | 'back' | 'forward' | 'reload' | 'open';
  tab?: number;
  frames?: string[];
  selector?: string;
  value?: string;
  values?: string[];
  /** The name of the secret that the field holds. */
  secret?: string;
  /** The origin of the document that has that field. */
  origin?: string;
  key?: string;
  url?: string;
  x?: number;
  y?: number;
}

/** What was learned under a name, as the server keeps it (codegen/script.go). */
export interface Learned { start: string; end: string; tab: number; steps: PersonStep[]; cut?: boolean }

/** How long a step may take (ms) before a person is asked instead. */
const patience = 10_000;

/** Makes the steps again, beginning on a page. Returns how many succeeded, and why the next one did not. */
export async function again({ tab, steps, cut }: Learned, first: Page, secrets: Record<string, string>): Promise<{ done: number; error?: unknown }> {
  const tabs = new Map([[tab, first]]);
  const before = new Set(first.context().pages());
  let done = 0;
  try {
    for (const step of steps) {
      const number = step.tab ?? tab;
      let page = tabs.get(number);
      if (step.kind === 'open') {
        page = await first.context().newPage();
        before.add(page);
        await page.goto(step.url ?? '', { timeout: patience });
      }
      page ??= await opened(first, before);
      tabs.set(number, page);
      if (step.kind !== 'open')
        await make(step, page, secrets);
      done++;
    }
    if (cut)
      throw new Error('the person did more than there was room for');
  } catch (error) {
    return { done, error };
  }
  return { done };
}

/** Returns the next page that was opened since, once it is there, and counts it as known. */
async function opened(first: Page, known: Set<Page>): Promise<Page> {
  for (const until = Date.now() + patience; Date.now() < until; await new Promise(resolve => setTimeout(resolve, 100))) {
    const page = first.context().pages().find(each => !known.has(each));
    if (page) {
      known.add(page);
      return page;
    }
  }
  throw new Error('the tab that a step needs did not open');
}

/** Returns the secret of a step, if its field is on the site, and in the document, of which the person typed it. */
async function secretOf(step: PersonStep, element: Locator, page: Page, secrets: Record<string, string>): Promise<string> {
  const value = secrets[step.secret ?? ''];
  if (typeof value !== 'string')
    throw new Error(`secrets.${step.secret} is not given`);
  const handle = await element.elementHandle({ timeout: patience });
  const frame = await handle?.ownerFrame();
  for (const url of [frame?.url() ?? '', page.url()]) {
    if (!step.origin || originOf(url) !== step.origin)
      throw new Error(`the field for secrets.${step.secret} is on another site than the person's`);
  }
  return value;
}

/** Returns the scheme, host and port of an address. */
function originOf(url: string): string { return /^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0].replace(/\/\/[^/@]*@/, '//') ?? ''; }

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
    case 'select': return void await element.selectOption(step.secret ? await secretOf(step, element, page, secrets) : (step.values ?? []).map(label => ({ label })), options);
    case 'fill': return element.fill(step.secret ? await secretOf(step, element, page, secrets) : step.value ?? '', options);
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
