import { codeFrame, type FrameLine } from './codeframe.js';
import { colour } from '../ui/colours.js';
import { byId, h, setText, show } from '../ui/dom.js';
import { FailedRun } from './failedrun.js';
import { firstLine, Lines } from './lines.js';
import { jsonView } from './panel/json.js';
import type { LogLine, Run, RunError, Step, Takeover, TestResult } from '../remote/protocol.js';
import { RunClock } from './runclock.js';
import { tally, TestList } from './testlist.js';
import { span, took } from '../ui/times.js';

const SHAPES: Record<Run['status'], string> = {
  running: 'ring script', waiting: 'dot person', succeeded: 'tick good', failed: 'cross wrong', cancelled: 'cross', timeout: 'cross wrong',
};

/** The state of a run in words. */
export const STATUS_WORDS: Record<Run['status'], string> = {
  running: 'Running', waiting: 'Waiting for a person', succeeded: 'Succeeded', failed: 'Failed', cancelled: 'Stopped', timeout: 'Timed out',
};

/** Why a run that goes on makes no headway: programs are held, or this or another person is in control. */
export type Waits = 'held' | 'mine' | 'person' | '';
const WAITS_WORDS = { held: 'Held', mine: 'Running · actions wait until you give back control', person: 'Running · actions wait for the person in control' } as const;

/** What is said of a run that waits for the person who is here. */
const HELPS = { words: 'You are helping', brief: 'Helping' };


const asksForPerson = ({ title }: Step): boolean => title.startsWith('requestTakeover(');

/** Returns the CSS classes of the symbol for a run's state. */
export const shapeOf = (status: Run['status']): string => `shape ${SHAPES[status] ?? 'ring'}`;

/** Converts a time, which is ISO text or Unix ms, to Unix ms. */
export function timeOf(at: string | number): number {
  if (typeof at === 'number') return at;
  const below = /\.\d{3}(\d+)/.exec(at)?.[1]; // what Date.parse drops: lines of the same millisecond have an order
  return Date.parse(at) + (below ? Number(`0.${below}`) : 0);
}

/** Positions such as `script.ts:3:14` in an error's text. */
const POSITION = /(?:<script>|[\p{L}\p{Nd}_.-]+\.[jt]s):(\d+)(?::(\d+))?/gu;

/** The outcome of a takeover in words. */
const ENDINGS: Partial<Record<Takeover['state'], string>> = { done: 'The person is done', failed: 'The person could not do it', expired: 'Nobody finished it in time', cancelled: 'The request was cancelled' };

/** The output of a run, below the editor: what it logged, did and returned. */
export class Output {
  #lines = new Lines(byId('output-body'));
  #clock = new RunClock();
  #timer = 0;
  #tests: TestList;
  #failed = new FailedRun();
  #status: Run['status'] = 'running';
  #step: Step | null = null;
  #waits: Waits = '';
  /** What has been shown about takeovers, by their ids. */
  #said = new Set<string>();
  /** When people were asked for, in Unix ms. */
  #asked: number[] = [];

