import { isMac } from '../ui/platform.js';
import { modifiersOf } from './pointer.js';
import { MODIFIER, type ComposeMessage, type KeyMessage, type TextMessage } from './protocol.js';

/** The fields of KeyboardEvent that the mapping uses, so that it can be tested without a browser. */
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

/** On a Mac, Option with these keys moves by words. In the remote browser, Control does that. */
const BY_WORDS = new Set(['Backspace', 'Delete', 'ArrowLeft', 'ArrowRight']);
/** On a Mac, Command with these keys moves to an end of the line or of the text. */
const TO_ENDS: Record<string, { key: string; modifiers: number }> = {
  ArrowLeft: { key: 'Home', modifiers: 0 }, ArrowRight: { key: 'End', modifiers: 0 },
  ArrowUp: { key: 'Home', modifiers: MODIFIER.ctrl }, ArrowDown: { key: 'End', modifiers: MODIFIER.ctrl },
};

/** Returns whether a key, by its name, types one character. */
function isCharacter(key: string): boolean {
  return [...key].length === 1;
}

/**
 * Returns the message for a key. On a Mac, Command becomes Control, which shortcuts need in the remote browser, and editing keys become the keys with
 * the same effect there. Option types characters, so it is not sent as Alt with them. The same holds for AltGr, which Windows reports as Ctrl+Alt.
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

/** Returns whether an input method or a dead key handles the key, so that its text follows separately. */
function isProcessed(event: KeyboardEvent): boolean {
  return event.isComposing || event.key === 'Process' || event.key === 'Dead' || event.key === 'Unidentified' || event.keyCode === 229;
}

/** Returns whether a key is the paste shortcut: by its meaning, or by its position if it types no Latin letter. */
export function isPaste(press: Pick<KeyPress, 'key' | 'code' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>, mac: boolean): boolean {
  if (!mac && press.shiftKey && !press.ctrlKey && !press.altKey && press.key === 'Insert') return true;
  if (press.altKey || !(mac ? press.metaKey : press.ctrlKey)) return false;
  return /^[a-z]$/i.test(press.key) ? press.key.toLowerCase() === 'v' : press.code === 'KeyV';
}

/** Returns the presses and releases of keys that are held together, such as Control+KeyW. Each name is a key's code without left or right. */
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

/** The content of the field while nothing is being composed. It gives Backspace on a phone something to delete, so that the key is noticed. */
const SENTINEL = '\u200b\u200b';

interface Options {
  /** The person uses fingers: nothing but a tap or the page moves the focus. */
  coarse: boolean;
  send(message: KeyMessage | TextMessage | ComposeMessage): void;
  /** Is called with what the person pastes. */
  paste(data: DataTransfer | null): void;
  /** Is called when the focus comes or goes, and when keys begin to go to the remote page, or no longer do. */
  typing(): void;
  /** Is called when the person wants to use the keys for this page again. */
  leave(): void;
}

/**
 * The keyboard. Keys are read from an invisible text field, because only an editable element gets composition events and opens the keyboard of a
 * phone. Keys are not read while another element has the focus.
 */
export class Keyboard {
  /** Is called with keys while the focus is here and the keys do not go to the remote page. Returns whether it used the key. */
  idle: (key: string) => boolean = () => false;
  /** Pressed keys by code, so that they can be released later. */
  #pressed = new Map<string, { press: KeyPress; sent: KeyMessage }>();
  #mac = isMac();
  #composing = false;
  /** The keys go to the remote page, and not only the focus is here. */
  #typing = false;
  /** The focus is wanted for typing, and did not come by moving through this page. */
  #entering = false;
  /** What the person did last on this page. */
  #last: 'press' | 'tab' | 'key' = 'key';
  /** Keys went to the remote page when the focus left, for example to a dialog. */
  #resume = false;
  /** The Enter that began the typing is still down. */
  #entered = false;

