import { codeFrame, type FrameLine } from './codeframe.js';
import { byId, h, setText, show } from './dom.js';
import { jsonView } from './panel/json.js';
import type { LogLine, Run, RunError, Step, Takeover, TestResult } from './protocol.js';
import { tally, TestList } from './testlist.js';
import { clock, timeOfDay, took } from './times.js';

const SHAPES: Record<Run['status'], string> = {
  running: 'ring script', waiting: 'dot person', succeeded: 'tick good', failed: 'cross wrong', cancelled: 'cross', timeout: 'cross wrong',
};

export const STATUS_WORDS: Record<Run['status'], string> = {
  running: 'Running', waiting: 'Waiting for a person', succeeded: 'Succeeded', failed: 'Failed', cancelled: 'Stopped', timeout: 'Out of time',
};

export const shapeOf = (status: Run['status']): string => `shape ${SHAPES[status] ?? 'ring'}`;

/** A run's `ts` and `startedAt` come as ISO text or as Unix ms. */
export const timeOf = (at: string | number): number => (typeof at === 'number' ? at : Date.parse(at));

/** Positions like `script.ts:3:14` or `line 3` in an error's text. */
const POSITION = /(?:<script>|[\p{L}\p{Nd}_.-]+\.[jt]s):(\d+)(?::(\d+))?/gu;

/** What a run printed, did and gave back, under the editor. */
export class Output {
  #body = byId('output-body');
  #startedAt = 0;
  #timer = 0;
  #result: HTMLElement[] = [];
  #tests: TestList;
  #status: Run['status'] = 'running';

  constructor(private readonly goto: (line: number, column: number) => void) {
    this.#tests = new TestList(goto);
    this.#body.before(this.#tests.element);
    byId('output-close').addEventListener('click', () => show(byId('output'), false));
  }

