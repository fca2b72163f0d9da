import { modifiersOf } from './pointer.js';
import { MODIFIER, type ComposeMessage, type KeyMessage, type TextMessage } from './protocol.js';

/** What a key press has in common with KeyboardEvent, so that the mapping can be tested without a browser. */
export interface KeyPress {
  key: string;
  code: string;
  location: number;
  repeat: boolean;
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altGraph: boolean;
}

const COMMAND_KEYS: Record<string, { key: string; code: string }> = {
  MetaLeft: { key: 'Control', code: 'ControlLeft' },
  MetaRight: { key: 'Control', code: 'ControlRight' },
};

/** What a Mac's Option does with these keys, Control does on the other side: by words. */
const BY_WORDS = new Set(['Backspace', 'Delete', 'ArrowLeft', 'ArrowRight']);
/** And what Command does with these: to the ends of a line or of everything. */
const TO_ENDS: Record<string, { key: string; modifiers: number }> = {
  ArrowLeft: { key: 'Home', modifiers: 0 }, ArrowRight: { key: 'End', modifiers: 0 },
  ArrowUp: { key: 'Home', modifiers: MODIFIER.ctrl }, ArrowDown: { key: 'End', modifiers: MODIFIER.ctrl },
};

/** A key that types one character, as far as its name tells. */
function isCharacter(key: string): boolean {
  return [...key].length === 1;
}

/**
 * The message for a key. On a Mac, Command becomes Control, which is what
 * shortcuts need on the other side, and keys that edit become what does the
 * same there; Option types characters and is not sent as
 * Alt with them. AltGr arrives from Windows as Ctrl+Alt and types too.
 */
export function keyMessage(event: 'down' | 'up', press: KeyPress, mac: boolean): KeyMessage {
  let { key, code } = press;
  let modifiers = modifiersOf(press);
  if (mac) {
    if (modifiers & MODIFIER.meta) modifiers = (modifiers & ~MODIFIER.meta) | MODIFIER.ctrl;
    const replaced = COMMAND_KEYS[code];
    if (replaced) ({ key, code } = replaced);
    const end = TO_ENDS[code];
    if (end && press.metaKey && !press.altKey) {
      key = code = end.key;
      modifiers = (modifiers & MODIFIER.shift) | end.modifiers;
    } else if (BY_WORDS.has(code) && press.altKey) modifiers = (modifiers & ~MODIFIER.alt) | MODIFIER.ctrl;
  }
  const types = isCharacter(key);
  const third = press.altGraph || (mac && press.altKey && !press.ctrlKey && !press.metaKey);
  if (third && types) modifiers &= ~(MODIFIER.alt | MODIFIER.ctrl);
  let text = '';
  if (event === 'down' && !(modifiers & (MODIFIER.ctrl | MODIFIER.meta | MODIFIER.alt))) {
    if (types) text = key;
    else if (key === 'Enter') text = '\r';
  }
  return { type: 'key', event, key, code, location: press.location, repeat: press.repeat, modifiers, text };
}

/** Keys that say nothing by themselves: an input method or a dead key is at work, and its text follows. */
function isProcessed(event: KeyboardEvent): boolean {
  return event.isComposing || event.key === 'Process' || event.key === 'Dead' || event.key === 'Unidentified' || event.keyCode === 229;
}

/** The shortcut that pastes: by what the key means, and by its place where it means no Latin letter. */
export function isPaste(press: Pick<KeyPress, 'key' | 'code' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>, mac: boolean): boolean {
  if (!mac && press.shiftKey && !press.ctrlKey && !press.altKey && press.key === 'Insert') return true;
  if (press.altKey || !(mac ? press.metaKey : press.ctrlKey)) return false;
  return /^[a-z]$/i.test(press.key) ? press.key.toLowerCase() === 'v' : press.code === 'KeyV';
}

/** The presses and releases of keys held together, each by its code without a side, such as Control+KeyW. */
export function chordOf(names: string): { down: KeyPress[]; up: KeyPress[] } {
  const held = new Set<string>();
  const press = (name: string): KeyPress => ({
    key: /^Key[A-Z]$/.test(name) ? name.slice(3).toLowerCase() : name, code: MODIFIER_NAMES.has(name) ? `${name}Left` : name, location: MODIFIER_NAMES.has(name) ? 1 : 0, repeat: false,
    altKey: held.has('Alt'), ctrlKey: held.has('Control'), metaKey: held.has('Meta'), shiftKey: held.has('Shift'), altGraph: false,
  });
  const codes = names.split('+');
  const down = codes.map((name) => (held.add(name), press(name)));
  const up = codes.reverse().map((name) => (held.delete(name), press(name)));
  return { down, up };
}

const MODIFIER_NAMES = new Set(['Control', 'Alt', 'Shift', 'Meta']);

export const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);

/** What the field holds while nothing is composed: something to delete, so that Backspace on a phone is seen. */
const SENTINEL = '\u200b\u200b';

interface Options {
  send(message: KeyMessage | TextMessage | ComposeMessage): void;
  /** What the person pastes. */
  paste(data: DataTransfer | null): void;
  /** The person wants their own keyboard back. */
  leave(): void;
}

/**
 * The keyboard. Keys are read from a text field that cannot be seen: only an
 * editable element gets composition events, and only one opens the keyboard of
 * a phone. Nothing is heard while another element has the focus.
 */
