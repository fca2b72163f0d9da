import { type Send, step } from '../core/call.ts';
import { readTextFile } from '../core/files.ts';
import { quote, setTestIdAttribute } from '../core/selectors.ts';
import { sourceText } from '../core/sources.ts';

type Script = string | Function | { path?: string; content?: string };

/** Settings for all selectors. */
export class Selectors {
  /** Adds an engine for selectors of the form name=…. It runs in the page's main world, unless it is a content script. */
  register(name: string, script: Script, options?: { contentScript?: boolean }): Promise<void> {
    return step('selectors.register', () => `selectors.register(${quote(name)})`, async send => {
      await send('selectors.register', { name, source: await sourceOf(send, script), contentScript: !!options?.contentScript });
    });
  }
  setTestIdAttribute(attributeName: string): void { setTestIdAttribute(attributeName); }
}

async function sourceOf(send: Send, script: Script): Promise<string> {
  if (typeof script === 'function')
    return `(${sourceText(script)})(undefined)`;
  if (typeof script === 'string')
    return script;
  if (script.content !== undefined)
    return script.content;
  if (script.path !== undefined)
    return readTextFile(send, script.path);
  throw new Error('Either path or content property must be present');
}