  begin(): void {
    this.#body.replaceChildren();
    this.#tests.clear();
    this.#result = [];
    this.#startedAt = Date.now();
    show(byId('output'), true);
    show(byId('output-script'), false);
    this.status('running');
    window.clearInterval(this.#timer);
    const tick = (): void => setText(byId('output-time'), clock(Math.floor((Date.now() - this.#startedAt) / 1000) * 1000));
    tick();
    this.#timer = window.setInterval(tick, 1_000);
  }

  status(status: Run['status']): void {
    this.#status = status;
    setText(byId('output-words'), [STATUS_WORDS[status] ?? status, tally(this.#tests.tests)].filter(Boolean).join(' · '));
    byId('output-shape').className = shapeOf(status);
  }

  log(line: LogLine): void {
    const level = line.level === 'error' ? 'error' : line.level === 'warn' || line.level === 'warning' ? 'warn' : 'log';
    this.#line(level, timeOf(line.ts), [line.text]);
  }

  step(step: Step): void {
    const error = typeof step.error === 'string' ? step.error : step.error?.message;
    this.#line(error ? 'error' : 'step', timeOf(step.startedAt), [error ? `${step.title}: ${error.split('\n').find((line) => line.trim() !== '') ?? ''}` : step.title], step.durationMs === undefined ? '' : took(step.durationMs));
  }

  test(test: TestResult): void {
    this.#tests.add(test);
    this.status(this.#status);
  }

  takeover(takeover: Takeover): void {
    const words: Record<Takeover['state'], string> = {
      pending: `Waiting for a person: ${takeover.reason}`, claimed: 'A person is on it', done: 'The person is done', failed: `The person could not: ${takeover.note ?? ''}`,
      expired: 'Nobody came in time', cancelled: 'The request was withdrawn',
    };
    this.#line('asks', timeOf(takeover.endedAt ?? takeover.createdAt), [words[takeover.state] ?? takeover.state]);
  }

  /** The end of a run of this code. */
  end(run: Run, code: string): void {
    window.clearInterval(this.#timer);
    this.status(run.status);
    if (run.durationMs !== undefined) setText(byId('output-time'), took(run.durationMs));
    for (const element of this.#result) element.remove();
    this.#result = [];
    if (run.error) this.#append(this.#error(run.error, code));
    else if (run.result !== undefined && run.result !== null) {
      const value = h('div', { class: 'output-result', 'data-result': true });
      value.append(jsonView(run.result));
      this.#append(value);
    }
    if (run.truncated) this.#append(h('p', { class: 'meta', text: 'Some of the output was too long and was cut.' }));
  }

  /** Something went wrong before there was a run. */
  refuse(message: string): void {
    window.clearInterval(this.#timer);
    this.status('failed');
    setText(byId('output-time'), '');
    this.#append(h('div', { class: 'output-line error' }, h('span', { class: 'at' }), h('span', { class: 'what', text: message })));
  }

  /** A run of before, whole; open puts its script into the editor. */
  replay(run: Run, code: string, open: (() => void) | null): void {
    this.begin();
    const button = byId('output-script');
    show(button, open !== null);
    button.onclick = () => {
      show(button, false);
      open?.();
    };
    window.clearInterval(this.#timer);
    const lines: [number, () => void][] = [
      ...(run.logs ?? []).map((line): [number, () => void] => [timeOf(line.ts), () => this.log(line)]),
      ...(run.steps ?? []).map((step): [number, () => void] => [timeOf(step.startedAt), () => this.step(step)]),
    ];
    for (const test of run.tests ?? []) this.#tests.add(test);
    for (const [, write] of lines.sort((a, b) => a[0] - b[0])) write();
    this.end(run, code);
  }

  #error(error: RunError, code: string): HTMLElement {
    const text = error.stack?.includes(error.message) ? error.stack : `${error.name}: ${error.message}`;
    const what = h('span', { class: 'what' });
    let last = 0;
    for (const match of text.matchAll(POSITION)) {
      what.append(text.slice(last, match.index), this.#position(match[0], Number(match[1]), Number(match[2] ?? 1)));
      last = match.index + match[0].length;
    }
    what.append(text.slice(last));
    const line = error.line ?? 0;
    const link = line > 0 ? this.#position(`line ${line}`, line, error.column ?? 1) : h('span');
    const shown = h('div', { class: 'output-line error', 'data-error': true }, link, what);
    const frame = codeFrame(code, line, error.column ?? 1);
    if (frame.length) shown.append(this.#frame(frame, error.column ?? 1));
    return shown;
  }

  // Wide lines scroll, by keyboard too.
  #frame(lines: FrameLine[], column: number): HTMLElement {
    const pre = h('pre', { class: 'code-frame', 'data-frame': true, tabindex: 0, 'aria-label': 'The lines around the error' });
    for (const { line, text, caret } of lines) {
      const row = h('span', { class: caret === null ? 'frame-line' : 'frame-line at-fault' }, h('span', { class: 'frame-number', text: String(line) }), h('span', { text }));
      if (caret === null) pre.append(row, '\n');
      else pre.append(this.#reach(row, line, column), '\n', h('span', { class: 'frame-line' }, h('span', { class: 'frame-number' }), h('span', { class: 'frame-caret', text: `${caret}^` })), '\n');
    }
    return pre;
  }

  /** Makes the line at fault lead to its place in the editor. */
  #reach(row: HTMLElement, line: number, column: number): HTMLElement {
    row.addEventListener('click', () => this.goto(line, column));
    return row;
  }

  #position(text: string, line: number, column: number): HTMLElement {
    return h('button', { type: 'button', class: 'position', text, on: { click: () => this.goto(line, column) } });
  }

  #line(kind: string, at: number, what: string[], duration = ''): void {
    this.#append(
      h('div', { class: `output-line ${kind}` }, h('span', { class: 'at', text: Number.isNaN(at) ? '' : timeOfDay(at) }), h('span', { class: 'what', text: what.join(' ') }), h('span', { class: 'took', text: duration })),
      kind === 'result',
    );
  }

  #append(element: HTMLElement, keep = true): void {
    const atEnd = this.#body.scrollTop + this.#body.clientHeight >= this.#body.scrollHeight - 24;
    this.#body.append(element);
    if (keep && !element.classList.contains('output-line')) this.#result.push(element);
    if (atEnd) this.#body.scrollTop = this.#body.scrollHeight;
  }
}
