import { type Send, step } from '../core/call.ts';
import type { BrowserContext } from './context.ts';
import { Disposable } from './events.ts';
import { type HarRecordings, recordingOf, type RecordHar } from '../net/recordings.ts';
import { host } from '../core/host.ts';
import { TraceEvents } from './traceevents.ts';

/** The options of start that have an effect here. */
interface StartOptions { title?: string; screenshots?: boolean; snapshots?: unknown }

interface HarRecording { content?: RecordHar['content']; mode?: RecordHar['mode']; urlFilter?: RecordHar['urlFilter']; resourcesDir?: string }

/**
 * Playwright's trace recorder. It records the script's calls with their logs, requests, console messages and pictures of the pages, in a .zip for
 * Playwright's trace viewer. Of Playwright's snapshots it records the requests but not the documents, and of sources only the positions.
 */
export class Tracing {
  readonly #context: BrowserContext;
  readonly #recordings: HarRecordings;
  /** The server's name for the trace that is being recorded. */
  #trace: string | undefined;
  #events: TraceEvents | undefined;
  #har: string | undefined;

  constructor(context: BrowserContext, recordings: HarRecordings) {
    this.#context = context;
    this.#recordings = recordings;
  }

  start(options: StartOptions = {}): Promise<Disposable> {
    return step('tracing.start', () => 'tracing.start()', async send => {
      if (this.#trace !== undefined)
        throw new Error('Tracing has been already started');
      this.#trace = '';
      try {
        const { trace } = await send<{ trace: string }>('trace.start', {
          context: this.#context._guid, screenshots: !!options.screenshots, network: wantsNetwork(options.snapshots),
        });
        this.#trace = trace;
      } catch (e) {
        this.#trace = undefined;
        throw e;
      }
      this.#events = new TraceEvents(this.#context, host.now());
      this.#events.begin(options.title);
      return new Disposable(() => this.stop());
    });
  }

  startChunk(options: { title?: string } = {}): Promise<Disposable> {
    return step('tracing.startChunk', () => 'tracing.startChunk()', async send => {
      if (!this.#events)
        throw new Error('Must start tracing before starting a new chunk');
      if (this.#events.recording)
        await this.#write(send, undefined);
      this.#events.begin(options.title);
      return new Disposable(() => this.stopChunk());
    });
  }

  stopChunk(options: { path?: string } = {}): Promise<void> {
    return step('tracing.stopChunk', () => 'tracing.stopChunk()', send => this.#write(send, options.path));
  }

  stop(options: { path?: string } = {}): Promise<void> {
    return step('tracing.stop', () => 'tracing.stop()', async send => {
      try {
        await this.#write(send, options.path);
      } finally {
        const trace = this.#trace;
        this.#trace = this.#events = undefined;
        if (trace)
          await send('trace.stop', { trace });
      }
    });
  }

  /** Begins a group, which is a step of the run. Later calls belong to it. */
  group(name: string, options: { location?: { file: string; line?: number; column?: number } } = {}): Promise<Disposable> {
    const trace = host.trace();
    return step('tracing.group', () => name, () => {
      this.#events?.group(name, trace, options.location);
      return new Disposable(() => this.groupEnd());
    });
  }
  async groupEnd(): Promise<void> { this.#events?.groupEnd(); }

  startHar(path: string, options: HarRecording = {}): Promise<Disposable> {
    return step('tracing.startHar', () => 'tracing.startHar()', async send => {
      if (this.#har !== undefined)
        throw new Error('HAR recording has already been started');
      if (options.resourcesDir && path.endsWith('.zip'))
        throw new Error('resourcesDir option is not compatible with a .zip har file');
      this.#har = await this.#recordings.start(send, recordingOf({ ...options, path }), undefined, this.#context._options.baseURL);
      return new Disposable(() => this.stopHar());
    });
  }
  stopHar(): Promise<void> {
    return step('tracing.stopHar', () => 'tracing.stopHar()', async send => {
      const har = this.#har;
      if (har === undefined)
        throw new Error('HAR recording has not been started');
      this.#har = undefined;
      await this.#recordings.stop(send, har);
    });
  }

  /** Ends a chunk. Writes it to path, or drops it if there is no path. */
  async #write(send: Send, path: string | undefined): Promise<void> {
    const events = this.#events;
    if (!events?.recording) {
      if (path !== undefined)
        throw new Error('Must start tracing before stopping');
      return;
    }
    const written = events.end();
    await send('trace.write', { trace: this.#trace, path, ...path !== undefined && written });
  }
}

/** Returns whether the snapshots that were requested need the page's requests. */
function wantsNetwork(snapshots: unknown): boolean {
  return typeof snapshots === 'object' && snapshots !== null ? !!(snapshots as { dom?: boolean }).dom : !!snapshots;
}
