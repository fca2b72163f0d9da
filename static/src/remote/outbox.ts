import type { InputMessage } from './protocol.js';

/** The most inputs, and bytes of them, that wait for the server's receipt. A person makes fewer while control is kept for them. */
const MAX_INPUTS = 2_000;
const MAX_BYTES = 64 << 10;
/** A press that is older (ms) when a new connection opens is not sent again, nor is what came after it: the page may have changed under it. */
const YOUNG = 2_000;

/** Says when an input was made: its number, the epoch of the control lease and, where the focus matters, the number of the focused field. */
export interface Stamp { epoch: number; n?: number; field?: number }

interface Entry { n: number; message: InputMessage; epoch: number; bytes: number; at: number }

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

function isPress(message: InputMessage): boolean {
  return message.type === 'mouse' || message.type === 'touch';
}

/** Returns whether an input leaves the focus where it is. After another one, the person types ahead into what will have it. */
function staysInField(message: InputMessage): boolean {
  if (message.type === 'key') return [...message.key].length === 1 || KEEP_FIELD.has(message.key);
  return message.type !== 'mouse' && message.type !== 'touch';
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

  /** The number of inputs that wait for a receipt. */
  get waiting(): number {
    return this.#entries.length;
  }

  /** Sends an input or, without a connection, keeps it for the next one. Returns false if there is no room for it. */
  put(message: InputMessage, epoch: number): boolean {
    if (!counts(message)) {
      if (this.#open) this.send(message, { epoch });
      return true;
    }
    const bytes = JSON.stringify(message).length;
    if (!this.#open && (this.#entries.length >= MAX_INPUTS || this.#bytes + bytes > MAX_BYTES)) return false;
    const entry: Entry = { n: ++this.#n, message, epoch, bytes, at: this.now() };
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
  untaken(from: number): number {
    if (!this.#probe || from !== this.#probe) return 0;
    this.#probe = 0;
    this.#open = true;
    return this.#drop(this.#entries.findIndex(({ n }) => n > from));
  }

  /** The connection broke. */
  lost(): void {
    if (this.#open) this.#fieldLost = this.#entries.every(({ message }) => staysInField(message)) ? this.#field : 0;
    this.#open = false;
    this.#probe = 0;
  }

  /**
   * A connection is open that continues the last one, up to input n. If the person is still in control under `epoch`, the rest is sent again, the first
   * one only into the field that had the focus. Returns how many inputs are not sent, because control or the page may have changed.
   */
  resume(n: number, epoch: number | null): number {
    this.taken(n);
    const dropped = this.#drop(this.#entries.findIndex((entry) => entry.epoch !== epoch || isPress(entry.message) && this.now() - entry.at > YOUNG));
    this.#n = this.#entries.at(-1)?.n ?? n;
    const [first] = this.#entries;
    if (first && this.#fieldLost) {
      this.#probe = first.n;
      this.send(first.message, { epoch: first.epoch, n: first.n, field: this.#fieldLost });
    } else this.#sendAll();
    return dropped;
  }

  /** A connection is open that continues no earlier one. Returns how many inputs were lost. */
  restart(): number {
    const dropped = this.#drop(0);
    this.#n = 0;
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
