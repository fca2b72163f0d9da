import { host } from '../core/host.ts';

/** Text to UTF-8. */
export class TextEncoder {
  get encoding(): string { return 'utf-8'; }
  encode(text = ''): Uint8Array { return new Uint8Array(host.encode(String(text))); }
  encodeInto(text: string, into: Uint8Array): { read: number; written: number } {
    let read = 0, written = 0;
    for (const c of text) {
      const bytes = this.encode(c);
      if (written + bytes.length > into.length)
        break;
      into.set(bytes, written);
      written += bytes.length;
      read += c.length;
    }
    return { read, written };
  }
}

/** The encodings of labels; encodings other than UTF are read byte by byte. */
const labels: [RegExp, string][] = [
  [/^(utf-?8|unicode-1-1-utf-8|unicode11utf8|x-unicode20utf8)$/, 'utf-8'],
  [/^(utf-16(le)?|ucs-2|iso-10646-ucs-2|unicode|csunicode)$/, 'utf-16le'],
  [/^utf-16be$/, 'utf-16be'],
  [/^(us-ascii|ascii|latin1|l1|iso-?8859-?1|iso_8859-1|windows-1252|cp1252|x-cp1252|ansi_x3.4-1968)$/, 'windows-1252'],
];

/** The characters that windows-1252 has in place of Latin-1's control characters, from 0x80. */
const controls = '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/** Bytes to text. */
export class TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  #rest = new Uint8Array(0); // the start of an incomplete character

  constructor(label = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const found = labels.find(([pattern]) => pattern.test(String(label).trim().toLowerCase()));
    if (!found)
      throw new RangeError(`The "${label}" encoding is not supported`);
    this.encoding = found[1];
    this.fatal = !!options.fatal;
    this.ignoreBOM = !!options.ignoreBOM;
  }

  decode(input?: ArrayBuffer | ArrayBufferView, options: { stream?: boolean } = {}): string {
    const view = input === undefined ? new Uint8Array(0) : ArrayBuffer.isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input);
    let bytes: Uint8Array = view;
    if (this.#rest.length) {
      bytes = new Uint8Array(this.#rest.length + view.length);
      bytes.set(this.#rest);
      bytes.set(view, this.#rest.length);
    }
    const whole = options.stream ? this.#whole(bytes) : bytes.length;
    this.#rest = bytes.slice(whole);
    const text = this.#text(bytes.subarray(0, whole));
    return !this.ignoreBOM && text.startsWith('\uFEFF') ? text.slice(1) : text;
  }

  /** Returns the number of leading bytes that form complete characters. */
  #whole(bytes: Uint8Array): number {
    if (this.encoding !== 'utf-8')
      return this.encoding === 'windows-1252' ? bytes.length : bytes.length & ~1;
    for (let back = 1; back <= Math.min(3, bytes.length); back++) {
      const b = bytes[bytes.length - back]!;
      if (b >= 0xc0)
        return (b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
      if (b < 0x80)
        break;
    }
    return bytes.length;
  }

  #text(bytes: Uint8Array): string {
    if (this.encoding === 'utf-8')
      return host.decode(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteOffset + bytes.byteLength, this.fatal);
    let out = '';
    if (this.encoding === 'windows-1252') {
      for (const b of bytes)
        out += b >= 0x80 && b < 0xa0 ? controls[b - 0x80]! : String.fromCharCode(b);
      return out;
    }
    const high = this.encoding === 'utf-16be' ? 0 : 1;
    for (let i = 0; i + 1 < bytes.length; i += 2)
      out += String.fromCharCode(bytes[i + high]! << 8 | bytes[i + 1 - high]!);
    if (bytes.length % 2)
      out += '\uFFFD';
    return out;
  }
}
