/** A stack that was remembered; only the host can read it. */
export interface Trace { readonly trace: unique symbol }

/** A step of the script's that is one operation. */
export interface Call {
  /** Of the API's method, as errors begin with it. */
  name: string;
  trace: Trace;
  /** The call as a person would write it; without it, it is not reported. */
  title: (() => string) | undefined;
  /** Makes the step's value of the answer. */
  take: ((answer: any) => unknown) | undefined;
}

/**
 * What the worker's Go side gives (scripting/worker_host.go). It is the
 * parameter of the function that the bundle is.
 */
export interface Host {
  /** Starts an operation. The promise settles with what settle makes of its outcome. */
  call<T>(op: string, params: string, trace: Trace | undefined, call?: Call): Promise<T>;
  /** Set by the API: gives an operation's answer, or throws its error; each is JSON, times are milliseconds. */
  settle?(failure: string | null, answer: string, call: Call | undefined, startedAt: number, duration: number): unknown;
  /** Makes an operation that is under way fail for a reason. */
  abort(answer: Promise<unknown>, reason: string): void;
  /** Makes all operations that are under way fail for a reason and gives how many they are; over is called as each has. */
  abortAll(reason: string, over: () => void): number;
  /** Reports an API call that ended; times are milliseconds, error is '' if there was none. */
  step(title: string, startedAt: number, duration: number, error: string, trace: Trace | undefined): void;
  /** Reports a test that ended; duration is in ms, name is '' if there was no error. */
  test(title: string, status: string, duration: number, name: string, message: string, stack: string): void;
  log(level: string, text: string): void;
  trace(): Trace;
  /** A trace's frames in the script, each after a newline. */
  frames(trace: Trace): string;
  /** The frames of an error's stack that lie in the script, each after a newline. */
  tidy(stack: string): string;
  setTimer(f: () => void, ms: number, repeat: boolean): number;
  clearTimer(id: number): void;
  /** Says whether a timer keeps the run from ending, as it does at first. */
  holdTimer(id: number, held: boolean): void;
  /** Milliseconds since the worker began. */
  now(): number;
  encode(text: string): ArrayBuffer;
  decode(buffer: ArrayBuffer, start: number, end: number, fatal: boolean): string;
  toBase64(buffer: ArrayBuffer, start: number, end: number): string;
  /** null if the text is no base64. */
  fromBase64(text: string): ArrayBuffer | null;
  random(bytes: number): ArrayBuffer;
  /** A Unicode property as the inside of a character class; null if there is none of that name. */
  unicode(property: string): string | null;
  /** What is known of a locale, as JSON; null if nothing is. */
  locale(name: string): string | null;
  /** Which form goes with a number of these digits. */
  plural(locale: string, ordinal: boolean, integer: string, fraction: string): string;
  compare(locale: string, sensitivity: string, numeric: boolean, ignorePunctuation: boolean, a: string, b: string): number;
  /** A time zone's name as it is written properly; null if there is none of that name. */
  zoneName(name: string): string | null;
  /** A time zone's offset from UTC in minutes and its abbreviation at a moment, with a space between. */
  zone(name: string, ms: number): string;
  /** Words the refusal of a module. */
  cannotImport(name: string): string;
  /** Set by the API: its modules that bundles loaded later share, by name. */
  shared?: Record<string, object>;
  /** Loads a bundle of the folder extras and returns its exports. */
  extras(bundle: string): Record<string, unknown>;
  /** Remembers a call's promise, to tell at the end of the run if nobody awaited it. */
  watch(promise: Promise<unknown>, name: string, trace: Trace): void;
  /** Forgets a promise that nobody can await. */
  excuse(promise: unknown): void;
  /** What came of a promise: its state and its result. */
  settled(promise: Promise<unknown>): ['pending' | 'fulfilled' | 'rejected', unknown];
  /** An error's message in V8's words. */
  reword(message: string, stack: unknown): string;
  /** The name of the global that catch clauses call with what they caught. */
  mending(): string;
  /** Set by the API: the names of a class's members, of all classes for '', as JSON. */
  members?(name: string): string;
  /** Ends the run well, at once or, without a result, when nothing is pending. */
  finish(json: string | undefined): void;
  /** What the program begins with before the script: the functions that its rewritten parts call. */
  helpers(): string;
  /** What the script is called in places of errors. */
  filename(): string;
  /** Ends the run with an error; causes is text to stand behind the stack. */
  fail(name: string, message: string, stack: string, causes?: string): void;
  /** Set by the API: called for a rejection that nobody handles. */
  unhandled?(error: unknown): void;
}

declare const host: Host;

const given: Host = host;
export { given as host };