  constructor(private readonly field: HTMLTextAreaElement, private readonly options: Options) {
    field.readOnly = true; // until the keys go to the remote page
    field.addEventListener('keydown', (event) => this.#down(event));
    field.addEventListener('keyup', (event) => this.#up(event));
    field.addEventListener('compositionstart', () => (this.#composing = true));
    field.addEventListener('compositionupdate', (event) => this.#compose(event.data));
    field.addEventListener('compositionend', (event) => this.#commit(event.data));
    field.addEventListener('beforeinput', (event) => this.#before(event));
    field.addEventListener('input', () => !this.#composing && this.#reset());
    field.addEventListener('paste', (event) => this.#paste(event));
    document.addEventListener('keydown', ({ key }) => (this.#last = key === 'Tab' ? 'tab' : 'key'), true);
    document.addEventListener('pointerdown', () => (this.#last = 'press'), true);
    field.addEventListener('focus', () => {
      this.#reset();
      this.#type(this.#typing || this.#entering || this.options.coarse || this.#last === 'press' || (this.#resume && this.#last !== 'tab'));
      options.typing();
    });
    field.addEventListener('blur', () => {
      this.release();
      this.#resume = this.#typing;
      if (!this.focused) this.#type(false); // otherwise another window has the focus
      options.typing();
    });
    window.addEventListener('blur', () => this.release());
    document.addEventListener('visibilitychange', () => document.hidden && this.release());
  }

  /** Begins to send keys to the remote page, or ends it. */
  #type(on: boolean): void {
    if (on === this.#typing) return;
    this.#typing = on;
    this.field.readOnly = !on;
    this.field.toggleAttribute('data-typing', on);
    this.options.typing();
  }

  get focused(): boolean {
    return document.activeElement === this.field;
  }

  /** Moves the focus to the remote page, and sends it the keys. */
  focus(): void {
    if (this.focused) return this.#type(true);
    this.#entering = true;
    this.field.readOnly = false; // phones open their keyboard only for a field that can be written in
    this.field.focus({ preventScroll: true });
    this.#entering = false;
  }

  /** Presses the keys of an on-screen button, such as Control+KeyW, one after the other, then releases them. */
  chord(names: string): void {
    const { down, up } = chordOf(names);
    for (const press of down) this.options.send(keyMessage('down', press, false));
    for (const press of up) this.options.send(keyMessage('up', press, false));
  }

  /** Presses and releases a key of an on-screen button. */
  tap(key: string, code: string): void {
    const press = { key, code, location: 0, repeat: false, altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, altGraph: false };
    this.options.send(keyMessage('down', press, false));
    this.options.send(keyMessage('up', press, false));
  }

  text(text: string): void {
    if (text) this.options.send({ type: 'text', text });
  }

  /** Releases every pressed key, because its release would go to another window. */
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
      this.#type(false); // so that the focus alone does not lead back into it
      this.options.leave();
      return;
    }
    if (!this.#typing) {
      if (event.key === 'Enter' && !event.repeat) {
        event.preventDefault();
        this.#entered = true;
        this.#type(true);
      } else if (!event.repeat && !event.ctrlKey && !event.altKey && !event.metaKey && this.idle(event.key)) {
        event.preventDefault();
        event.stopPropagation();
      }
      return;
    }
    if (this.#entered && event.key === 'Enter' && event.repeat) return event.preventDefault();
    if (isProcessed(event)) return;
    // The paste event brings the content, so the key must keep its default.
    if (isPaste(event, this.#mac)) return;
    event.preventDefault();
    const press = this.#press(event);
    const sent = keyMessage('down', press, this.#mac);
    this.#pressed.set(event.code, { press, sent });
    this.options.send(sent);
  }

  #up(event: KeyboardEvent): void {
    if (event.key === 'Enter') this.#entered = false;
    const pressed = this.#pressed.get(event.code);
    if (!pressed) return;
    event.preventDefault();
    this.#pressed.delete(event.code);
    this.#let(pressed.sent, { ...this.#press(event), key: event.key || pressed.press.key });
    // macOS does not report the release of keys while Command is held.
    if (this.#mac && (event.code === 'MetaLeft' || event.code === 'MetaRight')) this.release();
  }

  /** Releases the key that was pressed, even if a Mac's Command would now turn it into another key. */
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

  /** Handles input from on-screen keyboards, whose key events do not name the key. */
  #before(event: InputEvent): void {
    if (!this.#typing) return event.preventDefault(); // Chromium reports it for a field that is read-only, too
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
    if (!this.#typing) return;
    this.options.paste(event.clipboardData);
  }

  #reset(): void {
    if (this.#composing) return;
    this.field.value = SENTINEL;
    this.field.setSelectionRange(SENTINEL.length, SENTINEL.length);
  }
}
