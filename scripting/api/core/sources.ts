// Functions of the script as text, for the page.

import { host } from './host.ts';

const toText = Function.prototype.toString;
const parsed = Function;

const given = new WeakMap<Function, string>();

/** Gives a function that was made from a text that text, because the engine may not know where it begins and ends. */
export function giveSource<T extends Function>(fn: T, text: string): T {
  given.set(fn, text);
  return fn;
}

/**
 * Returns the text of a function, as an expression or as the shorthand of a method. Parts of the source that the script's engine does not support
 * were rewritten to functions at the top of the program. If the text uses such functions, the result includes them.
 */
export function sourceText(fn: Function): string {
  const text = given.get(fn) ?? toText.call(fn) as string;
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
    parsed(`(${text}\n)`); // parsed but not run
    return text;
  } catch {
    return text.startsWith('async ') ? `async function ${text.slice('async '.length)}` : `function ${text}`;
  }
}
