/**
 * Notes whether a page begins to drag something while a button is held down.
 * One is in each frame while that is of interest; Go holds it by object id.
 */
export class DragWatch {
  private event?: DragEvent;
  private readonly note = (e: DragEvent) => { this.event = e; };

  begin() {
    this.end();
    addEventListener('dragstart', this.note, { capture: true });
  }

  /** Whether dragging began, and no handler forbade it. */
  started(): boolean { return !!this.event && !this.event.defaultPrevented; }

  end() {
    removeEventListener('dragstart', this.note, { capture: true });
    this.event = undefined;
  }
}
