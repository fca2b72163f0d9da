import type { Live } from './live.js';
import type { Rect } from './protocol.js';
import type { Screen } from './screen.js';

interface Looks { mode: string; enter: string; complete: string; capitals: string }

const PLAIN: Looks = { mode: 'text', enter: 'enter', complete: 'off', capitals: 'off' };
/** The kind of on-screen keyboard for each kind of field in `focus`. */
const LOOKS: Record<string, Partial<Looks>> = {
  text: { enter: 'go', capitals: 'sentences' },
  multiline: { capitals: 'sentences' },
  password: { enter: 'go' },
  otp: { mode: 'numeric', enter: 'go', complete: 'one-time-code' },
  card: { mode: 'numeric', enter: 'next' },
  email: { mode: 'email', enter: 'go' },
  tel: { mode: 'tel', enter: 'go' },
  number: { mode: 'decimal', enter: 'go' },
  numeric: { mode: 'numeric', enter: 'go' },
  url: { mode: 'url', enter: 'go' },
  search: { mode: 'search', enter: 'search' },
  none: { mode: 'none' },
};

export function looksOf(kind: string): Looks {
  return { ...PLAIN, ...(Object.hasOwn(LOOKS, kind) ? LOOKS[kind] : {}) };
}

/**
 * Keeps the field that reads the keyboard at the position of the remote caret, as far as that is in sight, so that the window of an input method appears there. It also gives the
 * field the kind of the remote field, so that a phone shows the right keys.
 */
export class Caret {
  #rect: Rect | null = null;

  constructor(private readonly screen: Screen, live: Live, private readonly field: HTMLTextAreaElement) {
    live.on('focus', ({ editable, kind, field: remote }) => {
      this.#rect = editable ? remote?.rect ?? null : null;
      const looks = looksOf(editable ? kind : 'text');
      field.inputMode = looks.mode;
      field.enterKeyHint = looks.enter;
      field.setAttribute('autocomplete', looks.complete);
      field.autocapitalize = looks.capitals;
      this.#place();
    });
    screen.on('view', () => this.#place());
  }

  #place(): void {
    const { style } = this.field;
    if (!this.#rect) {
      for (const name of ['left', 'top', 'height', 'line-height']) style.removeProperty(name);
      return;
    }
    // The field stays inside the stage: a browser scrolls whatever is needed to show a caret.
    const stage = this.screen.stage.getBoundingClientRect();
    const { left, top, height } = this.screen.toWindow(this.#rect);
    const tall = Math.min(stage.height, Math.max(2, height));
    const within = (offset: number, room: number): number => Math.min(Math.max(0, offset), Math.max(0, room));
    style.left = `${within(left - stage.left, stage.width - 2)}px`;
    style.top = `${within(top - stage.top, stage.height - tall)}px`;
    style.height = style.lineHeight = `${tall}px`;
  }
}
