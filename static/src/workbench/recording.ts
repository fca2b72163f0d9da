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
  if (state === 'clean') return 'It was searched for every secret that is known here. None was found.';
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

  constructor(private readonly session: string, live: Live) {
    const open = (): void => {
      formError(this.#form, '');
      show(byId('record-report'), false);
      this.#update();
      this.#dialog.showModal();
    };
    byId('record-button').addEventListener('click', open);
    document.querySelector('[data-act="record"]')?.addEventListener('click', open);
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void busy(byId('record-submit'), (message) => formError(this.#form, message), () => (this.#on ? this.#stop() : this.#start()));
    });
    live.on('life', ({ recording }) => {
      this.#on = recording;
      this.#update();
    });
  }

  async #start(): Promise<void> {
    formError(this.#form, '');
    const screenshots = String(new FormData(this.#form).get('screenshots'));
    await post(path`/v1/sessions/${this.session}/recording`, { action: 'start', trajectoryBundle: true, screenshots });
    this.#dialog.close();
  }

  async #stop(): Promise<void> {
    formError(this.#form, '');
    const { report, timeline = [] } = await post<{ report?: Report; timeline?: unknown[] }>(path`/v1/sessions/${this.session}/recording`, { action: 'stop' });
    show(byId('record-report'), true);
    setText(byId('record-counts'), report ? counts(report) : `Kept ${plural(timeline.length, 'event')}, in memory only. Download them now.`);
    setText(byId('record-scan'), report ? scanned(report.leak_scan) : '');
    const download = byId<HTMLAnchorElement>('record-download');
    download.toggleAttribute('data-ready', !report || report.leak_scan.state === 'clean');
    download.download = report ? '' : `takeover-${this.session}-recording.jsonl`;
    download.href = report ? path`/v1/trajectories/${report.trajectory_id}/bundle.zip` : URL.createObjectURL(new Blob(timeline.map((event) => `${JSON.stringify(event)}\n`)));
    this.#on = false;
    this.#update();
  }

  #update(): void {
    const done = !byId('record-report').hidden;
    for (const button of document.querySelectorAll('#record-button, [data-act="record"]')) {
      button.querySelector('.shape')?.setAttribute('class', this.#on ? 'shape dot recording' : 'shape ring');
    }
    setText(byId('record-button').querySelector('span'), this.#on ? 'Recording' : 'Record');
    setText(document.querySelector('[data-act="record"] span'), this.#on ? 'Recording: end it' : 'Record this session');
    setText(byId('record-title'), this.#on ? 'This session is being recorded' : done ? 'The recording has ended' : 'Record this session');
    show(byId('record-hint'), !done);
    show(byId('record-pictures'), !this.#on && !done);
    show(byId('record-download'), done && byId('record-download').hasAttribute('data-ready'));
    show(byId('record-submit'), this.#on || !done);
    setText(byId('record-submit'), this.#on ? 'End recording' : 'Start recording');
  }
}
