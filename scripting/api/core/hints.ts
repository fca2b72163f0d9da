// Advice for errors in scripts that were written for another environment.

const absent: Record<string, string> = {
  process: 'scripts have no environment; pass values as args',
  __dirname: 'scripts have no files of their own',
  __filename: 'scripts have no files of their own',
  module: 'a script is one file',
  exports: 'a script is one file',
  Deno: 'scripts have no machine to reach',
  Bun: 'scripts have no machine to reach',
  test: 'import it: import { test, expect } from \'@playwright/test\'',
  chromium: 'import it: import { chromium } from \'playwright\'',
  devices: 'import it: import { devices } from \'playwright\'',
  window: 'it is the page\'s: use page.evaluate()',
  document: 'it is the page\'s: use page.evaluate()',
  navigator: 'it is the page\'s: use page.evaluate()',
  location: 'it is the page\'s: use page.url() or page.evaluate()',
  localStorage: 'it is the page\'s: use page.evaluate()',
  sessionStorage: 'it is the page\'s: use page.evaluate()',
  alert: 'it is the page\'s: use page.evaluate()',
};

/** Returns an error's message, with advice if it names something that only exists elsewhere. */
export function explained(message: string): string {
  if (message === 'Value is not object coercible')
    return 'Cannot take properties of undefined or null';
  const name = /^(\w+) is not defined$/.exec(message)?.[1];
  return name !== undefined && Object.hasOwn(absent, name) ? `${message}: ${absent[name]}` : message;
}
