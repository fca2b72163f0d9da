import { get, path } from '../../ui/api.js';
import { h, icon } from '../../ui/dom.js';
import { timeOf } from '../output.js';
import type { Run, Step } from '../../remote/protocol.js';

/** How old (ms) the known runs may be before they are requested again. */
const FRESH = 2_000;

/** Finds the script's step that was running at a time. */
export class Steps {
  #asked = 0;
  #runs: Promise<Run[]> = Promise.resolve([]);

  constructor(private readonly session: string, private readonly reveal: (run: Run, line: number) => void) {}

  /** Fills an element with a link to the step, if a script was running. */
  async tell(ts: number, into: HTMLElement): Promise<void> {
    const found = stepAt(await this.#list(), ts);
    if (!found) return;
    const { run, step, during } = found;
    const line = step.line ?? 0;
    into.append(h(
      'button', { type: 'button', class: 'button quiet', title: 'Show it in the script', on: { click: () => this.reveal(run, line) } },
      icon('code'), h('span', { class: 'clip', text: `${during ? 'During' : 'After'} ${line ? `line ${line}: ` : ''}${step.title}` }),
    ));
  }

  #list(): Promise<Run[]> {
    if (Date.now() - this.#asked < FRESH) return this.#runs;
    this.#asked = Date.now();
    this.#runs = get<{ runs: Run[] }>(path`/v1/sessions/${this.session}/runs` + '?limit=50').then(({ runs }) => runs, () => []);
    return this.#runs;
  }
}

/** Returns the step that was running at a time, or the last one before that if the script was running. */
export function stepAt(runs: Run[], ts: number): { run: Run; step: Step; during: boolean } | null {
  for (const run of runs) {
    const began = timeOf(run.startedAt ?? run.createdAt ?? '');
    const ended = run.endedAt ? timeOf(run.endedAt) : Infinity;
    if (!(began <= ts && ts <= ended)) continue;
    const before = (run.steps ?? []).filter((step) => timeOf(step.startedAt) <= ts);
    const during = before.findLast((step) => ts <= timeOf(step.startedAt) + (step.durationMs ?? Infinity));
    const step = during ?? before.at(-1);
    if (step) return { run, step, during: step === during };
  }
  return null;
}
