/**
 * The viewer's socket (subprotocol `takeover.v1`): message shapes and the header of binary pictures. Coordinates are CSS pixels of the remote page's
 * viewport.
 */

/** The socket's subprotocol. */
export const SUBPROTOCOL = 'takeover.v1';

/** Modifier bits, as in CDP's `Input` domain. */
export const MODIFIER = { alt: 1, ctrl: 2, meta: 4, shift: 8 } as const;

/** A button, by CDP's names. */
export type MouseButton = 'none' | 'left' | 'middle' | 'right' | 'back' | 'forward';

/** The mouse; x and y are CSS pixels of the page. */
export interface MouseMessage {
  type: 'mouse';
  event: 'move' | 'down' | 'up' | 'wheel';
  x: number;
  y: number;
  button: MouseButton;
  /** Bit mask of the held buttons: 1 left, 2 right, 4 middle, 8 back, 16 forward. */
  buttons: number;
  clickCount: number;
  modifiers: number;
  deltaX: number;
  deltaY: number;
  /** The tab of the picture that was pressed. If another one is shown, the press has no effect. */
  tab?: number;
}

/** A key. key, code, location and repeat are as in the browser's KeyboardEvent. */
export interface KeyMessage {
  type: 'key';
  event: 'down' | 'up';
  key: string;
  code: string;
  location: number;
  repeat: boolean;
  modifiers: number;
  text: string;
}

/** A finger: CSS pixels of the page, and an identifier that is valid while it is down. */
export interface TouchPoint { id: number; x: number; y: number; radiusX: number; radiusY: number; force: number }

/** The fingers that changed. */
export interface TouchMessage { type: 'touch'; event: 'start' | 'move' | 'end' | 'cancel'; points: TouchPoint[]; modifiers: number; tab?: number }

/** Text without keys, such as a paste or the result of an input method. */
export interface TextMessage { type: 'text'; text: string }
/** The unfinished text of an input method, and the selection in it. */
export interface ComposeMessage { type: 'compose'; text: string; start: number; end: number }

/** Files of the session that are dropped on the page. */
export interface DropMessage { type: 'drop'; x: number; y: number; files: string[]; modifiers: number; tab?: number }

/** Copies, cuts or pastes in the page; `image` names a file of the session. */
export interface ClipboardMessage { type: 'clipboard'; action: 'copy' | 'cut' | 'paste'; text?: string; image?: string }

/** Input carries the epoch of the control lease under which it was made. */
export type InputMessage = MouseMessage | KeyMessage | TextMessage | ComposeMessage | DropMessage | ClipboardMessage | TouchMessage;

/** How the page is shown: CSS pixels of the whole page, device pixels per CSS pixel, and whether it is visible. */
export interface ViewSize { width: number; height: number; dpr: number; hidden: boolean }

/** Figures of the pictures since the last such message. */
export interface StatsMessage {
  type: 'stats';
  /** Pictures sent per second. */
  fps: number;
  /** From sending a picture to its acknowledgement. */
  rttMs: number;
  skipped: number;
  kbps: number;
}

/** What a viewer may send. */
export type ClientMessage =
  | ({ type: 'hello'; maxFps?: number } & ViewSize)
  | { type: 'ack'; seq: number }
  | { type: 'control'; action: 'take' | 'release' | 'keep' }
  | { type: 'hold'; action: 'hold' | 'pass' | 'end' | 'go_on'; number: number }
  | { type: 'navigate'; action: 'goto' | 'back' | 'forward' | 'reload' | 'stop'; url?: string; tab?: number }
  | { type: 'tab'; action: 'activate' | 'close' | 'new'; tab?: number; url?: string }
  | ({ type: 'resize' } & ViewSize)
  | { type: 'dialog'; id: string; accept: boolean; text?: string }
  | { type: 'chooser'; id: string; files: string[] | null }
  | { type: 'download'; id: string; action: 'cancel' }
  | { type: 'select'; id: string; values: string[] | null }
  | { type: 'permission'; id: string; allow: boolean; latitude?: number; longitude?: number; accuracy?: number }
  | { type: 'auth'; id: string; accept: boolean; username?: string; password?: string }
  | { type: 'takeover'; action: 'claim' | 'extend' | 'done' | 'fail'; id: string; note?: string }
  | { type: 'ping'; t: number };

/** What a viewer may do. */
export type Role = 'control' | 'view' | 'takeover';

/** One tab of a session. */
export interface Tab {
  tab: number;
  url: string;
  title: string;
  favicon: string;
  loading: boolean;
  /** `crashed`: its renderer died, and there is nothing to see until it is loaded again. */
  state: 'live' | 'crashed';
}

