import { host } from '../core/host.ts';
import { inspect } from '../node/inspect.ts';
import { config, project, testResults } from './config.ts';
import { DeadlineError, type Deadlines } from './deadline.ts';
import { here, type Location } from './location.ts';
import type { Annotation, Body, Suite, Test } from './suite.ts';

/** The state of a test. */
export type Status = 'passed' | 'failed' | 'timedOut' | 'skipped' | 'interrupted';

/** An error in the form of testInfo.errors. value is the thrown value if that is not an Error. */
export interface TestError { message?: string; stack?: string; value?: string; cause?: TestError }

/** Thrown by test.skip() and similar calls to leave the running function. */
export class SkipError extends Error {}

/** Marks for a running test, or for a group if given a function. */
export type Mark = 'skip' | 'fixme' | 'fail' | 'slow';

/** test.info(): one attempt at one test. */
export class TestInfo {
  readonly annotations: Annotation[] = [];
  readonly attachments: { name: string; contentType: string; path?: string; body?: unknown }[] = [];
  readonly errors: TestError[] = [];
  readonly config = config;
  readonly project = project;
  readonly title: string;
  readonly titlePath: string[];
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly fn: Body;
  readonly tags: string[];
  readonly testId: string;
  readonly repeatEachIndex = 0;
  readonly parallelIndex = 0;
  readonly snapshotSuffix = 'linux';
  readonly snapshotDir: string;
  readonly outputDir: string;
  status: Status = 'passed';
  expectedStatus: Status = 'passed';
  duration = 0;
  /** The thrown values, for the report. @internal */
  declare readonly _thrown: unknown[];
  /** @internal */
  declare readonly _test: Test;
  #deadlines: Deadlines;

  constructor(test: Test, file: string, readonly retry: number, readonly workerIndex: number, deadlines: Deadlines) {
    const titles = test.parent.lineage().slice(1).map(s => s.title).filter(Boolean);
    this.title = test.title;
    this.file = file;
    this.titlePath = [file, ...titles, test.title];
    this.line = test.location?.line ?? 0;
    this.column = test.location?.column ?? 0;
    this.fn = test.body;
    this.tags = test.tags;
    this.testId = identify(this.titlePath);
    this.snapshotDir = `${file}-snapshots`;
    this.outputDir = `${testResults}/${folderName([file.replace(/\.(?:spec|test)?\.?[cm]?[jt]sx?$/, ''), ...titles, test.title])}${retry ? `-retry${retry}` : ''}`;
    this.#deadlines = deadlines;
    Object.defineProperty(this, '_thrown', { value: [] });
    Object.defineProperty(this, '_test', { value: test });
  }

