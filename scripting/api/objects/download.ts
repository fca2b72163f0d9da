import { step, type Send } from '../core/call.ts';
import { Emitter } from '../core/emitter.ts';
import { readFile } from '../core/files.ts';
import { ApiObject } from './object.ts';
import type { Page } from './page.ts';
import { quote } from '../core/selectors.ts';
import { text } from '../core/values.ts';

/** A download, as the server reports it. */
export interface DownloadInit { download: string; page: string; url: string; suggestedFilename: string }

/** A file that a page downloads to the session's files. */
export class Download extends ApiObject {
  #page: Page;
  #init: DownloadInit;

  constructor(page: Page, init: DownloadInit) {
    super(init.download);
    this.#page = page;
    this.#init = init;
  }

  page(): Page { return this.#page; }
  url(): string { return this.#init.url; }
  suggestedFilename(): string { return this.#init.suggestedFilename; }

  /** Returns the file's name among the session's files, once it is complete. */
  path(): Promise<string> { return this.#step('path', [], send => this.#file(send)); }
  failure(): Promise<string | null> { return this.#step('failure', [], async send => (await this.#end(send)).failure || null); }
  /** Copies the file to another name among the session's files. */
  saveAs(path: string): Promise<void> {
    return this.#step('saveAs', [path], async send => { await send('download.saveAs', { download: this._guid, to: text('path', path) }); });
  }
  cancel(): Promise<void> { return this.#step('cancel', [], async send => { await send('download.cancel', { download: this._guid }); }); }
  delete(): Promise<void> { return this.#step('delete', [], async send => { await send('download.delete', { download: this._guid }); }); }
  createReadStream(): Promise<any> {
    return this.#step('createReadStream', [], async send => new ReadStream(await readFile(send, await this.#file(send))));
  }

  #end(send: Send): Promise<{ name: string; failure: string }> { return send('download.wait', { download: this._guid }); }

  async #file(send: Send): Promise<string> {
    const { name, failure } = await this.#end(send);
    if (failure)
      throw new Error(failure);
    return name;
  }

  #step<T>(method: string, shown: unknown[], body: (send: Send) => Promise<T>): Promise<T> {
    return step(`download.${method}`, () => `download.${method}(${shown.map(quote).join(', ')})`, body);
  }
}

/** The parts of Node's Readable that scripts use: data, end, for await, setEncoding. */
class ReadStream extends Emitter {
  static readonly chunk = 64 * 1024;
  #chunks: Uint8Array[] = [];
  #encoding: string | undefined;
  #flowing = false;

  constructor(data: Uint8Array) {
    super();
    for (let at = 0; at < data.length; at += ReadStream.chunk)
      this.#chunks.push(data.subarray(at, at + ReadStream.chunk));
  }

  setEncoding(encoding: string): this {
    this.#encoding = encoding;
    return this;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown> {
    for (let c = this.#chunks.shift(); c; c = this.#chunks.shift())
      yield this.#decoded(c);
  }

  #decoded(chunk: Uint8Array): unknown {
    return this.#encoding ? (chunk as unknown as { toString(e: string): string }).toString(this.#encoding) : chunk;
  }

  /** Starts to flow when there is a listener for data. @internal */
  override _listening(event: string | undefined): void {
    if (event !== 'data' || this.#flowing || !this.listenerCount('data'))
      return;
    this.#flowing = true;
    void (async () => {
      await Promise.resolve(); // so that a listener for end may be added after that for data
      for await (const chunk of this)
        this.emit('data', chunk);
      this.emit('end');
      this.emit('close');
    })();
  }
}
