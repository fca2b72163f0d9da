// Finds the fixtures that a function needs: the names in the pattern of its first parameter, read from its source.

import { errorAt, type Location } from './location.ts';

const sourceOf = Function.prototype.toString;
const known = new WeakMap<Function, readonly string[]>();

/** Returns the names in the pattern of a function's first parameter. Throws for another kind of parameter. */
export function parameterNames(f: Function, location: Location | undefined): readonly string[] {
  let names = known.get(f);
  if (!names) {
    names = namesIn(firstParameter(sourceOf.call(f)), location);
    known.set(f, names);
  }
  return names;
}

/** Declares the fixtures of one of our functions, which the bundler may have rewritten. */
export function declareParameters<F extends Function>(names: readonly string[], f: F): F {
  known.set(f, names);
  return f;
}

function namesIn(parameter: string, location: Location | undefined): string[] {
  if (!parameter)
    return [];
  if (!parameter.startsWith('{'))
    throw errorAt(`First argument must use the object destructuring pattern: ${parameter}`, location);
  return split(parameter.slice(1, closing(parameter, 0)), ',').map(part => {
    if (part.startsWith('...'))
      throw errorAt(`Rest property "${part}" is not supported. List all used fixtures explicitly, separated by comma.`, location);
    return split(part, ':')[0]!.replace(/^(['"])(.*)\1$/, '$2');
  });
}

// Returns the first parameter. The source is esbuild's output: functions, methods and arrow functions.
function firstParameter(source: string): string {
  const text = withoutComments(source);
  const bare = /^(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=>/u.exec(text);
  if (bare)
    return bare[1]!;
  let open = 0;
  while (open < text.length && text[open] !== '(') // skip a computed name
    open = text[open] === '[' ? closing(text, open) + 1 : open + 1;
  return split(text.slice(open + 1, closing(text, open)), ',')[0] ?? '';
}

const pairs: Record<string, string> = { '(': ')', '[': ']', '{': '}' };

/** Returns the position of the matching closing bracket. */
function closing(text: string, start: number): number {
  const open: string[] = [];
  for (let i = start; i < text.length; i = next(text, i)) {
    const c = text[i]!;
    if (pairs[c])
      open.push(pairs[c]!);
    else if (c === open[open.length - 1] && open.pop() && !open.length)
      return i;
  }
  return text.length;
}

/** Returns the non-empty parts between separators outside brackets. */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let i = 0;
  while (i < text.length) {
    if (text[i] === separator) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
    i = pairs[text[i]!] ? closing(text, i) + 1 : next(text, i);
  }
  parts.push(text.slice(from));
  return parts.map(p => p.trim()).filter(Boolean);
}

/** Returns the position after the character or string at i. */
function next(text: string, i: number): number {
  const quote = text[i]!;
  if (quote !== '"' && quote !== "'" && quote !== '`')
    return i + 1;
  for (i++; i < text.length && text[i] !== quote; i++) {
    if (text[i] === '\\')
      i++;
  }
  return i + 1;
}

function withoutComments(text: string): string {
  let out = '';
  for (let i = 0; i < text.length;) {
    if (text.startsWith('//', i)) {
      const end = text.indexOf('\n', i);
      i = end < 0 ? text.length : end;
    } else if (text.startsWith('/*', i)) {
      i = text.indexOf('*/', i + 2) + 2;
      out += ' ';
    } else {
      const end = next(text, i);
      out += text.slice(i, end);
      i = end;
    }
  }
  return out;
}
