import { Connection, type ConnectionState } from './connection.js';
import { Emitter } from './emitter.js';
import type { Field } from './geometry.js';
import { Outbox } from './outbox.js';
import { capital } from '../ui/titles.js';
import { Resume } from './resume.js';
import type { Asked, AuthMessage, ChooserMessage, ClientMessage, ControlMessage, DialogMessage, DownloadMessage, FocusMessage, Held, InputMessage, LifeMessage, MenuMessage, PermissionMessage, Picture, Role, Run, SelectMessage, ServerMessage, StatsMessage, Tab, Takeover, ViewSize } from './protocol.js';

/** How long (ms) input waits for control that the person requested by using the page. After that, the person no longer expects it to take effect. */
const CONTROL_WAIT = 5_000;
/** The maximum number of waiting inputs. A person cannot make more in that time. */
const QUEUE_MAX = 2_000;

/** Who controls the session, from this viewer's point of view. */
export type Party = 'me' | 'person' | 'script' | 'agent' | 'nobody';

function partyOf(holder: string, mine: boolean): Party {
  if (mine) return 'me';
  if (holder === '') return 'nobody';
  if (holder.startsWith('viewer:')) return 'person';
  if (holder.startsWith('client:')) return 'agent';
  return 'script';
}

/** Who has control, in words. */
export const PARTY_WORDS: Record<Party, string> = {
  me: 'You are in control',
  person: 'Another person is in control',
  script: 'Script in control',
  agent: 'Agent in control',
  nobody: 'Nobody in control',
};

interface LiveEvents {
  connection: ConnectionState;
  rtt: number;
  stats: StatsMessage;
  hello: Role;
  control: Party;
  asked: Asked | null;
  tabs: { tabs: Tab[]; active: number };
  takeover: Takeover | null;
  life: LifeMessage;
  run: Run;
  dialog: DialogMessage;
  chooser: ChooserMessage;
  download: DownloadMessage;
  select: SelectMessage;
  auth: AuthMessage;
  permission: PermissionMessage;
  menu: MenuMessage;
  clipboard: { text: string; image: string | undefined };
  /** `number` changes with the field that has the focus, also to none, and with the document. */
  focus: { editable: boolean; kind: string; field: Field | null; number: number };
  /** The field that probably waits for the person who has just taken control. */
  form: Field;
  /** A picture of the page that is shown. */
  picture: Picture;
  /** The CSS name of the remote mouse's cursor, and whether a press there begins a drag. */
  cursor: { shape: string; drag: boolean };
  browser: 'crashed' | 'recovered' | 'waking';
  /** What the server refused, and why, as text. */
  trouble: { kind: string; why: string };
}

/** A session as one viewer sees it: the state from the socket's messages, and the messages that the viewer may send. */
export class Live extends Emitter<LiveEvents> {
  role: Role = 'view';
  /** The remote page was made for touch. */
  touch = false;
  holder = '';
  epoch = 0;
  mine = false;
  /** The connection of the person in control has broken. */
  away = false;
  /** A person's request for control: this viewer's, or another person's. */
  asked: Asked | null = null;
  /** Somebody who watches holds what programs do. */
  held: Held | null = null;
  tabs: Tab[] = [];
  active = 0;
  takeover: Takeover | null = null;
  readonly connection: Connection;
  #queue: InputMessage[] = [];
  #asked = 0;
  /** Control was lost with the connection, and not given away. */
  #wantsBack = false;
  /** When the connection broke (ms since the page was opened), and how long control is kept for this viewer then. */
  #lostAt = 0;
  #grace = 30_000;
  #viewer = '';
  /** The last of the inputs whose refusal the person was told last. */
  #refused = 0;
  /** A new connection continues this view: the number of the last input that the server has handled. null otherwise. */
  #resumesAt: { taken: number; field: number } | null = null;
  readonly #outbox = new Outbox((message, stamp) => this.connection.sendInput(message, stamp));
  /** Lets a new connection continue this view's control. */
  readonly #resume: Resume;

