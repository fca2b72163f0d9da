// Functions of the script as text, for the page.

import { host } from './host.ts';

const toText = Function.prototype.toString;
const parsed = Function;

/**
 * The text of a function, as an expression or a method's shorthand. The script's engine needed parts of the source rewritten to functions at the top
 * of the program; a text that needs those contains them.
 */
export function sourceText(fn: Function): string {
  const text = toText.call(fn) as string;
  const helpers = host.helpers();
  if (helpers === '' || !names(helpers).some(name => text.includes(name)))
    return text;
  return `(() => {\n${helpers}return (${asExpression(text)}\n);\n})()`;
}

function names(helpers: string): string[] {
  return [...helpers.matchAll(/^var (__\w+) =/gm)].map(m => m[1]!);
}

function asExpression(text: string): string {
  try {
    parsed(`(${text}\n)`); // not run
    return text;
  } catch {
    return text.startsWith('async ') ? `async function ${text.slice('async '.length)}` : `function ${text}`;
  }
}
