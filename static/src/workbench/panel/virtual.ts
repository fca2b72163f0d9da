/** Rows beyond the visible ones that are drawn too, so that scrolling shows no gaps. */
const OVERSCAN = 8;

/** Returns the rows to draw. */
export function range(scrollTop: number, height: number, rowHeight: number, count: number): { from: number; to: number } {
  const from = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN);
  const to = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + OVERSCAN);
  return { from: Math.min(from, to), to };
}

/** Returns by how many rows the row at top has moved, or, if it is gone, the next one that is left. */
export function moved<T>(before: readonly T[], after: readonly T[], top: number): number {
  const left = new Map(after.map((row, index) => [row, index]));
  const at = before.findIndex((row, index) => index >= top && left.has(row));
  return at < 0 ? 0 : (left.get(before[at] as T) ?? at) - at;
}

interface Options {
  host: HTMLElement;
  rowHeight: number;
  count(): number;
  /** Is called before the rows are drawn. */
  before(): void;
  /** Fills a new or reused element with a row. */
  fill(element: HTMLElement, index: number): void;
}

/** A list of rows of equal height, in which only visible rows exist as elements. */
export class VirtualList {
  /** Keeps the newest row in view until the person scrolls away. */
  follow = true;
  onFollowChange: (follow: boolean) => void = () => {};
  #sizer = document.createElement('div');
  #pool: HTMLElement[] = [];
  #scheduled = false;
  #moving = false;

  constructor(private readonly options: Options) {
    this.#sizer.className = 'events-sizer';
    this.#sizer.setAttribute('role', 'presentation');
    options.host.append(this.#sizer);
    options.host.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.refresh()).observe(options.host);
  }

  /** Draws before the next frame. */
  refresh(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#draw();
    });
  }

  /** The first row in view. */
  get top(): number {
    return Math.floor(this.options.host.scrollTop / this.options.rowHeight);
  }

  /** Adjusts the scroll position after the rows in view have moved down by so many rows, so that they stay in view. Not for a list that follows. */
  shift(rows: number): void {
    this.#stretch();
    this.options.host.scrollTop += rows * this.options.rowHeight;
  }

  #stretch(): void {
    this.#sizer.style.height = `${this.options.count() * this.options.rowHeight}px`;
  }

  reveal(index: number): void {
    const { host, rowHeight } = this.options;
    const top = index * rowHeight;
    if (top < host.scrollTop) host.scrollTop = top;
    else if (top + rowHeight > host.scrollTop + host.clientHeight) host.scrollTop = top + rowHeight - host.clientHeight;
    this.#draw();
  }

  setFollow(follow: boolean): void {
    if (follow !== this.follow) {
      this.follow = follow;
      this.onFollowChange(follow);
    }
    this.refresh();
  }

  #scrolled(): void {
    const { host, rowHeight } = this.options;
    if (!this.#moving) {
      const atEnd = host.scrollTop + host.clientHeight >= host.scrollHeight - rowHeight / 2;
      if (atEnd !== this.follow) {
        this.follow = atEnd;
        this.onFollowChange(atEnd);
      }
    }
    this.#moving = false;
    this.refresh();
  }

  #draw(): void {
    const { host, rowHeight, count, before, fill } = this.options;
    before();
    const total = count();
    this.#stretch();
    if (this.follow) {
      const end = Math.max(0, total * rowHeight - host.clientHeight);
      if (Math.abs(host.scrollTop - end) > 1) {
        this.#moving = true;
        host.scrollTop = end;
      }
    }
    const { from, to } = range(host.scrollTop, host.clientHeight, rowHeight, total);
    while (this.#pool.length < to - from) {
      const element = document.createElement('div');
      this.#pool.push(element);
      this.#sizer.append(element);
    }
    for (const [i, element] of this.#pool.entries()) {
      const index = from + i;
      element.hidden = index >= to;
      if (index >= to) continue;
      element.style.transform = `translateY(${index * rowHeight}px)`;
      fill(element, index);
    }
  }
}
