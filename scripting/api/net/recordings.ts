// Records HAR files (automation/recorder.go).

import type { Send } from '../core/call.ts';
import type { Page } from '../objects/page.ts';
import { patternOf } from './urls.ts';

/** What to record, and where. */
export interface Recording { path: string; content: string; minimal: boolean; url?: string | RegExp }

/** The option recordHar of contexts. */
export interface RecordHar { path: string; content?: 'omit' | 'embed' | 'attach'; omitContent?: boolean; mode?: 'full' | 'minimal'; urlFilter?: string | RegExp }

/** Converts the options of recordHar and tracing.startHar. */
export function recordingOf({ path, content, omitContent, mode, urlFilter }: RecordHar): Recording {
  return { path, content: content ?? (omitContent ? 'omit' : path.endsWith('.zip') ? 'attach' : 'embed'), minimal: mode === 'minimal', url: urlFilter };
}

/** The recordings of a context. They are written when the script stops them, at the latest when the context ends. */
export class HarRecordings {
  readonly #context: { context: string };
  readonly #paths = new Map<string, string>();

  constructor(context: { context: string }) { this.#context = context; }

  /** Starts a recording, and returns the server's name for it. */
  async start(send: Send, { path, content, minimal, url }: Recording, page: Page | undefined, base: string | undefined): Promise<string> {
    const where = page ? page._where : this.#context;
    const { har } = await send<{ har: string }>('har.start', { ...where, content, minimal, urls: filter(url, base) });
    this.#paths.set(har, path);
    return har;
  }

  async stop(send: Send, har: string): Promise<void> {
    const path = this.#paths.get(har);
    if (path !== undefined && this.#paths.delete(har))
      await send('har.stop', { har, path });
  }

  async stopAll(send: Send): Promise<void> {
    for (const har of [...this.#paths.keys()])
      await this.stop(send, har);
  }
}

/** Returns a URL filter as a regular expression in the server's syntax, which has no escape for a slash. */
function filter(url: string | RegExp | undefined, base: string | undefined): string | undefined {
  if (url instanceof RegExp)
    return (url.flags.includes('i') ? '(?i)' : '') + url.source.replaceAll('\\u002f', '/');
  return url === undefined || url === '' ? undefined : patternOf(url, base)!;
}