export class Keyboard {
  /** Pressed keys by code, so that each can be let go. */
  #pressed = new Map<string, { press: KeyPress; sent: KeyMessage }>();
  #mac = isMac();
  #composing = false;

  constructor(private readonly field: HTMLTextAreaElement, private readonly options: Options) {
    field.addEventListener('keydown', (event) => this.#down(event));
    field.addEventListener('keyup', (event) => this.#up(event));
    field.addEventListener('compositionstart', () => (this.#composing = true));
    field.addEventListener('compositionupdate', (event) => this.#compose(event.data));
    field.addEventListener('compositionend', (event) => this.#commit(event.data));
    field.addEventListener('beforeinput', (event) => this.#before(event));
    field.addEventListener('input', () => !this.#composing && this.#reset());
    field.addEventListener('paste', (event) => this.#paste(event));
    field.addEventListener('focus', () => this.#reset());
    field.addEventListener('blur', () => this.release());
    window.addEventListener('blur', () => this.release());
    document.addEventListener('visibilitychange', () => document.hidden && this.release());
  }

  get focused(): boolean {
    return document.activeElement === this.field;
  }

  focus(): void {
    this.field.focus({ preventScroll: true });
  }

  /** Keys of a button on the screen, such as Control+KeyW: pressed one after the other, and let go. */
  chord(names: string): void {
    const { down, up } = chordOf(names);
    for (const press of down) this.options.send(keyMessage('down', press, false));
    for (const press of up) this.options.send(keyMessage('up', press, false));
  }

  /** A key of a button on the screen: pressed and let go. */
  tap(key: string, code: string): void {
    const press = { key, code, location: 0, repeat: false, altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, altGraph: false };
    this.options.send(keyMessage('down', press, false));
    this.options.send(keyMessage('up', press, false));
  }

  text(text: string): void {
    if (text) this.options.send({ type: 'text', text });
  }

  /** Lets go of every pressed key: its release would go to another window. */
  release(): void {
    for (const { press, sent } of this.#pressed.values()) {
      this.#let(sent, { ...press, repeat: false, altKey: false, ctrlKey: false, metaKey: false, shiftKey: false });
    }
    this.#pressed.clear();
  }

  #down(event: KeyboardEvent): void {
    if (event.code === 'Enter' && event.ctrlKey && event.altKey) {
      event.preventDefault();
      this.release();
      this.options.leave();
      return;
    }
    if (isProcessed(event)) return;
    // The paste event brings what is pasted; for that the key must keep its default.
    if (isPaste(event, this.#mac)) return;
    event.preventDefault();
    const press = this.#press(event);
    const sent = keyMessage('down', press, this.#mac);
    this.#pressed.set(event.code, { press, sent });
    this.options.send(sent);
  }

  #up(event: KeyboardEvent): void {
    const pressed = this.#pressed.get(event.code);
    if (!pressed) return;
    event.preventDefault();
    this.#pressed.delete(event.code);
    this.#let(pressed.sent, { ...this.#press(event), key: event.key || pressed.press.key });
    // macOS reports no release of keys that were let go while Command was held.
    if (this.#mac && (event.code === 'MetaLeft' || event.code === 'MetaRight')) this.release();
  }

  /** Lets go of what was pressed: the same key, whatever a Mac's Command would make of it by now. */
  #let(sent: KeyMessage, press: KeyPress): void {
    const up = keyMessage('up', press, this.#mac);
    this.options.send(up.code === sent.code ? up : { ...up, key: sent.key, code: sent.code });
  }

  #press(event: KeyboardEvent): KeyPress {
    const { key, code, location, repeat, altKey, ctrlKey, metaKey, shiftKey } = event;
    return { key, code, location, repeat, altKey, ctrlKey, metaKey, shiftKey, altGraph: event.getModifierState('AltGraph') };
  }

  #compose(text: string): void {
    const end = text.length;
    this.options.send({ type: 'compose', text, start: end, end });
  }

  #commit(text: string): void {
    this.#composing = false;
    if (text) this.options.send({ type: 'text', text });
    else this.options.send({ type: 'compose', text: '', start: 0, end: 0 });
    this.#reset();
  }

  /** What on-screen keyboards do without key events that say which key it was. */
  #before(event: InputEvent): void {
    if (this.#composing || event.isComposing) return;
    switch (event.inputType) {
      case 'insertText':
      case 'insertReplacementText':
        this.text(event.data ?? event.dataTransfer?.getData('text/plain') ?? '');
        break;
      case 'insertLineBreak':
      case 'insertParagraph':
        this.tap('Enter', 'Enter');
        break;
      case 'deleteContentBackward':
        this.tap('Backspace', 'Backspace');
        break;
      case 'deleteWordBackward':
        this.chord('Control+Backspace');
        break;
      case 'deleteWordForward':
        this.chord('Control+Delete');
        break;
      case 'deleteContentForward':
        this.tap('Delete', 'Delete');
        break;
      default:
        return;
    }
    if (event.cancelable) event.preventDefault();
    this.#reset();
  }

  #paste(event: ClipboardEvent): void {
    event.preventDefault();
    this.options.paste(event.clipboardData);
  }

  #reset(): void {
    if (this.#composing) return;
    this.field.value = SENTINEL;
    this.field.setSelectionRange(SENTINEL.length, SENTINEL.length);
  }
}
