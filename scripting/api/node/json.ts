// JSON.parse with V8's errors, which name the position. Scripts and their readers know these texts.

const parse = JSON.parse;
const BuiltinSyntaxError = SyntaxError;

/** Number of characters on each side of an error's position that its message quotes. */
const shown = 10;
/** How many characters are searched for the error. Beyond that, the engine's own message is used. */
const searched = 1 << 16;

JSON.parse = {
  parse(text: unknown, reviver?: any) {
    const source = String(text);
    try {
      return parse(source, reviver);
    } catch (e) {
      if (!(e instanceof BuiltinSyntaxError))
        throw e; // from the reviver
      throw new BuiltinSyntaxError(new Reader(source).complaint() || e.message);
    }
  },
}.parse;

/** The error at the position where a text stops being JSON. */
class Fault {
  constructor(readonly message: string) {}
}

/** Reads JSON to find its error. */
class Reader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) { this.#text = text; }

  /** Returns the error of the text, or an empty text if there is none, or it is too far away. */
  complaint(): string {
    try {
      this.#document();
      return '';
    } catch (e) {
      if (e instanceof Fault)
        return e.message;
      throw e;
    }
  }

  // Brackets are kept in a list instead of on the stack, because a text may be nested deeply.
  #document(): void {
    const open: ('[' | '{')[] = [];
    for (;;) {
      if (this.#begin(open))
        continue;
      for (;;) { // a value has ended
        const inside = open.at(-1);
        const c = this.#peek();
        if (!inside) {
          if (c !== undefined)
            this.#fault('Unexpected non-whitespace character', 'after');
          return;
        }
        if (c === ',') {
          this.#at++;
          if (inside === '{')
            this.#key('Expected double-quoted property name', false);
          break;
        }
        if (c !== (inside === '{' ? '}' : ']'))
          this.#fault(inside === '{' ? "Expected ',' or '}' after property value" : "Expected ',' or ']' after array element");
        this.#at++;
        open.pop();
      }
    }
  }

  // Reads a value, or only its opening bracket if a value inside follows.
  #begin(open: ('[' | '{')[]): boolean {
    const c = this.#peek();
    switch (c) {
      case '[': case '{':
        this.#at++;
        if (this.#peek() === (c === '[' ? ']' : '}')) {
          this.#at++;
          return false;
        }
        open.push(c);
        if (c === '{')
          this.#key("Expected property name or '}'", true);
        return true;
      case '"': this.#string(); return false;
      case 't': this.#word('true'); return false;
      case 'f': this.#word('false'); return false;
      case 'n': this.#word('null'); return false;
      default:
        if (c === undefined || !/[-0-9]/.test(c))
          this.#unexpected();
        this.#number();
        return false;
    }
  }

  #key(missing: string, first: boolean): void {
    if (this.#peek() !== '"')
      this.#fault(missing);
    this.#string();
    if (this.#peek() !== ':') {
      if (!first)
        this.#unexpected();
      this.#fault("Expected ':' after property name");
    }
    this.#at++;
  }

  #string(): void {
    for (this.#at++; ; this.#at++) {
      const c = this.#text[this.#at];
      if (c === undefined)
        this.#fault('Unterminated string');
      if (this.#at > searched)
        throw new Fault('');
      if (c === '"') {
        this.#at++;
        return;
      }
      if (c! < ' ')
        this.#fault('Bad control character in string literal');
      if (c === '\\')
        this.#escape();
    }
  }

  #escape(): void {
    const c = this.#text[++this.#at];
    if (c === undefined)
      this.#unexpected();
    if (c === 'u') {
      for (let n = 0; n < 4; n++) {
        this.#at++;
        if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? ''))
          this.#fault('Bad Unicode escape');
      }
    } else if (!/["\\/bfnrt]/.test(c!)) {
      this.#fault('Bad escaped character');
    }
  }

  #word(word: string): void {
    for (const c of word) {
      if (this.#text[this.#at] !== c)
        this.#unexpected();
      this.#at++;
    }
  }

  #number(): void {
    if (this.#text[this.#at] === '-') {
      this.#at++;
      this.#digit('No number after minus sign');
    }
    if (this.#text[this.#at] === '0') {
      this.#at++;
      if (this.#isDigit())
        this.#fault('Unexpected number');
    }
    this.#digits();
    if (this.#text[this.#at] === '.') {
      this.#at++;
      this.#digit('Unterminated fractional number');
      this.#digits();
    }
    if (/[eE]/.test(this.#text[this.#at] ?? '')) {
      this.#at++;
      if (/[-+]/.test(this.#text[this.#at] ?? ''))
        this.#at++;
      this.#digit('Exponent part is missing a number');
      this.#digits();
    }
  }

  #digit(missing: string): void {
    if (!this.#isDigit())
      this.#fault(missing);
  }

  #digits(): void {
    while (this.#isDigit())
      this.#at++;
  }

  #isDigit(): boolean { return /[0-9]/.test(this.#text[this.#at] ?? ''); }

  #peek(): string | undefined {
    let c = this.#text[this.#at];
    for (; c === ' ' || c === '\n' || c === '\t' || c === '\r'; c = this.#text[++this.#at]) {
      if (this.#at > searched)
        throw new Fault('');
    }
    return c;
  }

  #fault(words: string, where = 'in'): never {
    throw new Fault(`${words} ${where} JSON at position ${this.#at}`);
  }

  // Throws the error for a place where no value begins.
  #unexpected(): never {
    const { length } = this.#text;
    const at = this.#at;
    if (at >= length)
      throw new Fault('Unexpected end of JSON input');
    if (/["\-0-9]/.test(this.#text[at]!))
      this.#fault(this.#text[at] === '"' ? 'Unexpected string' : 'Unexpected number');
    if (/^(undefined|NaN|Infinity|\[object Object\])$/.test(this.#text))
      throw new Fault(`"${this.#text}" is not valid JSON`);
    const all = length <= 2 * shown;
    const before = !all && at >= shown;
    const after = !all && at < length - shown;
    const quoted = `${before ? '...' : ''}"${this.#text.slice(before ? at - shown : 0, after ? at + shown : length)}"${after ? '...' : ''}`;
    throw new Fault(`Unexpected token '${this.#text[at]}', ${quoted} is not valid JSON`);
  }
}
