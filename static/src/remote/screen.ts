import { Emitter } from './emitter.js';
import { clamp, fit, fitField, inSight, toPage, toWindow, zoom, type Box, type Field, type Point, type Size, type View } from './geometry.js';
import type { Picture, Rect } from './protocol.js';

/** Stage pixels per page pixel at which a page is readable on a phone. */
const READABLE = 0.7;
/** How long (ms) a field that has lost the focus stays in sight, because the next field may get it. */
const BETWEEN_FIELDS = 250;
/** Two fingers that move the page also change its scale by up to this part. */
const SAME_SCALE = 0.1;

interface ScreenEvents {
  /** A picture is on the canvas, so it can be acknowledged. */
  drawn: Picture;
  /** The page's viewport or its place on the stage changed. */
  view: View;
}

/**
 * Draws pictures on a canvas in a stage. If a picture arrives while another is being decoded, it replaces the one that waits, so a slow machine skips
 * pictures instead of falling behind.
 */
export class Screen extends Emitter<ScreenEvents> {
  page: Size = { width: 1280, height: 720 };
  /** The tab of the picture; 0 before the first one. */
  tab = 0;
  view: View = { scale: 1, x: 0, y: 0 };
  /** Whether the view is the fitted one and follows the stage's size. */
  fitted = true;
  #context: CanvasRenderingContext2D;
  #next: Picture | null = null;
  #decoding = false;
  #lastSeq = -1;
  /** A finger is on the picture, so the picture keeps its place; and whether something wanted to move it meanwhile. */
  #held = false;
  #due = false;
  /** The field that stays in sight, and the scale to which the view was zoomed for it; 0 for none. */
  #kept: Field | null = null;
  #zoomed = 0;
  #leaving = 0;
  /** Somebody else moves the view now, so a resize does not show the field again. */
  #loose = false;
  /** The keyboard opens, so the next field is shown also if it is the one that was kept. */
  #opening = false;
  /** The page's person may only watch: no panel and no keyboard come below the picture, so it is in the middle. */
  readonly #watched: boolean;

  /** `edge` shows a frame around the visible part of the page. */
  constructor(readonly stage: HTMLElement, readonly frame: HTMLElement, readonly canvas: HTMLCanvasElement, private readonly edge: HTMLElement) {
    super();
    const context = canvas.getContext('2d', { alpha: false });
    if (!context) throw new Error('this browser has no 2d canvas');
    this.#context = context;
    this.#watched = stage.closest('[data-watch]') !== null;
    new ResizeObserver(() => this.#resized()).observe(stage);
    // Old browsers scroll what they should clip, for example to a caret.
    stage.addEventListener('scroll', () => stage.scrollTo(0, 0));
    this.layout();
  }

  /** Returns the size of the stage inside its padding, in CSS pixels. */
  get room(): Size {
    return { width: Math.max(1, this.stage.clientWidth), height: Math.max(1, this.stage.clientHeight) };
  }

  /** Returns the point of the window in the middle of the stage. */
  get middle(): Point {
    const { left, top, width, height } = this.stage.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  }

  get hasPicture(): boolean {
    return this.#lastSeq >= 0;
  }

  show(picture: Picture): void {
    this.#next = picture;
    if (!this.#decoding) void this.#work();
  }

  async #work(): Promise<void> {
    this.#decoding = true;
    while (this.#next) {
      const picture = this.#next;
      this.#next = null;
      try {
        const bitmap = await createImageBitmap(new Blob([picture.image], { type: picture.mime }));
        this.#draw(picture, bitmap);
        bitmap.close();
      } catch {
        // An image that cannot be decoded is skipped and acknowledged, so that the next one is sent.
      }
      this.emit('drawn', picture);
    }
    this.#decoding = false;
  }

  #draw(picture: Picture, bitmap: ImageBitmap): void {
    if (this.canvas.width !== bitmap.width || this.canvas.height !== bitmap.height) {
      this.canvas.width = bitmap.width;
      this.canvas.height = bitmap.height;
    }
    this.#context.drawImage(bitmap, 0, 0);
    this.#lastSeq = picture.seq;
    this.tab = picture.tab;
    this.canvas.dataset.tab = String(picture.tab);
    this.setPage({ width: picture.viewportWidth, height: picture.viewportHeight });
  }

  setPage(page: Size): void {
    if (page.width === this.page.width && page.height === this.page.height) return;
    this.page = page;
    this.fitted = true;
    this.layout();
  }

