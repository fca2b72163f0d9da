import { APIError, messageOf, path, post } from '../../ui/api.js';
import { backoff } from '../../ui/backoff.js';
import { byId, maybeById } from '../../ui/dom.js';

/** How often the server is asked again while its browser is not ready. */
const TRIES = 6;

/** What a person can turn on and off, as the configuration of the capture names it. */
const CHOICES = ['network_response_body', 'screenshots'] as const;
type Choice = (typeof CHOICES)[number];

const KEY = 'takeover.capture.';

/** Turns the capture on, and keeps what the person chose to have in it. */
export class Capture {
  /** What the server said should run: what is running, and what the panel needs. */
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

  /** Turns one thing on or off, now and for the sessions to come. */
  choose(choice: Choice, on: boolean): void {
    this.#base[choice] = on;
    const box = maybeById<HTMLInputElement>(`capture-${choice}`);
    if (box) box.checked = on;
    try {
      localStorage.setItem(KEY + choice, on ? 'on' : 'off');
    } catch {
      // Not remembered then.
    }
    void this.start();
  }

  #chosen(choice: Choice): boolean {
    let kept: string | null = null;
    try {
      kept = localStorage.getItem(KEY + choice);
    } catch {
      // Nothing is remembered.
    }
    // What somebody else turned on is not turned off by opening the page.
    return this.#base[choice] === true || kept === 'on';
  }

  /** A browser that is just starting or restarting cannot be listened to yet. */
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
