import { get, messageOf, path, post } from '../ui/api.js';
import { byId, h, setText, show } from '../ui/dom.js';
import type { Editor } from './editor/editor.js';
import type { Live } from '../remote/live.js';
import { firstLine } from './lines.js';
import { notice } from '../ui/notices.js';
import { Output, shapeOf, STATUS_WORDS, timeOf } from './output.js';
import { isOpen, type LogLine, type Run, type Step, type Takeover, type TestResult } from '../remote/protocol.js';
import { RunCode } from './runcode.js';
import type { Scripts } from './saved.js';
import { tally } from './testlist.js';
import { EventStream } from '../ui/sse.js';
import { ago, took } from '../ui/times.js';

/** Number of listed earlier runs. */
const LISTED = 50;

/** The tabs of the script's pane. */
const PANELS = ['script', 'runs', 'files'] as const;

/** The code and arguments of a run. */
interface RunScript { filename?: string | undefined; code: string; args?: unknown }

const NO_SCRIPT: RunScript = { code: '' };

/** The server's name for a script without one. */
const UNNAMED = 'script.ts';

/** Returns the name of a run's script, or what its first comment says; '' for neither. As scriptOf in web/sessionlist.go. */
const nameOf = (run: Run): string => (run.filename && run.filename !== UNNAMED ? run.filename : run.title ?? '');

const isOver = (run: Run): boolean => run.status !== 'running' && run.status !== 'waiting';
const isWrong = (run: Run | undefined): boolean => run?.status === 'failed' || run?.status === 'timeout';

/** Runs the editor's script in the session, and shows its output and earlier runs. */
export class Runner {
  #current: string | null = null;
  /** What was heard last of the run that the output shows. */
  #heard: Run | null = null;
  /** The newest run that was listed, or watched to its end. */
  #newest = '';
  /** The script of the output: for the lines around an error, and to run it again. */
  #script: RunScript = NO_SCRIPT;
  #stream: EventStream | null = null;
  #output: Output;
  #run = byId<HTMLButtonElement>('run');
  #runCode = new RunCode();
  #stop = byId<HTMLButtonElement>('run-stop');

