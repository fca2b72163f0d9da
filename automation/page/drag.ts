/** Watches whether a page starts a drag while a button is held down. During that time each frame has a watch; Go holds it by object id. */
export class DragWatch {
  private event?: DragEvent;
  private readonly note = (e: DragEvent) => { this.event = e; };

  begin() {
    this.end();
    addEventListener('dragstart', this.note, { capture: true });
  }

  /** Returns whether a drag started and no handler prevented it. */
  started(): boolean { return !!this.event && !this.event.defaultPrevented; }

  end() {
    removeEventListener('dragstart', this.note, { capture: true });
    this.event = undefined;
  }
}
