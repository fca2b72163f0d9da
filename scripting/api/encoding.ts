import { host } from './host.ts';

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

/** Bytes to text; UTF-8 (and what is a part of it) only. */
export class TextDecoder {
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;

  constructor(label = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    if (!/^(utf-?8|unicode-1-1-utf-8|us-ascii|ascii)$/i.test(label.trim()))
      throw new RangeError(`The "${label}" encoding is not supported`);
    this.fatal = !!options.fatal;
    this.ignoreBOM = !!options.ignoreBOM;
  }

  get encoding(): string { return 'utf-8'; }
  decode(input?: ArrayBuffer | ArrayBufferView): string {
    if (input === undefined)
      return '';
    const view = ArrayBuffer.isView(input) ? input : new Uint8Array(input);
    const text = host.decode(view.buffer as ArrayBuffer, view.byteOffset, view.byteOffset + view.byteLength, this.fatal);
    return !this.ignoreBOM && text.startsWith('\uFEFF') ? text.slice(1) : text;
  }
}
