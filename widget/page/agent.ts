/**
 * Runs in our own world of every document and reports what Chromium would show outside the page: whether a field has the focus and where its caret
 * is, the pointer's shape, and what the page was refused. It reports only changes. All listeners are passive and in a separate world, so that a page
 * cannot notice them.
 */
import { placeOf } from './caret.ts';
import { cursorAt, drags } from './cursor.ts';
import { activeElement, kindOf } from './fields.ts';
import { menuWanted } from './menu.ts';
import { followPermissions } from './permissions.ts';
import { fieldOf, isInline, isOpen, Picker, shut, suggests, type Field } from './pickers.ts';
import { metric, textHash } from './look.ts';
import { secretTyped, secretsHeld } from './secrets.ts';
import { waiting as fieldThatWaits } from './waiting.ts';

/** Minimum time between two reports (ms), so that a page cannot cause thousands of them. */
const PAUSE = 20;

/** After this time (ms) without a move, the next one reports the pointer's shape in any case. */
const REST = 250;

/** The functions that the server calls. */
interface Agent {
  /** The document that the agent observes. A window may get another document and keep its global variables. */
  document: Document;
  /** Makes the agent report the pointer's shape again, because the pointer was in another document. */
  elsewhere(since: number): void;
  /** Reports pickers that were already open when the server began to listen. */
  look(): void;
  /** Takes over a reported picker: closes and describes it; null when it has gone. */
  take(number: number): object | null;
  /** Returns the field that a person probably came for, or null. */
  waiting(): object | null;
  /** Returns a hash of the document's text. */
  textHash(): string;
  /** Returns a metric of the document, or null. */
  metric(name: string): Promise<number | null>;
  /** Returns what the secret fields of the document hold. */
  secretsHeld(): string[];
  /** Sets the chosen values, if any. Returns false if that is impossible. */
  answer(number: number, values: string[] | null): boolean;
}

type Ours = typeof globalThis & { takeoverAgent?: Agent; takeoverReport(payload: string): void };