  /** `size` says how the page is shown. Each connection starts with that. */
  constructor(readonly session: string, size: () => ViewSize) {
    super();
    this.#resume = new Resume(session);
    const base = `${location.origin}/v1/sessions/${encodeURIComponent(session)}`;
    this.connection = new Connection({
      url: () => `${base.replace(/^http/, 'ws')}/view${this.#resume.word ? `?resume=${encodeURIComponent(this.#resume.word)}` : ''}`,
      probe: base,
      hello: () => ({ type: 'hello', ...size() }),
    });
    this.connection.on('state', (state) => {
      if (state.phase !== 'open') this.#outbox.lost();
      if (state.phase === 'waiting') {
        if (this.mine) this.#lostAt = performance.now();
        this.#wantsBack ||= this.mine;
        this.#setControl({ type: 'control', holder: '', epoch: this.epoch, mine: false });
      }
      this.emit('connection', state);
    });
    this.connection.on('rtt', (rtt) => this.emit('rtt', rtt));
    this.connection.on('message', (message) => this.#receive(message));
    this.connection.on('picture', (picture) => this.emit('picture', picture));
  }

  get party(): Party {
    return partyOf(this.holder, this.mine);
  }

  /** Whether a person has control: this one or another. */
  get personActs(): boolean {
    return this.party === 'me' || this.party === 'person';
  }

  get mayControl(): boolean {
    return this.role === 'control' || this.role === 'takeover';
  }

  /**
   * Returns whether this viewer may answer the remote browser's questions. The person in control may. When nobody is in control, answering takes
   * control.
   */
  get mayAnswer(): boolean {
    return this.mine || (this.party === 'nobody' && this.mayControl);
  }

  get activeTab(): Tab | undefined {
    return this.tabs.find(({ tab }) => tab === this.active);
  }

  send(message: ClientMessage): boolean {
    return this.connection.send(message);
  }

  /**
   * Sends input to the remote page. When nobody is in control, using the page asks for control, and input waits until it is granted. When another tab is
   * shown, what waits is discarded. Without a connection, the input of the person in control waits for the next one.
   */
  input(message: InputMessage): void {
    if (this.mine || this.#wantsBack && performance.now() - this.#lostAt < this.#grace) {
      if (!this.#outbox.put(message, this.epoch)) this.emit('trouble', { kind: 'connection', why: this.connection.state.phase === 'open' ? 'This is too much to send at once.' : NOT_SENT });
      return;
    }
    if (this.connection.state.phase !== 'open') {
      if (this.#wantsBack && message.type !== 'mouse' && message.type !== 'touch') this.emit('trouble', { kind: 'connection', why: NOT_SENT });
      return;
    }
    const asks = message.type !== 'mouse' || message.event === 'down' || message.event === 'wheel';
    if (this.party === 'nobody' && this.mayControl && asks) this.#ask();
    if (this.#waits) this.#keep(message);
  }

  #tellLost(inputs: number): void {
    if (inputs > 0) this.emit('trouble', { kind: 'untaken', why: 'The connection broke, and what you typed last was not entered. Look at the page, then type it again.' });
  }

  /** Keeps an input until control is granted. Of several moves in a row, only the last one is kept. */
  #keep(message: InputMessage): void {
    const last = this.#queue.at(-1);
    if (isMove(message) && last && isMove(last)) this.#queue.pop();
    this.#queue.push(message);
    if (this.#queue.length > QUEUE_MAX) this.#giveUp(); // sending only a part of the inputs would leave keys pressed
  }

  /** Discards the input that waits for control. */
  #giveUp(): void {
    this.#queue = [];
    this.#asked = 0;
  }

  /** Navigates. If nobody has control, takes it first. It must not overtake what was typed before. */
  navigate(message: ClientMessage & { type: 'navigate' | 'tab' }): void {
    if (!this.#outbox.delivers) return this.emit('trouble', { kind: 'connection', why: 'Not connected. Try again in a moment.' });
    if (!this.mine && this.party === 'nobody' && this.mayControl) this.#ask();
    this.send(message.type === 'navigate' && this.active ? { ...message, tab: this.active } : message);
  }

  /** Takes control, or asks the person who has it. */
  takeControl(): void {
    this.send({ type: 'control', action: 'take' });
  }

  releaseControl(): void {
    this.send({ type: 'control', action: 'release' });
  }

  keepControl(): void {
    this.send({ type: 'control', action: 'keep' });
  }

  /** Holds what programs do, decides about the action with a number, or lets programs go on. */
  hold(action: 'hold' | 'pass' | 'end' | 'go_on', number = 0): void {
    this.send({ type: 'hold', action, number });
  }

  answerTakeover(action: 'claim' | 'extend' | 'done' | 'fail', note?: string): boolean {
    if (!this.takeover || (action === 'done' || action === 'fail') && !this.#outbox.delivers) return false; // it must not overtake what was typed
    return this.send({ type: 'takeover', action, id: this.takeover.id, ...(note ? { note } : {}) });
  }

  /** Returns whether control was requested by using the page, and may still be granted in time. */
  get #waits(): boolean {
    return this.#asked > 0 && performance.now() - this.#asked < CONTROL_WAIT;
  }

  #ask(): void {
    if (this.#waits) return;
    this.#asked = performance.now();
    this.#queue = [];
    this.takeControl();
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case 'hello':
        this.role = message.role;
        this.touch = message.touch ?? false;
        this.#resume.word = message.resume ?? '';
        this.#grace = message.leaseGrace ?? this.#grace;
        if (message.viewer === this.#viewer && message.taken !== undefined) this.#resumesAt = { taken: message.taken, field: message.field ?? 0 };
        else {
          this.#tellLost(this.#outbox.restart(message.taken ?? 0));
          this.#refused = message.taken ?? 0;
        }
        this.#viewer = message.viewer;
        this.emit('hello', message.role);
        break;
      case 'control':
        if (this.#resumesAt) this.#tellLost(this.#outbox.resume(this.#resumesAt, message.mine ? message.epoch : null));
        this.#resumesAt = null;
        this.#setControl(message);
        if (this.#wantsBack && message.holder === '' && this.mayControl) this.takeControl();
        this.#wantsBack = false;
        break;
      case 'tabs':
        if (message.active !== this.active) this.#giveUp(); // the waiting input was for the tab that was shown before
        this.tabs = message.tabs;
        this.active = message.active;
        this.emit('tabs', message);
        break;
      case 'takeover':
        this.takeover = message.takeover;
        this.emit('takeover', message.takeover);
        break;
      case 'life':
        this.emit('life', message);
        break;
      case 'run':
        this.emit('run', message.run);
        break;
      case 'dialog':
        this.emit('dialog', message);
        break;
      case 'chooser':
        this.emit('chooser', message);
        break;
      case 'download':
        this.emit('download', message);
        break;
      case 'select':
        this.emit('select', message);
        break;
      case 'auth':
        this.emit('auth', message);
        break;
      case 'menu':
        this.emit('menu', message);
        break;
      case 'permission':
        this.emit('permission', message);
        break;
      case 'cursor':
        this.emit('cursor', { shape: message.cursor, drag: message.drag ?? false });
        break;
      case 'clipboard':
        this.emit('clipboard', { text: message.text, image: message.image });
        break;
      case 'taken':
        this.#outbox.taken(message.n);
        break;
      case 'untaken':
        this.#outbox.untaken(message.from, message.to);
        if (message.from > this.#refused) this.emit('trouble', { kind: 'untaken', why: UNTAKEN[message.why] ?? UNTAKEN.page });
        this.#refused = Math.max(this.#refused, message.to);
        break;
      case 'focus':
        this.#outbox.field = message.field ?? 0;
        this.emit('focus', { editable: message.editable, kind: message.kind ?? 'text', field: fieldOf(message), number: message.field ?? 0 });
        break;
      case 'form':
        this.emit('form', { ...message, around: message.around ?? [] });
        break;
      case 'stats':
        this.emit('stats', message);
        break;
      case 'crashed':
      case 'recovered':
      case 'waking':
        this.emit('browser', message.type);
        break;
      case 'error':
        this.#complain(message.message);
        break;
      default:
        break; // Types of a later server do not concern this client.
    }
  }

  /** Shows a refusal. The server first names the bad message, then says why. */
  #complain(text: string): void {
    const [, kind = '', why = text] = /^(\w+): (.*)$/s.exec(text) ?? [];
    if (kind === 'control') this.#giveUp();
    // The screen shows who is in control; other refusals are shown as text.
    if (QUIET.has(kind)) return;
    this.emit('trouble', { kind, why: capital(why) });
  }

  #setControl({ holder, epoch, mine, away = false, asked, held }: ControlMessage): void {
    this.holder = holder;
    this.epoch = epoch;
    this.mine = mine;
    this.away = away;
    this.asked = asked ?? null;
    this.held = held ?? null;
    const queue = mine && this.#waits ? this.#queue : [];
    // While nobody or a program has control, our request is still on its way, and this message is older.
    if (mine || this.party === 'person' || this.connection.state.phase !== 'open') this.#giveUp();
    for (const message of queue) this.#outbox.put(message, epoch);
    this.emit('control', this.party);
    this.emit('asked', this.asked);
  }
}

function fieldOf({ rect, element, around = [], text = 0 }: FocusMessage): Field | null {
  return rect ? { rect, element: element ?? rect, around, text } : null;
}

function isMove(message: InputMessage): boolean {
  return message.type === 'mouse' && message.event === 'move';
}

const NOT_SENT = 'Not connected. What you type now is not sent.';

/** Why input had no effect, and what to do. */
const UNTAKEN = {
  control: 'What you typed last was not entered, because you were no longer in control.',
  field: 'What you typed last was not entered, because the page went on to another field. Press the right one, then type it again.',
  tab: 'Your press had no effect, because another tab came to the front. Look at it, then press again.',
  page: 'What you typed last was not entered, because the page was not ready. Type it again.',
  input: 'What you typed last was not entered.',
};

/** Messages whose refusal needs no explanation. */
const QUIET = new Set(['mouse', 'key', 'text', 'compose', 'touch', 'ack', 'resize']);
