import { APIError, messageOf, path, post } from '../../ui/api.js';
import { backoff } from '../../ui/backoff.js';
import { byId, maybeById } from '../../ui/dom.js';

/** How often starting the capture is retried while the browser is not ready. */
const TRIES = 6;

/** The groups of events that a person can turn on and off, by their names in the capture's configuration. */
const CHOICES = ['network_response_body', 'screenshots'] as const;
type Choice = (typeof CHOICES)[number];

const KEY = 'takeover.capture.';

/** Starts the capture, and stores the person's choices. */
export class Capture {
  /** The configuration from the server: what is running, and what the panel needs. */
  #base: Record<string, unknown>;

  constructor(private readonly session: string, private readonly say: (words: string) => void, private readonly over: () => boolean) {
    this.#base = JSON.parse(byId('events-pane').dataset.capture || '{}') as Record<string, unknown>;
    for (const choice of CHOICES) {
      const box = maybeById<HTMLInputElement>(`capture-${choice}`);
      if (!box) continue;
      box.checked = this.#chosen(choice);
      box.addEventListener('change', () => this.choose(choice, box.checked));
    }
  }

  /** Turns a group on or off, in this session and in those that the person opens later. */
  choose(choice: Choice, on: boolean): void {
    this.#base[choice] = on;
    const box = maybeById<HTMLInputElement>(`capture-${choice}`);
    if (box) box.checked = on;
    try {
      localStorage.setItem(KEY + choice, on ? 'on' : 'off');
    } catch {
      // The choice is not stored then.
    }
    void this.start();
  }

  #chosen(choice: Choice): boolean {
    let kept: string | null = null;
    try {
      kept = localStorage.getItem(KEY + choice);
    } catch {
      // Nothing is stored.
    }
    // Opening the page does not switch off what somebody else has switched on.
    return this.#base[choice] === true || kept === 'on';
  }

  /** Starts the capture, and retries while the browser is starting or restarting. */
  async start(): Promise<void> {
    for (let attempt = 0; !this.over(); attempt++) {
      try {
        const config = { ...this.#base, ...Object.fromEntries(CHOICES.map((choice) => [choice, byId<HTMLInputElement>(`capture-${choice}`).checked])) };
        await post(path`/v1/sessions/${this.session}/events/start`, config);
        this.say('');
        return;
      } catch (error) {
        this.say(messageOf(error));
        const later = error instanceof APIError && (error.status === 0 || error.status === 503);
        if (!later || attempt >= TRIES) return;
      }
      await new Promise((resolve) => setTimeout(resolve, backoff(attempt)));
    }
  }
}