  constructor(private readonly goto: (line: number, column: number) => void) {
    this.#tests = new TestList(goto);
    byId('output-body').before(this.#tests.element);
    byId('output-close').addEventListener('click', () => {
      show(byId('output'), false);
      this.#failed.none();
      this.#inDock();
    });
  }

  /** Clears the output for a new run. */
  begin(): void {
    this.#clear();
    this.status('running');
    this.#timer = window.setInterval(() => this.#showTime(), 1_000);
  }

  #clear(): void {
    window.clearInterval(this.#timer);
    this.#lines.clear();
    this.#tests.clear();
    this.#said.clear();
    this.#asked = [];
    this.#clock.reset();
    this.#failed.none();
    this.#step = null;
    show(byId('output'), true);
    show(byId('output-script'), false);
  }

  /** Updates the state and the time of a running run. */
  progress(run: Run): void {
    this.#clock.set(run);
    this.#step = run.step ?? null;
    this.#say(run.status);
  }

  /** Says what actions of programs wait for, if they do. */
  wait(waits: Waits): void {
    if (waits === this.#waits) return;
    this.#waits = waits;
    if (this.#status === 'running' || this.#status === 'waiting') this.#say(this.#status);
  }

  status(status: Run['status']): void {
    this.#clock.status(status);
    this.#say(status);
  }

  #say(status: Run['status']): void {
    this.#status = status;
    const waits = status === 'running' && this.#waits;
    const words = this.#helps ? HELPS.words : waits ? WAITS_WORDS[waits] : STATUS_WORDS[status] ?? status;
    setText(byId('output-words'), [words, tally(this.#tests.tests)].filter(Boolean).join(' · '));
    byId('output-shape').className = this.#shape;
    this.#inDock();
    this.#showTime();
  }

  #showTime(): void {
    setText(byId('output-time'), this.#clock.words);
    setText(byId('output-waited'), this.#waitsHeld ? '' : this.#clock.waitedWords); // nobody is waited for
    const said = this.#status === 'waiting' && this.#step && asksForPerson(this.#step); // by the line about the takeover
    const step = said ? null : this.#step;
    this.#lines.now(step && { kind: 'step', at: timeOf(step.startedAt), text: step.title, took: span(Date.now() - timeOf(step.startedAt)) });
  }

  /** Says how the run is doing on the buttons that open the panel. */
  #inDock(): void {
    const shown = !byId('output').hidden;
    for (const id of ['dock-shape', 'rail-shape']) {
      show(byId(id), shown);
      byId(id).className = this.#shape;
    }
    const words = this.#brief();
    setText(byId('dock-words'), shown ? words : 'Script');
    setText(byId('rail-words'), shown && this.#status !== 'succeeded' ? words : 'Script'); // "Succeeded" does not fit there
    for (const id of ['dock-script', 'rail-script']) byId(id).setAttribute('aria-label', shown ? `Script: ${words}` : 'Script');
    byId('rail-script').title = shown ? words : '';
  }

  get #shape(): string {
    return this.#waitsHeld ? 'shape pause script' : shapeOf(this.#status);
  }

  /** Returns the state of the run for a small button. */
  #brief(): string {
    if (this.#waitsHeld) return WAITS_WORDS.held;
    if (this.#helps) return HELPS.brief;
    if (this.#status === 'waiting') return 'Waiting';
    return STATUS_WORDS[this.#status] ?? this.#status;
  }

  /** Whether the run waits for a person, who is here. */
  get #helps(): boolean {
    return this.#waits === 'mine' && this.#status === 'waiting';
  }

  /** Whether the run goes on, but is held. */
  get #waitsHeld(): boolean {
    return this.#waits === 'held' && this.#status === 'running';
  }

  log(line: LogLine): void {
    const kind = line.level === 'error' ? 'error' : line.level === 'warn' || line.level === 'warning' ? 'warn' : 'log';
    this.#lines.add({ kind, at: timeOf(line.ts), text: line.text });
  }

  step(step: Step): void {
    if (this.#isSaid(step)) return;
    const error = typeof step.error === 'string' ? step.error : step.error?.message;
    const why = error && firstLine(error);
    this.#lines.add({ kind: error ? 'error' : 'step', at: timeOf(step.startedAt), text: step.title, why, took: step.durationMs === undefined ? '' : took(step.durationMs) });
  }

  /** Whether the line about a takeover says all that a step would: it made the request, and did not fail. As `asks` in web/endedpage.go. */
  #isSaid(step: Step): boolean {
    const began = timeOf(step.startedAt);
    return asksForPerson(step) && !step.error && this.#asked.some((at) => at >= began && at <= began + (step.durationMs ?? 0));
  }

  test(test: TestResult): void {
    this.#tests.add(test);
    this.#say(this.#status);
  }

  /** Shows the events of a takeover, each once and at its own time. */
  takeover(takeover: Takeover): void {
    const say = (what: string, at: string | null | undefined, text: string): void => {
      if (!at || this.#said.has(`${takeover.id} ${what}`)) return;
      this.#said.add(`${takeover.id} ${what}`);
      this.#lines.add({ kind: 'asks', at: timeOf(at), text });
    };
    this.#asked.push(timeOf(takeover.createdAt));
    say('asked', takeover.createdAt, `Asked for a person: ${takeover.reason}`);
    say('claimed', takeover.claimedAt, 'A helper is working');
    if (takeover.state === 'pending' && this.#said.delete(`${takeover.id} claimed`)) this.#lines.add({ kind: 'asks', at: Number.NaN, text: 'The helper left without an answer' });
    say('ended', takeover.endedAt, [ENDINGS[takeover.state] ?? takeover.state, takeover.note].filter(Boolean).join(': '));
  }

  /** Shows the end of a run of this code. `open` puts it into the editor. */
  end(run: Run, code: string, open: (() => void) | null): void {
    const button = byId('output-script');
    show(button, open !== null);
    button.onclick = () => {
      show(button, false);
      open?.();
    };
    window.clearInterval(this.#timer);
    this.progress(run);
    this.#failed.end(run, STATUS_WORDS[run.status]);
    const outcome: HTMLElement[] = [];
    if (run.status === 'cancelled') outcome.push(...stopReason(run.error));
    else if (run.error) outcome.push(this.#error(run.error, code));
    else if (run.result !== undefined && run.result !== null) {
      const value = h('div', { class: 'output-result', 'data-result': true });
      value.append(jsonView(run.result));
      outcome.push(value);
    }
    if (run.truncated) outcome.push(h('p', { class: 'meta', text: 'Some of the output was too long and was cut.' }));
    this.#lines.conclude(...outcome);
  }

  /** Shows why there is no outcome: the run could not be started, or its outcome could not be fetched. */
  refuse(message: string): void {
    window.clearInterval(this.#timer);
    this.status('failed');
    setText(byId('output-time'), '');
    this.#lines.conclude(h('div', { class: 'output-error', 'data-error': true, text: message }));
  }

  /** Shows an earlier run. */
  replay(run: Run, code: string, open: (() => void) | null): void {
    this.#clear();
    const lines: [number, () => void][] = [
      ...(run.logs ?? []).map((line): [number, () => void] => [timeOf(line.ts), () => this.log(line)]),
      ...(run.steps ?? []).map((step): [number, () => void] => [timeOf(step.startedAt), () => this.step(step)]),
    ];
    for (const test of run.tests ?? []) this.#tests.add(test);
    for (const takeover of run.takeovers ?? []) this.takeover(takeover);
    for (const [, write] of lines.sort((a, b) => a[0] - b[0])) write();
    this.end(run, code, open);
  }

  #error(error: RunError, code: string): HTMLElement {
    const text = error.stack?.includes(error.message) ? error.stack : `${error.name}: ${error.message}`;
    const line = error.line ?? 0;
    const shown = h('div', { class: 'output-error', 'data-error': true });
    if (line > 0) shown.append(this.#position(`line ${line}`, line, error.column ?? 1), '  ');
    let last = 0;
    for (const match of text.matchAll(POSITION)) {
      shown.append(text.slice(last, match.index), this.#position(match[0], Number(match[1]), Number(match[2] ?? 1)));
      last = match.index + match[0].length;
    }
    shown.append(text.slice(last));
    const frame = codeFrame(code, line, error.column ?? 1);
    if (frame.length) shown.append(this.#frame(frame, error.column ?? 1));
    return shown;
  }

  // Shows the lines around an error.
  #frame(lines: FrameLine[], column: number): HTMLElement {
    const pre = h('pre', { class: 'code-frame', 'data-frame': true, role: 'group', 'aria-label': 'The lines around the error', 'data-colours': 'typescript' });
    for (const { line, text, mark } of lines) {
      const number = h('span', { class: 'frame-number', text: String(line) });
      if (!mark) pre.append(h('span', { class: 'frame-line' }, number, h('span', { 'data-line': line, text })));
      else {
        const [from, to] = mark;
        const code = h('span', { 'data-line': line }, text.slice(0, from), h('mark', { text: text.slice(from, to) }), text.slice(to));
        pre.append(h('button', { type: 'button', class: 'frame-line at-fault', title: `Go to line ${line}`, on: { click: () => this.goto(line, column) } }, number, code));
      }
    }
    colour(pre);
    return pre;
  }

  #position(text: string, line: number, column: number): HTMLElement {
    return h('button', { type: 'button', class: 'position', text, on: { click: () => this.goto(line, column) } });
  }
}

/** The server's text for a run that a person stopped. The output already says that. */
const BY_HAND = 'somebody stopped it';

/** Why a session ended, as the server says it, in the words of people. */
const ENDED: Record<string, string> = { released: 'the session was ended', timeout: 'the session reached its time limit', 'idle timeout': 'nobody used the session for a while', drained: 'the server was stopped' };

/** Says why a run was stopped, unless a person pressed Stop, which is not an error. */
function stopReason(error: RunError | null | undefined): HTMLElement[] {
  const reason = error?.message.replace(/^the run was cancelled(: )?/, '') ?? '';
  return reason === '' || reason === BY_HAND ? [] : [h('p', { class: 'meta', text: `Stopped: ${ENDED[reason] ?? reason}.` })];
}
