import { Caret } from './caret.js';
import { Clipboard } from './clipboard.js';
import { ContextMenu } from './contextmenu.js';
import { byId, show } from '../ui/dom.js';
import type { Field } from './geometry.js';
import { Downloads } from './downloads.js';
import { Dropping } from './dropping.js';
import { keep, recall } from '../ui/storage.js';
import { Keyboard } from './keyboard.js';
import { Live } from './live.js';
import { notice } from '../ui/notices.js';
import { Overlay } from './overlay.js';
import { showPage, viewSize } from './page.js';
import { Pointer } from './pointer.js';
import type { InputMessage } from './protocol.js';
import { SignInQuestion } from './questions/auth.js';
import { FileQuestion } from './questions/chooser.js';
import { PermissionQuestion } from './questions/permission.js';
import { DialogQuestion } from './questions/dialog.js';
import { Screen } from './screen.js';
import { Touch } from './touch.js';
import { Widgets } from './widgets/widgets.js';
import { Zoom } from './zoom.js';

/** The view of the remote page: it shows pictures, sends mouse, touch and keys, and shows messages when there is nothing to see. */
export class Stage {
  readonly screen: Screen;
  readonly live: Live;
  readonly keyboard: Keyboard;
  readonly clipboard: Clipboard;
  /** The person uses fingers, so fields open the on-screen keyboard. */
  readonly coarse = window.matchMedia('(pointer: coarse)').matches;
  #field = byId<HTMLTextAreaElement>('keys');
  #area = byId('stage-area');
  #wanted = false;

  constructor(session: string) {
    const stage = byId('stage');
    this.screen = new Screen(stage, byId('frame'), byId<HTMLCanvasElement>('screen'), byId('edge'));
    this.screen.setPage({ width: Number(stage.dataset.width), height: Number(stage.dataset.height) });
    this.live = new Live(session, () => viewSize(this.screen));
    showPage(this.live, this.screen);
    this.clipboard = new Clipboard(this.live);
    const send = (message: InputMessage): void => this.live.input(message);
    this.keyboard = new Keyboard(this.#field, {
      coarse: this.coarse,
      // A tap that waits came first.
      send: (message) => {
        touch.flush();
        send(message);
      },
      paste: (data) => this.clipboard.take(data),
      typing: () => this.#showFocus(),
      leave: () => this.#giveBack(),
    });
    new Pointer(this.screen, send, () => this.#pressed());
    new Widgets(this.live, this.screen, this.keyboard);
    new ContextMenu(this.live, this.screen, this.keyboard, this.clipboard);
    const touch = new Touch(this.screen, send, () => this.#tapped(), () => this.live.touch);
    this.live.on('cursor', ({ drag }) => touch.pointed(drag));
    new Caret(this.screen, this.live, this.#field);
    new DialogQuestion(this.live);
    new FileQuestion(this.live);
    new SignInQuestion(this.live);
    new PermissionQuestion(this.live);
    new Downloads(this.live);
    new Dropping(this.screen, this.live);
    this.#showState();
    this.#followField();
    this.#fillKeyboardButtons();
    new Zoom(this.screen, this.live);
    this.live.on('trouble', ({ why }) => notice(why));
  }

  open(): void {
    this.live.connection.open();
    window.addEventListener('pagehide', () => this.live.connection.close());
    // A page that returns from the history is a new viewer for the server.
    window.addEventListener('pageshow', (event) => event.persisted && location.reload());
  }

  #pressed(): void {
    this.keyboard.focus();
  }

  #tapped(): void {
    // Phones open their keyboard only during a touch, before the remote page reports what was hit.
    if (this.#wanted) this.keyboard.focus();
  }

  /** Shows whether the remote page has the focus, and whether it gets the keys. */
  #showFocus(): void {
    const hint = byId('keys-hint');
    const focused = document.activeElement === this.#field;
    const over = this.live.connection.state.phase === 'closed';
    const typing = this.#field.hasAttribute('data-typing');
    this.#area.toggleAttribute('data-focused', focused || typing);
    show(byId('keys-enter'), focused && !typing && !over);
    if (over) return show(hint, false);
    show(hint, typing && !this.coarse && !recall('takeover.hint'));
    if (!typing) return;
    keep('takeover.hint', '1');
    window.setTimeout(() => show(hint, false), 6_000);
  }