  get error(): TestError | undefined { return this.errors[0]; }
  get timeout(): number { return this.#deadlines.timeout; }

  skip(...args: [condition?: unknown, description?: string]): void { this._mark('skip', args, here()); }
  fixme(...args: [condition?: unknown, description?: string]): void { this._mark('fixme', args, here()); }
  fail(...args: [condition?: unknown, description?: string]): void { this._mark('fail', args, here()); }
  slow(...args: [condition?: unknown, description?: string]): void { this._mark('slow', args, here()); }
  setTimeout(ms: number): void { this.#deadlines.setTimeout(ms); }

  /** Adds a body to the result. Files of the machine cannot be read. */
  async attach(name: string, options: { body?: unknown; path?: string; contentType?: string } = {}): Promise<void> {
    this.attachments.push(attachment(name, options));
  }

  outputPath(...segments: string[]): string {
    const path = normal(`${this.outputDir}/${segments.join('/')}`);
    if (path !== this.outputDir && !path.startsWith(`${this.outputDir}/`))
      throw new Error(`The outputPath is not allowed outside of the parent directory. Please fix the defined path.\n\n\toutputPath: ${normal(segments.join('/'))}`);
    return path;
  }

  snapshotPath(...name: (string | { kind?: string })[]): string {
    const parts = name.filter(n => typeof n === 'string');
    const last = parts.pop() ?? '';
    const dot = last.lastIndexOf('.');
    const file = dot > 0 ? `${last.slice(0, dot)}-${this.snapshotSuffix}${last.slice(dot)}` : `${last}-${this.snapshotSuffix}`;
    return [this.snapshotDir, ...parts, file].join('/');
  }

  /** Applies skip, fixme, fail or slow, unless their condition is false. @internal */
  _mark(type: Mark, args: readonly unknown[], location: Location | undefined): void {
    if (typeof args[0] === 'function')
      throw new Error(`test.${type}() with a function can only be called inside describe block`);
    const described = typeof args[0] === 'string';
    if (args.length > 0 && !described && !args[0])
      return;
    const description = described ? args[0] as string : args[1] as string | undefined;
    this._annotate({ type, ...description === undefined ? {} : { description: String(description) }, location });
    if (type === 'slow')
      this.#deadlines.slow();
    if (type === 'skip' || type === 'fixme')
      throw new SkipError(`Test is skipped: ${description ?? ''}`);
  }

  /** Records a mark without acting on it. @internal */
  _annotate(annotation: Annotation): void {
    this.annotations.push(annotation);
    if (annotation.type === 'skip' || annotation.type === 'fixme')
      this.expectedStatus = 'skipped';
    else if (annotation.type === 'fail' && this.expectedStatus !== 'skipped')
      this.expectedStatus = 'failed';
  }

  /** Records an error of a part of the test. @internal */
  _failed(error: unknown): void {
    if (error instanceof SkipError) {
      if (this.status === 'passed')
        this.status = 'skipped';
      return;
    }
    if (this._thrown.includes(error))
      return;
    if (this.status === 'passed' || this.status === 'skipped')
      this.status = error instanceof DeadlineError ? 'timedOut' : 'failed';
    this._thrown.push(error);
    this.errors.push(describe(error));
  }

  /** @internal */
  get _asExpected(): boolean { return this.status === this.expectedStatus; }
}

/** Converts an attachment to the form in which it is stored. */
export function attachment(name: string, options: { body?: unknown; path?: string; contentType?: string }): TestInfo['attachments'][number] {
  const { body, path, contentType } = options;
  if (body !== undefined && path !== undefined)
    throw new Error('Exactly one of "path" and "body" must be specified');
  if (path !== undefined)
    throw new Error('testInfo.attach with a path is not available in Takeover: scripts have no files of the machine, use body');
  if (body === undefined)
    return { name, contentType: contentType ?? 'text/plain' };
  const { Buffer } = globalThis as unknown as { Buffer: { from(text: string): unknown } };
  return typeof body === 'string'
    ? { name, contentType: contentType ?? 'text/plain', body: Buffer.from(body) }
    : { name, contentType: contentType ?? 'application/octet-stream', body };
}

function describe(error: unknown): TestError {
  if (!(error instanceof Error))
    return { value: typeof error === 'string' ? `'${error}'` : inspect(error) };
  const out: TestError = { message: error instanceof DeadlineError ? error.message : `${error.name}: ${error.message}` };
  if (!(error instanceof DeadlineError))
    out.stack = String(error.stack);
  if (error.cause instanceof Error)
    out.cause = describe(error.cause);
  return out;
}

/** Makes a folder's name from titles. */
function folderName(titles: readonly string[]): string {
  return titles.join('-').replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').slice(0, 60);
}

/** Removes . and .. from a path. */
function normal(path: string): string {
  const out: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && out.length && out[out.length - 1] !== '..' && out[out.length - 1] !== '')
      out.pop();
    else if (part && part !== '.' || !out.length)
      out.push(part);
  }
  return out.join('/');
}

/** Returns a hash that is equal for equal titles. */
function identify(titles: readonly string[]): string {
  let hash = 0xcbf29ce484222325n; // FNV-1a
  for (const byte of new Uint8Array(host.encode(titles.join('\x1e'))))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}

/** Returns the marks of the groups and of the test, the file's first. */
export function staticAnnotations(test: Test): Annotation[] {
  return [...test.parent.lineage().flatMap((s: Suite) => s.annotations), ...test.annotations];
}
