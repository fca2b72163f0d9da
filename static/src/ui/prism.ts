import 'prismjs/components/prism-core.js';

/** A piece of a code as Prism understands it. */
export interface Token {
  type: string;
  alias: string | string[];
  content: string | Token | (string | Token)[];
}

/** What the pages use of Prism. */
interface Prism {
  manual: boolean;
  languages: Record<string, object>;
  tokenize(text: string, grammar: object): (string | Token)[];
}

/** Prism. It is a global, to which the files of its languages add theirs. */
export const { Prism } = globalThis as unknown as { Prism: Prism };

Prism.manual = true; // it would change the page by itself
