/** A stored stack; only the host can read it. */
export interface Trace { readonly trace: unique symbol }

/** A step of the script with one operation. */
export interface Call {
  /** The name of the API's method, with which errors begin. */
  name: string;
  trace: Trace;
  /** The call in readable form. Without it, the step is not reported. */
  title: (() => string) | undefined;
  /** Converts the answer to the step's value. */
  take: ((answer: any) => unknown) | undefined;
}

/** The functions of the worker's Go side (scripting/worker/host.go). It is the parameter of the bundle's function. */
export interface Host {
  /** Starts an operation. The promise settles with the result of settle. */
  call<T>(op: string, params: string, trace: Trace | undefined, call?: Call): Promise<T>;
  /** Set by the API: returns an operation's answer, or throws its error. Both are JSON. Times are in milliseconds. */
  settle?(failure: string | null, answer: string, call: Call | undefined, startedAt: number, duration: number): unknown;
  /** Makes a running operation fail with a reason. */
  abort(answer: Promise<unknown>, reason: string): void;
  /** Makes all running operations fail with a reason and returns their number; over is called each time one has ended. */
  abortAll(reason: string, over: () => void): number;
  /** Opens an API call, which is reported early if it lasts; title is called then. Returns an id for over. */
  begin(title: () => string, startedAt: number, trace: Trace): number;
  /** Closes what begin has opened. */
  over(id: number): void;
  /** Reports an API call that ended; times are milliseconds, error is '' if there was none. */
  step(title: string, startedAt: number, duration: number, error: string, trace: Trace | undefined): void;
  /** Reports a test that ended; duration is in ms, name is '' if there was no error. */
  test(title: string, status: string, duration: number, name: string, message: string, stack: string): void;
  log(level: string, text: string): void;
  trace(): Trace;
  /** Returns the frames of a trace that are in the script, each preceded by a newline. */
  frames(trace: Trace): string;
  /** Returns the frames of an error's stack that are in the script, each preceded by a newline. */
  tidy(stack: string): string;
  setTimer(f: () => void, ms: number, repeat: boolean): number;
  clearTimer(id: number): void;
  /** Sets whether a timer keeps the run from ending, as it does by default. */
  holdTimer(id: number, held: boolean): void;
  /** Returns the milliseconds since 1970, to the microsecond. */
  clock(): number;
  /** Returns the milliseconds since the worker started. */
  now(): number;
  encode(text: string): ArrayBuffer;
  decode(buffer: ArrayBuffer, start: number, end: number, fatal: boolean): string;
  toBase64(buffer: ArrayBuffer, start: number, end: number): string;
  /** Returns null if the text is not base64. */
  fromBase64(text: string): ArrayBuffer | null;
  random(bytes: number): ArrayBuffer;
  /** Returns a Unicode property as the content of a character class; null for an unknown name. */
  unicode(property: string): string | null;
  /** Returns the data of a locale as JSON; null if there is none. */
  locale(name: string): string | null;
  /** Returns the plural form for a number with these digits. */
  plural(locale: string, ordinal: boolean, integer: string, fraction: string): string;
  compare(locale: string, sensitivity: string, numeric: boolean, ignorePunctuation: boolean, a: string, b: string): number;
  /** Returns the canonical name of a time zone; null for an unknown name. */
  zoneName(name: string): string | null;
  /** Returns a time zone's offset from UTC in minutes and its abbreviation at a time, separated by a space. */
  zone(name: string, ms: number): string;
  /** Returns the message for a refused module. */
  cannotImport(name: string): string;
  /** Set by the API: modules that later bundles share, by name. */
  shared?: Record<string, object>;
  /** Loads a bundle in the folder extras and returns its exports. */
  extras(bundle: string): Record<string, unknown>;
  /** Remembers a call's promise, to report it at the end of the run if nobody awaited it. */
  watch(promise: Promise<unknown>, name: string, trace: Trace): void;
  /** Forgets a promise, because nobody can await it. */
  excuse(promise: unknown): void;
  /** Returns the state and the result of a promise. */
  settled(promise: Promise<unknown>): ['pending' | 'fulfilled' | 'rejected', unknown];
  /** Returns an error's message in V8's words. */
  reword(message: string, stack: unknown): string;
  /** Returns the name of the global that catch clauses call with the caught value. */
  mending(): string;
  /** Set by the API: returns the names of the members of a class, or of all classes if name is '', as JSON. */
  members?(name: string): string;
  /** Ends the run successfully. With json, at once; without it, as soon as nothing is pending. */
  finish(json: string | undefined): void;
  /** Returns the beginning of the program before the script: functions that its rewritten parts call. */
  helpers(): string;
  /** Returns the script's name in stacks. */
  filename(): string;
  /** Ends the run with an error. causes is text that follows the stack. */
  fail(name: string, message: string, stack: string, causes?: string): void;
  /** Set by the API: is called for an unhandled rejection. */
  unhandled?(error: unknown): void;
}

declare const host: Host;

const given: Host = host;
export { given as host };