  /** Returns the keys to this page: the element after the remote page gets the focus, and from there Tab works in both directions. */
  #giveBack(): void {
    const back = byId('keys-back');
    show(back, true);
    this.#field.tabIndex = -1;
    back.addEventListener('blur', () => {
      this.#field.tabIndex = 0;
      show(back, false);
    }, { once: true });
    back.focus({ preventScroll: true });
  }

  /** Sets the frame's colour, and the messages over the picture. */
  #showState(): void {
    const live = this.live;
    const skeleton = byId('skeleton');
    this.screen.on('drawn', () => show(skeleton, false));
    live.on('control', (party) => (this.#area.dataset.party = party));
    live.on('connection', ({ phase }) => {
      if (phase === 'closed') this.#area.dataset.party = 'nobody';
      this.#showFocus();
    });
    new Overlay(live, this.screen);
  }

  /** Shows a phone whose person is `asked` the form that waits, until a finger comes, another page, or somebody else is in control. */
  openOnForm(asked: () => boolean = () => true): void {
    let touched = !this.coarse;
    let shown = false;
    this.screen.stage.addEventListener('touchstart', () => {
      touched = true;
      if (!this.#wanted) this.screen.loosen();
    }, { once: true, passive: true });
    this.live.on('form', (field) => {
      if (!this.live.mine || touched || this.#wanted || !asked()) return;
      this.screen.keep(field);
      shown = true;
    });
    this.live.on('control', (party) => {
      if (party === 'me' || !shown) return;
      this.screen.keep(null);
      shown = false;
    });
  }

  /** Opens the phone's keyboard, and moves the focused field into view. */
  #followField(): void {
    let shown: Field | null = null;
    // Whoever opens the link of a takeover sees the field that waits for them.
    this.live.on('control', (party) => this.coarse && party === 'me' && shown && this.screen.keep(shown));
    let last = 0;
    this.live.on('focus', ({ editable, field, number }) => {
      const had = shown !== null;
      const same = number === last;
      last = number;
      shown = field;
      this.#wanted = editable && this.coarse;
      for (const button of document.querySelectorAll('[data-keyboard]')) button.setAttribute('aria-pressed', String(this.keyboard.focused));
      if (!this.coarse || !this.live.mine) return;
      if (editable) {
        this.keyboard.focus();
        if (field) this.screen.keep(field);
      } else {
        if (had && this.keyboard.focused) this.#field.blur();
        if (!same) this.screen.keep(null);
      }
    });
    if (this.coarse) this.#field.addEventListener('focus', () => this.screen.keyboardOpens());
    // If the window keeps its height, the on-screen keyboard covers its lower part.
    const visual = window.visualViewport;
    visual?.addEventListener('resize', () => {
      document.body.style.height = this.coarse && window.innerHeight - visual.height > 80 ? `${visual.height}px` : '';
    });
  }

  #fillKeyboardButtons(): void {
    for (const button of document.querySelectorAll<HTMLElement>('[data-keyboard]')) {
      // The press would remove the focus before the click arrives.
      button.addEventListener('pointerdown', (event) => event.preventDefault());
      button.addEventListener('click', () => {
        if (this.keyboard.focused) this.#field.blur();
        else this.keyboard.focus();
      });
      this.#field.addEventListener('focus', () => button.setAttribute('aria-pressed', 'true'));
      this.#field.addEventListener('blur', () => button.setAttribute('aria-pressed', 'false'));
    }
    for (const button of document.querySelectorAll<HTMLElement>('[data-key-tap]')) {
      button.addEventListener('click', () => {
        this.keyboard.chord(button.dataset.keyTap ?? '');
        if (!this.coarse) this.keyboard.focus();
      });
    }
    for (const button of document.querySelectorAll<HTMLElement>('[data-go]')) {
      button.addEventListener('click', () => this.live.navigate({ type: 'navigate', action: button.dataset.go as 'back' | 'forward' | 'reload' | 'stop' }));
    }
  }
}
