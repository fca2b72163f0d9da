import { h, show } from '../ui/dom.js';
import type { TestResult } from '../remote/protocol.js';
import { took } from '../ui/times.js';

const SHAPES: Record<TestResult['status'], string> = { passed: 'tick good', failed: 'cross wrong', skipped: 'dash' };

/** Returns how many tests had each outcome: "3 passed, 1 failed". */
export function tally(tests: readonly TestResult[]): string {
  return (['passed', 'failed', 'skipped'] as const)
    .map((status) => [tests.filter((test) => test.status === status).length, status] as const)
    .filter(([n]) => n > 0)
    .map(([n, status]) => `${n} ${status}`)
    .join(', ');
}

/** The tests of a run's file, each added when it ends. */
export class TestList {
  readonly element = h('ol', { class: 'test-list', 'aria-label': 'Tests', tabindex: 0, hidden: true });
  #tests: TestResult[] = [];

  constructor(private readonly goto: (line: number, column: number) => void) {}

  get tests(): readonly TestResult[] { return this.#tests; }

  clear(): void {
    this.#tests = [];
    this.element.replaceChildren();
    show(this.element, false);
  }

  add(test: TestResult): void {
    const atEnd = this.element.scrollTop + this.element.clientHeight >= this.element.scrollHeight - 24;
    this.#tests.push(test);
    this.element.append(this.#row(test));
    show(this.element, true);
    if (atEnd) this.element.scrollTop = this.element.scrollHeight;
  }

  #row({ title, status, durationMs, error }: TestResult): HTMLElement {
    const row = h(
      'li',
      { class: `test-row ${status}` },
      h('i', { class: `shape ${SHAPES[status] ?? 'ring'}`, role: 'img', 'aria-label': status }),
      h('span', { class: 'test-title', text: title }),
      h('span', { class: 'test-took', text: status === 'skipped' ? 'skipped' : took(durationMs ?? 0) }),
    );
    if (error) {
      const { line = 0, column = 1 } = error;
      const place = line > 0 ? h('button', { type: 'button', class: 'position', text: `line ${line}`, on: { click: () => this.goto(line, column) } }) : null;
      row.append(h('span', { class: 'test-error' }, error.message.split('\n')[0], place && ' · ', place));
    }
    return row;
  }
}
