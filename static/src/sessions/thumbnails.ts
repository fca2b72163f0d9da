/** How often (ms) the picture of a visible session is refreshed. */
const REFRESH = 10_000;
/** Pictures that are loaded at the same time. */
const AT_ONCE = 2;

/** Small session pictures, loaded when they come into view. Those of live sessions (without `data-once`) are refreshed. */
export class Thumbnails {
  #visible = new Set<HTMLElement>();
  #queue: HTMLElement[] = [];
  #loading = 0;
  #seen = new WeakSet<HTMLElement>();
  #observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!(target instanceof HTMLElement)) continue;
      if (isIntersecting) {
        this.#visible.add(target);
        if (target.dataset.once === undefined || !target.firstChild) this.#ask(target);
      } else this.#visible.delete(target);
    }
  });

  constructor() {
    window.setInterval(() => {
      if (document.hidden) return;
      for (const element of this.#visible) {
        if (!element.isConnected) this.#visible.delete(element);
        else if (element.dataset.once === undefined) this.#ask(element);
      }
    }, REFRESH);
  }

  /** Adds thumbnails that are new on the page. */
  scan(): void {
    for (const element of document.querySelectorAll<HTMLElement>('[data-thumb]')) {
      if (this.#seen.has(element)) continue;
      this.#seen.add(element);
      this.#observer.observe(element);
    }
  }

  #ask(element: HTMLElement): void {
    if (!this.#queue.includes(element)) this.#queue.push(element);
    this.#next();
  }

  #next(): void {
    while (this.#loading < AT_ONCE) {
      const element = this.#queue.shift();
      if (!element) return;
      this.#load(element);
    }
  }

  #load(element: HTMLElement): void {
    this.#loading++;
    const image = new Image();
    image.alt = '';
    image.decoding = 'async';
    const over = (): void => {
      this.#loading--;
      this.#next();
    };
    image.onload = () => {
      image.dataset.loaded = '';
      delete element.dataset.none;
      element.replaceChildren(image);
      over();
    };
    image.onerror = () => {
      element.dataset.none = ''; // Keeps the last picture, or the empty background.
      over();
    };
    image.src = `${element.dataset.thumb ?? ''}?at=${Date.now()}`;
  }
}