  /** `told` is called when the page shows a run that goes on, or by itself one that is over. */
  constructor(private readonly session: string, private readonly live: Live, private readonly editor: Editor, private readonly scripts: Scripts, private readonly told: () => void) {
    this.#output = new Output((line, column) => this.#goto(line, column));
    byId('output-close').addEventListener('click', () => {
      this.#runCode.hide();
      this.#turn(false);
    });
    byId('output-code').addEventListener('click', () => this.#turn(!byId('panel-script').hasAttribute('data-code')));
    this.#run.addEventListener('click', () => void this.start(this.#runCode.shown ? this.#script : undefined));
    // The second press on Run comes here.
    this.#stop.addEventListener('click', ({ detail }) => detail < 2 && void this.stop());
    editor.onRun = () => void this.start();
    live.on('run', (run) => this.#changed(run));
    live.on('control', () => this.#output.wait(live.personActs ? (live.mine ? 'mine' : 'person') : live.held ? 'held' : ''));
    this.#tabs();
    let adopted = this.#adopt(new URLSearchParams(location.search).get('run'));
    // A run may have failed before the viewer was connected.
    live.on('hello', () => (adopted = adopted.then(() => this.#adopt(null))));
  }

  /** Shows the code of a run, if it is not the one in the editor. */
  #showCode(run: Run): void {
    if (!this.#code || this.#code === this.editor.value) this.#runCode.hide();
    else this.#runCode.show(this.#code, nameOf(run) || 'The script of this run');
  }

  /** Returns what puts the script of the output into the editor, or null if it is there. */
  #opening(): (() => void) | null {
    const { code, args = null } = this.#script;
    if (!code || code === this.editor.value) return null;
    return () => {
      this.#runCode.hide();
      this.scripts.use(code, args);
    };
  }

  /** Shows the code instead of the output, or the output, where there is room for one of both. */
  #turn(code: boolean): void {
    const typing = this.#typing;
    byId('panel-script').toggleAttribute('data-code', code);
    byId('output-code').setAttribute('aria-pressed', String(code));
    if (code) this.#runCode.reveal();
    else if (typing && !byId('editor').checkVisibility()) byId('output-code').focus();
  }

  get #code(): string {
    return this.#script.code;
  }

  /** Whether somebody may be typing into the editor. */
  get #typing(): boolean {
    return byId('editor').contains(document.activeElement);
  }

  /** Names the session after its last run. */
  #name(run: Run | undefined): void {
    const name = run ? nameOf(run) : '';
    setText(byId('session-script'), name);
    show(byId('session-script'), name !== '');
  }

  /** Marks the line that runs. */
  #at(run: Run): void {
    const line = isOver(run) ? null : (run.step?.line ?? null);
    if (this.#runCode.shown) this.#runCode.mark(line);
    this.editor.running(this.#code === this.editor.value ? line : null);
  }

  /** Runs the editor's script, or the one that is shown over it again. */
  async start(shown?: RunScript): Promise<void> {
    if (this.#current || this.#run.disabled) return;
    if (!shown) this.#runCode.hide();
    this.#script = shown ?? { code: this.editor.value, args: this.scripts.args, filename: this.scripts.filename };
    this.#turn(false);
    this.#run.disabled = true;
    this.editor.mark(null);
    this.#output.begin();
    // A script waits while a person is in control, so Run gives control back first.
    if (this.live.mine) this.live.releaseControl();
    try {
      const { code, args, filename } = this.#script;
      const run = await post<Run>(path`/v1/sessions/${this.session}/scripts`, { code, args, filename });
      this.#follow(run);
    } catch (error) {
      this.#output.refuse(messageOf(error));
      this.#idle();
    }
  }

  async stop(): Promise<void> {
    if (!this.#current) return;
    this.#stop.disabled = true;
    try {
      await post(path`/v1/sessions/${this.session}/runs/${this.#current}/cancel`);
    } catch (error) {
      notice(messageOf(error));
      this.#stop.disabled = false;
    }
  }

  /** Follows the run that goes on, or shows the one that the page's address names, or the last one if it failed since the runs were listed, unless the person has another one open or types. */
  async #adopt(named: string | null): Promise<void> {
    const listed = this.#newest;
    const runs = await this.#list();
    if (this.#current || this.#run.disabled) return;
    const open = runs.find((run) => !isOver(run));
    if (open) return this.#join(open);
    const last = runs[0];
    const failed = last && isWrong(last) && last.id !== listed && byId('output').hidden && !this.#typing ? last.id : null;
    const shown = named ?? failed;
    if (shown && (await this.#replay(shown))) this.told();
  }

  /** Follows a run that somebody else started. */
  async #join(run: Run): Promise<void> {
    this.#current = run.id;
    this.#heard = run;
    this.#turn(this.#typing);
    this.#output.begin();
    this.#output.progress(run);
    this.#script = await this.#scriptOf(run.id).catch(() => NO_SCRIPT);
    if (this.#current !== run.id) return;
    const now = this.#heard; // it may be in another call meanwhile
    this.#follow(now);
    this.#showCode(now);
    this.#at(now);
  }

  #scriptOf(id: string): Promise<RunScript> {
    return get<RunScript>(path`/v1/sessions/${this.session}/runs/${id}/script`);
  }

  #follow(run: Run): void {
    this.#current = run.id;
    this.#run.disabled = true;
    show(this.#run, false);
    show(this.#stop, true);
    this.#stop.disabled = false;
    this.told();
    this.#name(run);
    this.#output.progress(run);
    this.#stream?.close();
    this.#stream = new EventStream({
      url: path`/v1/sessions/${this.session}/runs/${run.id}/stream`,
      once: true,
      event: ({ event, data }) => this.#receive(event, data),
      state: (state) => {
        if (state === 'closed' && this.#current === run.id) void this.#askResult(run.id);
      },
    });
  }

  #receive(event: string, data: string): void {
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      return;
    }
    if (event === 'log') this.#output.log(value as LogLine);
    else if (event === 'step') this.#output.step(value as Step);
    else if (event === 'test') this.#output.test(value as TestResult);
    else if (event === 'takeover') {
      const takeover = value as Takeover;
      this.#output.takeover(takeover);
      this.#output.status(isOpen(takeover.state) ? 'waiting' : 'running');
    } else if (event === 'end') this.#end(value as Run);
  }

  #changed(run: Run): void {
    if (run.id === this.#current) {
      this.#heard = run;
      if (!isOver(run)) this.#output.progress(run);
      this.#at(run);
    } else if (!this.#current && !isOver(run) && !this.#run.disabled) void this.#join(run);
  }

  /** Requests the result of a run whose stream ended without one. */
  async #askResult(id: string): Promise<void> {
    try {
      const run = await get<Run>(path`/v1/sessions/${this.session}/runs/${id}`);
      if (this.#current === id && isOver(run)) this.#end(run);
    } catch (error) {
      if (this.#current === id) {
        this.#output.refuse(messageOf(error));
        this.#idle();
      }
    }
  }

  #end(run: Run): void {
    if (!this.#current) return;
    this.#newest = run.id;
    this.#output.end(run, this.#code, this.#opening());
    this.#at(run);
    if (this.#runCode.shown) this.#runCode.mark(run.error?.line ?? null, true);
    if (run.status !== 'cancelled' && run.error?.line && this.#code === this.editor.value) this.editor.mark(run.error.line);
    this.#idle();
    void this.#list();
  }

  #idle(): void {
    this.#current = null;
    this.#stream?.close();
    this.#stream = null;
    this.#run.disabled = false;
    show(this.#run, true);
    show(this.#stop, false);
  }

  #goto(line: number, column: number): void {
    this.#choose('script');
    this.#turn(true);
    if (this.#runCode.shown) return this.#runCode.mark(line, true);
    this.editor.goto(line, column);
  }

  /** Shows a line of a run's script in the editor. If the editor has another script, or the line is not known, shows the run's output instead. */
  async reveal(run: Run, line: number): Promise<void> {
    this.#choose('script');
    const code = await this.#scriptOf(run.id).then((script) => script.code, () => null);
    if (code === this.editor.value && line > 0) this.editor.goto(line, 1);
    else if (run.id !== this.#current) await this.#replay(run.id);
  }

  #tabs(): void {
    for (const [at, name] of PANELS.entries()) {
      const tab = byId(`tab-${name}`);
      tab.addEventListener('click', () => this.#choose(name));
      tab.addEventListener('keydown', (event) => {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
        const other = PANELS[(at + (event.key === 'ArrowRight' ? 1 : PANELS.length - 1)) % PANELS.length] ?? name;
        this.#choose(other);
        byId(`tab-${other}`).focus();
      });
    }
  }

  #choose(name: (typeof PANELS)[number]): void {
    for (const each of PANELS) {
      const tab = byId(`tab-${each}`);
      tab.setAttribute('aria-selected', String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      show(byId(`panel-${each}`), each === name);
    }
    if (name === 'runs') void this.#list();
  }

  async #list(): Promise<Run[]> {
    const panel = byId('panel-runs');
    let runs: Run[];
    try {
      ({ runs } = await get<{ runs: Run[] }>(path`/v1/sessions/${this.session}/runs` + `?limit=${LISTED}`));
    } catch (error) {
      panel.replaceChildren(h('p', { class: 'runs-empty', text: messageOf(error) }));
      return [];
    }
    runs = [...runs].sort((a, b) => startOf(b) - startOf(a));
    this.#newest = runs[0]?.id ?? '';
    this.#name(runs[0]);
    const count = byId('runs-count');
    show(count, runs.length > 0);
    setText(count, String(runs.length));
    count.toggleAttribute('data-wrong', isWrong(runs[0]));
    panel.replaceChildren(...(runs.length ? runs.map((run) => this.#row(run)) : [h('p', { class: 'runs-empty', text: 'No script has run in this session yet.' })]));
    return runs;
  }

  #row(run: Run): HTMLElement {
    const summary = run.tests?.length ? tally(run.tests) : run.error && run.status !== 'cancelled' ? `${run.error.name}: ${firstLine(run.error.message)}` : run.result !== undefined && run.result !== null ? JSON.stringify(run.result) : '';
    const at = startOf(run);
    return h(
      'button',
      { type: 'button', class: 'run-row', on: { click: () => void this.#replay(run.id) } },
      h('i', { class: shapeOf(run.status), 'aria-hidden': 'true' }),
      h('span', { class: 'clip' }, STATUS_WORDS[run.status] ?? run.status, ' ', nameOf(run) && `${nameOf(run)} `, h('span', { class: 'meta mono', text: summary })),
      h('span', { class: 'meta tabular', text: [run.durationMs === undefined ? '' : took(run.durationMs + (run.waitedMs ?? 0)), at ? ago(Date.now() - at) : ''].filter(Boolean).join(' · ') }),
    );
  }

  /** Shows the output of a run that is over. Returns false if it cannot, and says why. */
  async #replay(id: string): Promise<boolean> {
    if (this.#current) {
      if (id === this.#current) this.#choose('script');
      else notice('A script is running. Its output stays open until it ends.');
      return false;
    }
    try {
      const [run, script] = await Promise.all([get<Run>(path`/v1/sessions/${this.session}/runs/${id}`), this.#scriptOf(id)]);
      if (this.#current || this.#run.disabled) return false;
      this.#choose('script');
      this.#turn(false);
      this.#script = script;
      this.#showCode(run);
      if (this.#runCode.shown) this.#runCode.mark(run.error?.line ?? null, true);
      this.#output.replay(run, script.code, this.#opening());
      return true;
    } catch (error) {
      notice(messageOf(error));
      return false;
    }
  }
}

function startOf(run: Run): number {
  const at = run.startedAt ?? run.createdAt;
  return at ? timeOf(at) : 0;
}
