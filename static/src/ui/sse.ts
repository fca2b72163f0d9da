import { backoff } from './backoff.js';

/** One event of a `text/event-stream`. */
export interface StreamEvent { id: string; event: string; data: string }

/** Splits a stream into events (HTML standard, "Interpreting an event stream"). EventSource would drop events of types that it was not told about. */
export class EventParser {
  #rest = '';
  #data: string[] = [];
  #event = '';
  #id = '';

  push(chunk: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.#rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (this.#data.length > 0) events.push({ id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') });
        this.#data = [];
        this.#event = '';
        continue;
      }
      const colon = line.indexOf(':');
      if (colon === 0) continue; // a comment that keeps the line open
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'data') this.#data.push(value);
      else if (field === 'event') this.#event = value;
      else if (field === 'id') this.#id = value;
    }
    return events;
  }
}

/** The state of a stream. */
export type StreamState = 'connecting' | 'open' | 'waiting' | 'closed';

interface Options {
  url: string;
  event(event: StreamEvent): void;
  state?(state: StreamState): void;
  /** Whether a stream that ends is complete. Otherwise it is opened again. */
  once?: boolean;
}

/** Reads a stream until `close`. If the connection breaks, it continues after the last event. */
export class EventStream {
  #abort = new AbortController();
  #lastID = '';

  constructor(private readonly options: Options) {
    void this.#run();
  }

  close(): void {
    this.#abort.abort();
    this.options.state?.('closed');
  }

  async #run(): Promise<void> {
    for (let attempt = 0; !this.#abort.signal.aborted; attempt++) {
      this.options.state?.('connecting');
      const outcome = await this.#read(() => (attempt = 0));
      if (this.#abort.signal.aborted) return;
      if (outcome === 'refused' || (outcome === 'ended' && this.options.once)) {
        this.options.state?.('closed');
        return;
      }
      this.options.state?.('waiting');
      await new Promise((resolve) => setTimeout(resolve, backoff(attempt)));
    }
  }

  async #read(opened: () => void): Promise<'ended' | 'broken' | 'refused'> {
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' };
      if (this.#lastID) headers['Last-Event-ID'] = this.#lastID;
      const response = await fetch(this.options.url, { headers, signal: this.#abort.signal, credentials: 'same-origin' });
      if (!response.ok || !response.body) return response.status >= 500 || response.status === 429 ? 'broken' : 'refused';
      this.options.state?.('open');
      opened();
      const parser = new EventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return 'ended';
        for (const event of parser.push(value)) {
          if (event.id) this.#lastID = event.id;
          this.options.event(event);
        }
      }
    } catch {
      return 'broken';
    }
  }
}