  /** Keeps the picture where it is until `release`, whatever happens to the stage, the page or the keyboard. Only the fingers themselves move it. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    if (!this.#due) return;
    this.#due = false;
    this.#resized();
  }

  /**
   * Keeps a field of the page in sight, also when a keyboard opens or the phone is turned. The view is zoomed to each new field; while the caret or the
   * page moves, the caret is only kept inside. null is for no field, which also undoes the zoom.
   */
  keep(field: Field | null): void {
    window.clearTimeout(this.#leaving);
    if (field) {
      const same = !this.#opening && this.#kept?.element.width === field.element.width && this.#kept.element.height === field.element.height;
      this.#kept = field;
      this.#loose = this.#opening = false;
      if (!same) this.#resized();
      else if (this.#held) this.#due = true;
      else if (!this.fitted) this.setView(inSight(this.view, field.rect, this.room, this.page));
    } else if (this.#kept) {
      this.#leaving = window.setTimeout(() => {
        this.#kept = null;
        // A person's own zoom stays.
        if (Math.abs(this.view.scale / this.#zoomed - 1) < SAME_SCALE) this.showWhole();
      }, BETWEEN_FIELDS);
    }
  }

  /** Leaves the view to the person's fingers until another field is kept, or the keyboard opens. */
  loosen(): void {
    this.#loose = true;
  }

  /** Shows the field that is typed into when the keyboard opens, wherever the person had moved the view. */
  keyboardOpens(): void {
    this.#loose = false;
    this.#opening = true;
  }

  #resized(): void {
    if (this.#held || !this.#kept || this.#loose) return this.layout();
    this.reveal(this.#kept);
    this.#zoomed = this.fitted ? 0 : this.view.scale;
  }

  /** Positions the canvas after a change of the stage, the page or the view, unless fingers hold it. */
  layout(): void {
    if (this.#held) this.#due = true;
    else this.#place();
  }

  #place(): void {
    const room = this.room;
    this.view = this.fitted ? fit(room, this.page) : clamp(this.view, room, this.page);
    const below = room.height - this.page.height * this.view.scale;
    if (this.#watched && below > 0) this.view.y = below / 2;
    const { style } = this.frame;
    style.width = `${this.page.width * this.view.scale}px`;
    style.height = `${this.page.height * this.view.scale}px`;
    style.transform = `translate(${this.view.x}px, ${this.view.y}px)`;
    const left = Math.max(0, this.view.x);
    const top = Math.max(0, this.view.y);
    this.edge.style.transform = `translate(${left}px, ${top}px)`;
    this.edge.style.width = `${Math.min(room.width, this.view.x + this.page.width * this.view.scale) - left}px`;
    this.edge.style.height = `${Math.min(room.height, this.view.y + this.page.height * this.view.scale) - top}px`;
    this.emit('view', this.view);
  }

  setView(view: View): void {
    this.view = view;
    this.fitted = view.scale <= fit(this.room, this.page).scale * 1.001;
    this.#place();
  }

  /** Zooms around a point of the window, which shows the same point of the page afterwards. */
  zoomBy(factor: number, at: Point): void {
    const point = this.toPage({ clientX: at.x, clientY: at.y });
    const { scale, x, y } = this.view;
    this.setView(zoom(this.view, factor, { x: x + point.x * scale, y: y + point.y * scale }, this.room, this.page));
  }

  /** Moves the picture by stage pixels as far as its edges allow, and returns how far that was. */
  panBy(dx: number, dy: number): Point {
    const { x, y } = this.view;
    this.setView(clamp({ ...this.view, x: x + dx, y: y + dy }, this.room, this.page));
    return { x: this.view.x - x, y: this.view.y - y };
  }

  /** Returns whether text is too small to read when the whole page is shown. */
  get small(): boolean {
    return fit(this.room, this.page).scale < READABLE;
  }

  /** Returns whether text can be read as the page is shown now. */
  get readable(): boolean {
    return this.view.scale >= READABLE;
  }

  /** Zooms in on one point of the window, when the whole page is shown. */
  zoomIn(at: Point): void {
    this.zoomBy(Math.max(2, 1 / this.view.scale), at);
  }

  showWhole(): void {
    this.fitted = true;
    this.#zoomed = 0;
    this.layout();
  }

  /** Shows a field so that a person can type into it. */
  reveal(field: Field): void {
    this.setView(fitField(field, this.room, this.page));
  }

  /** Converts a point of the window to CSS pixels of the remote page, by what is on the glass at this moment. Nothing else computes positions. */
  toPage({ clientX, clientY }: { clientX: number; clientY: number }): Point {
    return toPage(this.canvas.getBoundingClientRect(), this.page, { x: clientX, y: clientY });
  }

  /** Converts a rectangle of the remote page to the window. */
  toWindow(rect: Rect): Box {
    return toWindow(this.canvas.getBoundingClientRect(), this.page, rect);
  }
}
