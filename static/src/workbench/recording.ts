import type { Live } from '../remote/live.js';
import { path, post } from '../ui/api.js';
import { byId, setText, show } from '../ui/dom.js';
import { busy, formError } from '../ui/menus.js';

/** The end of a recording, as far as it is shown. */
export interface Report {
  trajectory_id: string;
  tool_calls: number;
  failures: number;
  artifacts: { screenshots: number };
  lost?: number;
  leak_scan: { state: 'clean' | 'found' | 'not_scanned'; files?: string[] };
}

function plural(n: number, one: string): string {
  return n === 1 ? `1 ${one}` : `${n} ${one}s`;
}

/** Returns what a recording holds, in words. */
export function counts({ tool_calls, failures, artifacts, lost }: Report): string {
  const failed = failures ? ` ${plural(failures, 'step')} failed.` : '';
  const missing = lost ? ` ${plural(lost, 'part')} could not be kept. report.json says why.` : '';
  return `Kept ${plural(tool_calls, 'step')} and ${plural(artifacts.screenshots, 'picture')}.${failed}${missing}`;
}

/** Returns whether a secret was found in a recording, in words. */
export function scanned({ state, files = [] }: Report['leak_scan']): string {
  if (state === 'clean') return 'Its texts were searched for every secret that is known here. None was found. Pictures were not searched.';
  if (state === 'found') return `It cannot be downloaded, because a known secret is in it: ${files.join(', ')}.`;
  return 'It was not searched for secrets.';
}

/** Shows everybody who watches that the session is being recorded. */
export function showRecorded(live: Live): void {
  live.on('life', ({ recording }) => void byId('session').toggleAttribute('data-recorded', recording));
}

/** The button and the dialog that start and end the recording of a session. */
export class Recording {
  #dialog = byId<HTMLDialogElement>('record-dialog');
  #form = byId<HTMLFormElement>('record-form');
  #on = false;
  /** The report of the last recording is shown, until the next one is wanted or begins. */
  #report = false;
  #ending = false;

  constructor(private readonly session: string, live: Live) {
    const open = (): void => {
      formError(this.#form, '');
      this.#dialog.showModal();
    };
    byId('record-button').addEventListener('click', open);
    document.querySelector('[data-act="record"]')?.addEventListener('click', open);
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void busy(byId('record-submit'), (message) => formError(this.#form, message), () => this.#submit());
    });
    live.on('life', ({ recording }) => {
      this.#on = recording;
      if (recording && !this.#ending) this.#report = false;
      this.#update();
    });
  }

  /** Does what the button says now. */
  async #submit(): Promise<void> {
    formError(this.#form, '');
    if (this.#report) {
      this.#report = false;
      this.#update();
    } else if (this.#on) await this.#stop();
    else await this.#start();
  }

  async #start(): Promise<void> {
    const screenshots = String(new FormData(this.#form).get('screenshots'));
    await post(path`/v1/sessions/${this.session}/recording`, { action: 'start', trajectoryBundle: true, screenshots });
    this.#dialog.close();
  }

  async #stop(): Promise<void> {
    this.#ending = true;
    try {
      const { report, timeline = [] } = await post<{ report?: Report; timeline?: unknown[] }>(path`/v1/sessions/${this.session}/recording`, { action: 'stop' });
      setText(byId('record-counts'), report ? counts(report) : `Kept ${plural(timeline.length, 'event')}, in memory only. Download them now.`);
      setText(byId('record-scan'), report ? scanned(report.leak_scan) : '');
      const download = byId<HTMLAnchorElement>('record-download');
      download.toggleAttribute('data-ready', !report || report.leak_scan.state === 'clean');
      download.download = report ? '' : `takeover-${this.session}-recording.jsonl`;
      download.href = report ? path`/v1/trajectories/${report.trajectory_id}/bundle.zip` : URL.createObjectURL(new Blob(timeline.map((event) => `${JSON.stringify(event)}\n`)));
      this.#report = true;
    } finally {
      this.#ending = false;
      this.#update();
    }
  }

  #update(): void {
    for (const button of document.querySelectorAll('#record-button, [data-act="record"]')) {
      button.querySelector('.shape')?.setAttribute('class', this.#on ? 'shape dot recording' : 'shape ring');
    }
    setText(byId('record-button').querySelector('span'), this.#on ? 'Recording' : 'Record');
    setText(document.querySelector('[data-act="record"] span'), this.#on ? 'Recording: end it' : 'Record this session');
    const report = this.#report;
    setText(byId('record-title'), report ? 'The recording has ended' : this.#on ? 'This session is being recorded' : 'Record this session');
    show(byId('record-report'), report);
    show(byId('record-hint'), !report);
    show(byId('record-pictures'), !report && !this.#on);
    const download = byId('record-download');
    show(download, report && download.hasAttribute('data-ready'));
    const submit = byId('record-submit');
    setText(submit, report ? 'Record again' : this.#on ? 'End recording' : 'Start recording');
    submit.classList.toggle('primary', !report);
  }
}
