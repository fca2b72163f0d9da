import { step } from './call.ts';
import { Disposable } from './events.ts';
import { refuse } from './errors.ts';

/**
 * Playwright's recorder of traces. There are none here: a run's steps and logs,
 * and the session's events, are recorded anyway. Scripts that trace run on, and
 * are told once.
 */
export class Tracing {
  #told = false;

  async start(_options?: object): Promise<Disposable> {
    await this.#nothing('start');
    return new Disposable(() => this.stop());
  }
  async startChunk(_options?: object): Promise<Disposable> {
    await this.#nothing('startChunk');
    return new Disposable(() => this.stopChunk());
  }
  stop(_options?: { path?: string }): Promise<void> { return this.#nothing('stop'); }
  stopChunk(_options?: { path?: string }): Promise<void> { return this.#nothing('stopChunk'); }
  /** The group's name is one of the run's steps. */
  group(name: string, _options?: object): Promise<Disposable> { return step('tracing.group', () => name, () => new Disposable(() => this.groupEnd())); }
  async groupEnd(): Promise<void> {}
  async startHar(_path: string, _options?: object): Promise<Disposable> { return refuse('tracing.startHar', 'the session\'s events hold its requests'); }
  async stopHar(): Promise<void> { refuse('tracing.stopHar', 'the session\'s events hold its requests'); }

  #nothing(method: string): Promise<void> {
    return step(`tracing.${method}`, () => `tracing.${method}()`, () => {
      if (!this.#told)
        console.warn('tracing: no trace is written here; the run\'s steps and the session\'s events say what happened');
      this.#told = true;
    });
  }
}
