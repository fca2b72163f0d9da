import { Prism, type Token } from './prism.js';
import 'prismjs/components/prism-clike.js';
import 'prismjs/components/prism-javascript.js';
import 'prismjs/components/prism-typescript.js';
import 'prismjs/components/prism-bash.js';
import 'prismjs/components/prism-python.js';
import 'prismjs/components/prism-go.js';
import 'prismjs/components/prism-json.js';
import type { Kind, Piece } from './colours.js';

/** The kinds of Prism's tokens. null is for text that stays as it is, also within a token that has a kind. */
const KINDS: Record<string, Kind | null> = {
  keyword: 'keyword', boolean: 'keyword', null: 'keyword',
  string: 'string', char: 'string', 'string-property': 'string',
  number: 'number', regex: 'number', variable: 'number', environment: 'number',
  comment: 'comment', shebang: 'comment', hashbang: 'comment',
  punctuation: 'quiet', operator: 'quiet', 'class-name': 'quiet',
  interpolation: null, property: null, parameter: null, builtin: null,
};
/** Commands stand out in a shell's code. */
const IN_BASH: Record<string, Kind | null> = { function: 'keyword', builtin: 'keyword' };

/** Returns the pieces of a code that have a colour, in their order. They do not overlap. An unknown language has none. */
export function piecesOf(code: string, language: string): Piece[] {
  const grammar = Prism.languages[language];
  if (!grammar) return [];
  const kinds = language === 'bash' ? { ...KINDS, ...IN_BASH } : KINDS;
  const pieces: Piece[] = [];
  let at = 0;
  const add = (content: Token['content'], kind: Kind | null): void => {
    if (Array.isArray(content)) for (const each of content) add(each, kind);
    else if (typeof content === 'string') {
      if (kind && content) pieces.push({ kind, from: at, to: at + content.length });
      at += content.length;
    } else add(content.content, kindOf(content, kinds, kind));
  };
  add(Prism.tokenize(code, grammar), null);
  return pieces;
}

/** Returns the kind of a token within another of kind `outer`. */
function kindOf({ type, alias, content }: Token, kinds: Record<string, Kind | null>, outer: Kind | null): Kind | null {
  const name = [type, ...[alias].flat()].find((each) => each in kinds);
  if (name === undefined) return outer;
  // A command within a shell's $(…) is code of its own.
  return name === 'variable' && Array.isArray(content) ? null : (kinds[name] ?? null);
}