/** A request for a person. */
export interface Takeover {
  id: string;
  sessionId: string;
  reason: string;
  requestedBy: string;
  /** Text in addition to the one sentence of `reason`. */
  requestNote?: string;
  runId?: string;
  state: 'pending' | 'claimed' | 'done' | 'failed' | 'expired' | 'cancelled';
  createdAt: string;
  deadline: string;
  claimedBy?: string;
  /** When somebody first claimed it. */
  claimedAt?: string | null;
  endedAt?: string | null;
  note?: string;
  url?: string;
}

/** Whether a request in a state waits for a person, or somebody works on it. */
export const isOpen = (state: string | undefined): boolean => state === 'pending' || state === 'claimed';

/** Why a run failed. Line and column are positions in the script, counted from 1. */
export interface RunError { name: string; message: string; stack?: string; line?: number; column?: number }
/** What a script logged. */
export interface LogLine { level: string; text: string; ts: string | number }
/** A call that a run made to the script API. */
export interface Step { title: string; startedAt: string | number; durationMs?: number; error?: string | { message: string }; line?: number }

/** One test of a Playwright Test file. */
export interface TestResult { title: string; status: 'passed' | 'failed' | 'skipped'; durationMs?: number; error?: RunError | null }

/** A run of a script. */
export interface Run {
  id: string;
  sessionId: string;
  filename?: string;
  /** What the script's first line says, if it is a comment. Only operators are told. */
  title?: string;
  status: 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled' | 'timeout';
  result?: unknown;
  error?: RunError | null;
  logs?: LogLine[];
  steps?: Step[];
  /** The call that the script is in, if it takes long. */
  step?: Step;
  tests?: TestResult[];
  takeovers?: Takeover[];
  startedAt?: string;
  createdAt?: string;
  endedAt?: string | null;
  /** So far, without the time spent waiting for a person. */
  durationMs?: number;
  waitedMs?: number;
  truncated?: boolean;
}

/** A dialog of the page that waits for an answer. With `closed`, it no longer waits. */
export interface DialogMessage {
  type: 'dialog';
  id: string;
  kind?: 'alert' | 'confirm' | 'prompt' | 'beforeunload';
  message?: string;
  defaultValue?: string;
  url?: string;
  /** The dialog is gone: somebody answered it, or its page was left. */
  closed?: boolean;
}

/** An input of the page that asks for files of the session. */
export interface ChooserMessage {
  type: 'chooser';
  id: string;
  multiple?: boolean;
  /** The element's accept attribute: the kinds of files that it prefers. */
  accept?: string;
  url?: string;
  /** The chooser is gone: somebody answered it, or its page was left. */
  closed?: boolean;
}

/** Whether typed text goes into a field, and where the field is, in CSS pixels of the page's viewport. */
export interface FocusMessage {
  type: 'focus';
  editable: boolean;
  kind?: string;
  /** The caret or, where no caret was found, the field. */
  rect?: Rect | null;
  element?: Rect;
  /** Boxes around the field, such as its form, each wider than the one before. */
  around?: Rect[];
  /** The size of the field's text. */
  text?: number;
  /** Rises when another field, none, or another document has the focus. */
  field?: number;
}

/** The state of a download of a remote page. When it is done, it is a file of the session with this name. */
export interface DownloadMessage {
  type: 'download';
  id: string;
  state: 'running' | 'done' | 'failed' | 'cancelled';
  name: string;
  url: string;
  received: number;
  total?: number;
  error?: string;
}

/** An option of a list. The values of one list are unique. */
export interface SelectOption { value: string; label: string; disabled: boolean; group: string; selected: boolean }

/** What Chromium would open over the page for a field. `rect` is the position of the field. */
export interface SelectMessage {
  type: 'select';
  id: string;
  kind?: 'select' | 'datalist' | 'date' | 'time' | 'datetime-local' | 'month' | 'week' | 'color';
  multiple?: boolean;
  /** The page shows the list itself. Without a mouse or keys, another one is needed. */
  inline?: boolean;
  value?: string;
  options?: SelectOption[];
  min?: string;
  max?: string;
  step?: string;
  rect?: Rect;
  /** It is gone: somebody answered it, or its field was left. */
  closed?: boolean;
}

/** What is under the pointer, for the context menu. */
export interface MenuMessage {
  type: 'menu';
  /** Addresses, or empty. */
  link: string;
  image: string;
  /** There is selected text to copy. */
  selected: boolean;
  editable: boolean;
}

/** A permission that a page was refused. */
export interface PermissionMessage {
  type: 'permission';
  id: string;
  origin?: string;
  /** A name of the Permissions API. */
  name?: string;
  closed?: boolean;
}

/** A server or a proxy that asks for a name and a password. */
export interface AuthMessage {
  type: 'auth';
  id: string;
  /** The origin of the server, or the host and port of the proxy. */
  origin?: string;
  /** The text that the server sends. */
  realm?: string;
  proxy?: boolean;
  /** The previous answer was wrong. */
  again?: boolean;
  closed?: boolean;
}