function install(ours: Ours): Agent {
  let focus = 'null';
  let cursor = '';
  let dragging = false;
  let pointedAt = 0;
  let waiting = 0;
  let followed: Element | null = null;
  /** Numbers the fields that had the focus. */
  let field = 0;
  const report = (message: object): void => ours.takeoverReport(JSON.stringify(message));
  // Reports that a field was removed or hidden, for which there is no event.
  const sizes = new ResizeObserver(() => later());

  function later(): void {
    waiting ||= setTimeout(tellFocus, PAUSE);
  }

  /** Reports the focus in any case: meanwhile the server may have heard that another document has it, or waits to hear where a press has left it. */
  function refocused(event: Event): void {
    if (event.isTrusted) focus = '';
    later();
  }

  function keyed(event: KeyboardEvent): void {
    if (event.key === 'Tab' || event.key === 'Enter') refocused(event);
  }

  function tellFocus(): void {
    waiting = 0;
    const element = activeElement();
    const kind = kindOf(element);
    if (followed !== element) {
      if (followed) sizes.unobserve(followed);
      followed = kind ? element : null;
      if (followed) sizes.observe(followed);
      field++;
    }
    const now = kind && element ? JSON.stringify({ kind, field, ...placeOf(element) }) : 'null';
    if (now === focus) return;
    focus = now;
    report({ focus: JSON.parse(now) });
  }

  function moved(): void {
    // The field with the focus may be inside a frame that has moved.
    if (activeElement() instanceof HTMLIFrameElement) {
      waiting ||= setTimeout(() => {
        waiting = 0;
        report({ moved: true });
      }, PAUSE);
    } else if (focus !== 'null') later();
  }

  function pointed(event: MouseEvent): void {
    if (!event.isTrusted) return;
    const target = event.composedPath()[0];
    if (!(target instanceof Element) || target instanceof HTMLIFrameElement) {
      cursor = ''; // the pointer is in another document
      return;
    }
    const shape = cursorAt(target, event.clientX, event.clientY);
    const drag = drags(target, shape);
    const before = pointedAt;
    pointedAt = performance.timeOrigin + event.timeStamp;
    // After a rest, a finger may have come down elsewhere, and its viewer waits for an answer.
    if (shape !== cursor || drag !== dragging || pointedAt - before > REST) report({ cursor: (cursor = shape), drag: (dragging = drag), at: pointedAt });
  }

  let opened: Picker | null = null;
  let number = 0;
  /** The selection of the inline list that was pressed last, from before the press. */
  let before = new Set<HTMLOptionElement>();

  /** Checks after an event whether Chromium has opened a picker or has suggestions for a field. */
  function opening(event: Event): void {
    if (!event.isTrusted) return;
    const field = fieldOf(event.composedPath()[0]);
    const { type } = event;
    // Chromium takes a finger's tap on a list with several choices without a click.
    const finger = type === 'pointerdown' || type === 'pointerup';
    if (finger && !((event as PointerEvent).pointerType === 'touch' && field instanceof HTMLSelectElement && field.multiple)) return;
    if ((type === 'mousedown' || type === 'pointerdown') && field instanceof HTMLSelectElement && isInline(field)) before = new Set(field.selectedOptions);
    if (type === 'pointerdown') return;
    setTimeout(() => {
      const pressed = type === 'click' || type === 'pointerup';
      const wanted = pressed || type === 'input' || (event instanceof KeyboardEvent && event.key === 'ArrowDown');
      const asks = field && wanted && !event.defaultPrevented && (suggests(field) || (pressed && isInline(field)));
      if (field && asks) open(field);
      else if (type !== 'input') look(field);
    });
  }

  function look(field: Field | null): void {
    for (const candidate of [field, fieldOf(activeElement())]) {
      if (candidate && isOpen(candidate)) {
        open(candidate);
        return;
      }
    }
  }

  function open(field: Field): void {
    if (field !== opened?.field) {
      number++;
      opened = new Picker(field);
    }
    if (isInline(field)) opened.before = before;
    report({ open: number });
  }

  function gone(event: Event): void {
    if (opened && event.composedPath()[0] === opened.field) {
      opened = null;
      report({ gone: number });
    }
  }

  const listeners: [string, (event: never) => void][] = [
    ['focusin', refocused], ['mousedown', refocused], ['keydown', keyed], ['focusout', later], ['selectionchange', later], ['input', later],
    ['input', secretTyped(report)], ['scroll', moved], ['resize', moved],
    ['mousemove', pointed], ['mouseover', pointed],
    ['pointerdown', opening], ['pointerup', opening], ['mousedown', opening], ['click', opening], ['keydown', opening], ['input', opening], ['focusout', gone],
    ['contextmenu', menuWanted((menu) => report({ menu }))],
  ];
  // Frames do not report this, because printing a page also prints its frames.
  if (window.top === window) listeners.push(['beforeprint', () => report({ printed: true })]);
  const listen = (): void => {
    for (const [type, listener] of listeners) addEventListener(type, listener as (event: Event) => void, { capture: true, passive: true });
  };
  listen();
  // document.open() removes all listeners; adding an existing one changes nothing.
  new MutationObserver(listen).observe(document, { childList: true });
  if (document.activeElement !== document.body) later();
  followPermissions((refused) => report({ refused }));
  return {
    document,
    elsewhere(since) {
      if (pointedAt > since) report({ cursor, drag: dragging, at: pointedAt }); // the pointer is already back
      else cursor = '';
    },
    look: () => look(null),
    waiting: fieldThatWaits,
    textHash,
    metric,
    secretsHeld,
    take(wanted) {
      if (wanted !== number || !opened?.field.isConnected) return null;
      const picker = opened;
      if (isOpen(picker.field)) {
        picker.inline = false;
        opened = null; // closing it may move the focus for a moment, and the field is not gone
        shut(picker.field);
        opened = picker;
      }
      return picker.describe();
    },
    answer(wanted, values) {
      const picker = wanted === number ? opened : null;
      opened = null;
      return values === null || (picker?.choose(values) ?? false);
    },
  };
}

const ours = globalThis as Ours;
if (ours.takeoverAgent?.document !== document) ours.takeoverAgent = install(ours);
