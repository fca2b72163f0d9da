/** What to change in the page for a picture: whether to hide the caret, whether to stop animations, and a style sheet to add. */
export interface ShotOptions { caret: boolean; animations: boolean; style: string }

/** Sizes of the page in CSS pixels. */
export interface Metrics {
  Width: number; Height: number;
  FullWidth: number; FullHeight: number;
  ScrollX: number; ScrollY: number;
  Ratio: number;
  /** Whether the focus is in a child frame. */
  Inner?: boolean;
}

/** Prepares this document for a picture, and restores everything afterwards. */
export class Screenshots {
  private undo: (() => void)[] = [];

  /** Prepares the document and returns its sizes. whole means that the picture shows all of the document. */
  begin(o: ShotOptions, whole: boolean): Metrics {
    this.end();
    if (whole) // a scroll bar would take up space
      this.override(document.documentElement, 'scrollbar-width', 'none');
    const roots = o.animations || o.style ? allRoots(document) : [];
    if (o.style)
      this.addStyle(roots, o.style);
    if (o.caret)
      this.hideCaret();
    if (o.animations)
      this.stopAnimations(roots);
    return { ...measure(), Inner: document.activeElement instanceof HTMLIFrameElement };
  }

  end() {
    for (const undo of this.undo.splice(0))
      undo();
  }

  /** Covers elements with coloured boxes, above everything else. */
  mask(elements: Element[], color: string) {
    const cover = document.createElement('div');
    cover.popover = 'manual';
    cover.style.cssText = 'all: initial; position: absolute; inset: 0 auto auto 0; width: 0; height: 0; overflow: visible; pointer-events: none;';
    const root = cover.attachShadow({ mode: 'closed' });
    for (const element of elements) {
      const { x, y, width, height } = element.getBoundingClientRect();
      const box = document.createElement('div');
      box.style.cssText = `position: absolute; left: ${x + globalThis.scrollX}px; top: ${y + globalThis.scrollY}px; width: ${width}px; height: ${height}px;`;
      box.style.background = color;
      root.append(box);
    }
    document.documentElement.append(cover);
    this.undo.push(() => cover.remove());
    try { cover.showPopover(); } catch { /* then it is on top by its place in the document */ }
  }

  private addStyle(roots: (Document | ShadowRoot)[], text: string) {
    for (const root of roots) {
      const style = document.createElement('style');
      style.textContent = text;
      (root instanceof Document ? root.documentElement : root).append(style);
      this.undo.push(() => style.remove());
    }
  }

  // Hides the caret. Only the focused control has one.
  private hideCaret() {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement)
      element = element.shadowRoot.activeElement;
    if (!(element instanceof HTMLElement) || !element.matches('input,textarea,[contenteditable]'))
      return;
    this.override(element, 'caret-color', 'transparent');
  }

  private override(element: HTMLElement, property: string, wanted: string) {
    const { style } = element, bare = !element.hasAttribute('style');
    const value = style.getPropertyValue(property), priority = style.getPropertyPriority(property);
    style.setProperty(property, wanted, 'important');
    this.undo.push(() => {
      style.setProperty(property, value, priority);
      // Chromium writes the attribute only when it is read, and does not remove it before that.
      if (bare && style.length === 0 && element.hasAttribute('style'))
        element.removeAttribute('style');
    });
  }

  // Stops animations. Finite ones jump to their end. Infinite ones go back to their start until the picture is taken.
  private stopAnimations(roots: (Document | ShadowRoot)[]) {
    const stopped = new Set<Animation>();
    for (const root of roots) {
      for (const animation of root.getAnimations()) {
        if (!animation.effect || animation.playbackRate === 0)
          continue;
        if (Number.isFinite(animation.effect.getComputedTiming().endTime as number)) {
          try { animation.finish(); } catch { /* one that cannot be finished stays as it is */ }
        } else {
          animation.cancel();
          stopped.add(animation);
        }
      }
    }
    this.undo.push(() => { for (const animation of stopped) animation.play(); });
  }
}

function allRoots(root: Document | ShadowRoot): (Document | ShadowRoot)[] {
  const roots = [root];
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot)
      roots.push(...allRoots(element.shadowRoot));
  }
  return roots;
}

function measure(): Metrics {
  const root = document.documentElement, body = document.body as HTMLElement | null;
  const wide = (e: HTMLElement | null) => e ? Math.max(e.scrollWidth, e.offsetWidth, e.clientWidth) : 0;
  const high = (e: HTMLElement | null) => e ? Math.max(e.scrollHeight, e.offsetHeight, e.clientHeight) : 0;
  return {
    Width: globalThis.innerWidth, Height: globalThis.innerHeight,
    FullWidth: Math.max(wide(root), wide(body)), FullHeight: Math.max(high(root), high(body)),
    ScrollX: globalThis.scrollX, ScrollY: globalThis.scrollY,
    Ratio: globalThis.devicePixelRatio,
  };
}