/** A person's request for control. The person in control yields at `until` unless they refuse. */
export interface Asked { by: string; mine: boolean; until: string }

/** Who has control. All input carries the epoch. */
export interface ControlMessage {
  type: 'control';
  holder: string;
  epoch: number;
  mine: boolean;
  /** The holder's connection has broken. Control is reserved for them for a while. */
  away?: boolean;
  asked?: Asked;
  held?: Held;
}

/** Programs are held, and what they want to do waits. Viewers that may not control are not told what. */
export interface Held { waiting: HeldAction[] }

/** An action of a program that waits: an operation or a CDP command, and a locator or an address. The first one has its place in the picture, if that is known; a point has no size. */
export interface HeldAction { number: number; by: string; name: string; target: string; tab?: number; rect?: Rect }

/** When the session's time is up, and whether it is being recorded. While `paused`, the clock is stopped, and the time left does not change. */
export interface LifeMessage {
  type: 'life';
  expiresAt: string;
  /** The session's timeout in ms, without the time spent waiting for people. */
  timeout: number;
  paused: boolean;
  /** The server stops: the session ends when nobody works in it, at expiresAt at the latest. */
  draining: boolean;
  recording: boolean;
}

/** What the server may send. */
export type ServerMessage =
  | { type: 'hello'; session: string; viewer: string; role: Role; protocol: number; touch?: boolean; resume?: string; taken?: number; field?: number; leaseGrace?: number }
  | ControlMessage
  | { type: 'tabs'; tabs: Tab[]; active: number }
  | { type: 'takeover'; takeover: Takeover | null }
  | LifeMessage
  | { type: 'run'; run: Run }
  | DialogMessage
  | ChooserMessage
  | DownloadMessage
  | SelectMessage
  | AuthMessage
  | PermissionMessage
  | MenuMessage
  | { type: 'cursor'; cursor: string; drag?: boolean }
  | { type: 'clipboard'; text: string; image?: string }
  | FocusMessage
  | { type: 'form'; rect: Rect; element: Rect; around?: Rect[]; text: number }
  | { type: 'taken'; n: number }
  | { type: 'untaken'; from: number; to: number; why: 'control' | 'field' | 'tab' | 'page' | 'input' }
  | StatsMessage
  | { type: 'pong'; t: number }
  | { type: 'crashed' }
  | { type: 'recovered' }
  | { type: 'waking' }
  | { type: 'error'; message: string }
  | { type: 'ended'; reason: string };

/** A rectangle in CSS pixels. */
export interface Rect { x: number; y: number; width: number; height: number }

/** Bytes before the image in a binary message. */
export const PICTURE_HEADER_BYTES = 28;

const KIND_PICTURE = 1;
const FLAG_SHARP = 1;
const MIME: Record<number, string> = { 1: 'image/jpeg', 2: 'image/png', 3: 'image/webp' };

/** One picture of the page, with the contents of its header. */
export interface Picture {
  seq: number;
  mime: string;
  /** A high-quality still, sent when the page has stopped changing. */
  sharp: boolean;
  /** When Chromium captured it, in milliseconds since the epoch. */
  capturedAt: number;
  width: number;
  height: number;
  /** The page's viewport in CSS pixels. Coordinates of input refer to it. */
  viewportWidth: number;
  viewportHeight: number;
  tab: number;
  image: Uint8Array<ArrayBuffer>;
}

/** Parses a binary message (big-endian). Returns null for unknown kinds and formats, and for messages that are too short. */
export function parsePicture(message: ArrayBuffer): Picture | null {
  if (message.byteLength <= PICTURE_HEADER_BYTES) return null;
  const view = new DataView(message);
  const mime = MIME[view.getUint8(1)];
  if (view.getUint8(0) !== KIND_PICTURE || !mime) return null;
  const picture: Picture = {
    seq: view.getUint32(4),
    mime,
    sharp: (view.getUint8(2) & FLAG_SHARP) !== 0,
    capturedAt: Number(view.getBigUint64(8)) / 1000,
    width: view.getUint16(16),
    height: view.getUint16(18),
    viewportWidth: view.getUint16(20),
    viewportHeight: view.getUint16(22),
    tab: view.getUint32(24),
    image: new Uint8Array(message, PICTURE_HEADER_BYTES),
  };
  if (!picture.width || !picture.height || !picture.viewportWidth || !picture.viewportHeight) return null;
  return picture;
}

/** Parses a text message. Returns null if it is not an object with a type. */
export function parseMessage(text: string): ServerMessage | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string') {
      return value as ServerMessage;
    }
  } catch {
    // Not JSON: treated like an unknown type.
  }
  return null;
}
