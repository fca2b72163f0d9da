import type { InputMessage } from './protocol.js';

/** The most inputs, and bytes of them, that wait for the server's receipt. A person makes fewer while control is kept for them. */
const MAX_INPUTS = 2_000;
const MAX_BYTES = 64 << 10;
/** The server ends a connection that brings a larger message (bytes); the rest is for the stamp. Sent again, it would end every one. */
const MAX_MESSAGE = (1 << 20) - 1_000;
/** A press that is older (ms) when a new connection opens is not sent again, nor is what came after it: the page may have changed under it. */
const YOUNG = 2_000;

/** Says when an input was made: its number, the epoch of the control lease and, where the focus matters, the number of the focused field. */
export interface Stamp { epoch: number; n?: number; field?: number }

/** `moved` is set for a press after which the finger or the mouse moved: without the moves it would be another gesture. */
interface Entry { n: number; message: InputMessage; epoch: number; bytes: number; at: number; moved: boolean }

/** Returns whether an input is worth sending again. A move or a turn of the wheel is not: the next one makes up for it. */
function counts(message: InputMessage): boolean {
  switch (message.type) {
    case 'mouse':
      return message.event === 'down' || message.event === 'up';
    case 'touch':
      return message.event !== 'move';
    case 'drop':
      return false; // the server carries it out beside other input
    default:
      return true;
  }
}

/** Replaces the half of a pair of surrogates, which text that was cut inside an emoji has. The server refuses it, and everything after it. */
function wellFormed(message: InputMessage): InputMessage {
  return 'text' in message && message.text ? { ...message, text: message.text.replace(/\p{Surrogate}/gu, '\uFFFD') } : message;
}

function isPress(message: InputMessage): boolean {
  return message.type === 'mouse' || message.type === 'touch';
}

/** Returns whether an input leaves the focus where it is. After another one, the person types ahead into what will have it. */
function staysInField(message: InputMessage): boolean {
  if (message.type === 'key') return [...message.key].length === 1 || KEEP_FIELD.has(message.key);
  return message.type !== 'mouse' && message.type !== 'touch';
}

/** Returns whether the person saw, when making an input that moves the focus, where the focus would go: the server names a field only if it was pressed. */
function aims(message: InputMessage): boolean {
  return message.type !== 'key';
}

const KEEP_FIELD = new Set(['Backspace', 'Delete', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'Shift', 'Control', 'Alt', 'Meta', 'AltGraph', 'CapsLock']);

/**
 * The inputs that the server has not confirmed. After a connection broke, they are sent again over the next one: each has its effect once, in order, or
 * the person is told that it had none.
 */
export class Outbox {
  /** The number of the newest input. */
  #n = 0;
  #entries: Entry[] = [];
  #bytes = 0;
  /** A connection is open, and everything in the outbox was sent over it. */
  #open = false;
  /** The first input that was sent again: the others wait until the server has taken it. 0 for none. */
  #probe = 0;
  /** The focused field, as the server has told it, and as it was when the connection broke; 0 if that does not matter. */
  #field = 0;
  #fieldLost = 0;

  /** `send` sends an input over the connection that is open. */
  constructor(private readonly send: (message: InputMessage, stamp: Stamp) => void, private readonly now = (): number => performance.now()) {}

  /** Takes in which field has the focus. */
  set field(field: number) {
    this.#field = field;
  }

  /** Whether everything was sent over the connection that is open. */
  get delivers(): boolean {
    return this.#open;
  }

  /** The number of inputs that wait for a receipt. */
  get waiting(): number {
    return this.#entries.length;
  }

  /** Sends an input or, without a connection, keeps it for the next one. Returns false if there is no room for it, or if the server would not take it. */
  put(made: InputMessage, epoch: number): boolean {
    const message = wellFormed(made);
    if (!counts(message)) {
      const press = this.#entries.findLast((entry) => isPress(entry.message));
      if (press && message.type !== 'drop' && !(message.type === 'mouse' && message.buttons === 0)) press.moved = true;
      if (this.#open) this.send(message, { epoch });
      return this.#open || message.type !== 'drop';
    }
    const text = JSON.stringify(message);
    const bytes = text.length > MAX_BYTES ? new TextEncoder().encode(text).length : text.length;
    if (bytes > MAX_MESSAGE) return false;
    if (!this.#open && (this.#entries.length >= MAX_INPUTS || this.#bytes + bytes > MAX_BYTES)) return false;
    const entry: Entry = { n: ++this.#n, message, epoch, bytes, at: this.now(), moved: false };
    this.#entries.push(entry);
    this.#bytes += bytes;
    if (this.#open) this.send(message, { epoch, n: entry.n });
    return true;
  }

  /** Forgets the inputs up to a number, which the server has handled. */
  taken(n: number): void {
    while (this.#entries[0] && this.#entries[0].n <= n) this.#bytes -= this.#entries.shift()?.bytes ?? 0;
    if (this.#probe && n >= this.#probe) this.#sendAll();
  }

  /** The server says that inputs had no effect. Returns how many more are not sent because of that: those that follow the first one that was sent again. */
  untaken(from: number, to: number): number {
    if (!this.#probe || this.#probe < from || this.#probe > to) return 0;
    this.#probe = 0;
    this.#open = true;
    return this.#drop(this.#entries.findIndex(({ n }) => n > to));
  }

  /** The connection broke. */
  lost(): void {
    if (this.#open) this.#fieldLost = this.#field;
    this.#open = false;
    this.#probe = 0;
  }

  /**
   * A connection is open that continues the last one, up to the input `taken`; `field` was pressed last and has the focus, or is 0. If the person is still in control under
   * `epoch`, the rest is sent again, the first one only into the field that had the focus, or, if the page has got a press meanwhile, into the
   * field that was pressed. If the field is unknown, old inputs are not sent. Returns how many inputs are not sent, because control or the page may
   * have changed.
   */
  resume({ taken, field }: { taken: number; field: number }, epoch: number | null): number {
    const movers = this.#entries.filter(({ n, message }) => n <= taken && !staysInField(message));
    this.taken(taken);
    if (movers.length) this.#fieldLost = movers.every(({ message }) => aims(message)) ? field : 0;
    const known = movers.length === 0 || this.#fieldLost > 0;
    const old = ({ at }: Entry): boolean => this.now() - at > YOUNG;
    const dropped = this.#drop(this.#entries.findIndex((entry) => entry.epoch !== epoch || entry.moved || (!known || isPress(entry.message)) && old(entry)));
    this.#n = this.#entries.at(-1)?.n ?? taken;
    const [first] = this.#entries;
    if (first && known && this.#fieldLost) {
      this.#probe = first.n;
      this.send(first.message, { epoch: first.epoch, n: first.n, field: this.#fieldLost });
    } else this.#sendAll();
    return dropped;
  }

  /**
   * A connection is open that continues none of this page, perhaps one of the page before it was reloaded, up to input n. Returns how many inputs were
   * lost.
   */
  restart(n: number): number {
    const dropped = this.#drop(0);
    this.#n = n;
    this.#sendAll();
    return dropped;
  }

  #sendAll(): void {
    this.#probe = 0;
    this.#open = true;
    for (const { message, epoch, n } of this.#entries) this.send(message, { epoch, n });
  }

  /** Drops the entries from an index on, unless it is negative, and returns their number. */
  #drop(from: number): number {
    const dropped = from < 0 ? [] : this.#entries.splice(from);
    for (const { bytes } of dropped) this.#bytes -= bytes;
    this.#n -= dropped.length;
    return dropped.length;
  }
}
