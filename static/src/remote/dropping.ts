import { messageOf } from '../ui/api.js';
import { byId, show } from '../ui/dom.js';
import { inside } from './geometry.js';
import type { Live } from './live.js';
import { notice } from '../ui/notices.js';
import { modifiersOf } from './pointer.js';
import type { Screen } from './screen.js';
import { uploadAll } from './uploads.js';

/** Passes files that the person drops on the remote page to that page, at the pointer's position. */
export class Dropping {
  #hint = byId('drop-hint');

  constructor(private readonly screen: Screen, private readonly live: Live) {
    const { frame } = screen;
    frame.addEventListener('dragenter', (event) => this.#over(event));
    frame.addEventListener('dragover', (event) => this.#over(event));
    frame.addEventListener('dragleave', (event) => {
      if (!(event.relatedTarget instanceof Node && frame.contains(event.relatedTarget))) show(this.#hint, false);
    });
    frame.addEventListener('drop', (event) => void this.#drop(event));
    // Outside the picture, the browser would open a dropped file in place of this page.
    for (const kind of ['dragover', 'drop'] as const) window.addEventListener(kind, (event) => holdsFiles(event) && event.preventDefault());
  }

  #over(event: DragEvent): void {
    if (!holdsFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    const may = this.live.mine || (this.live.party === 'nobody' && this.live.mayControl);
    event.dataTransfer.dropEffect = may ? 'copy' : 'none';
    show(this.#hint, may);
  }

  async #drop(event: DragEvent): Promise<void> {
    show(this.#hint, false);
    if (!holdsFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    const point = this.screen.toPage(event);
    const modifiers = modifiersOf(event);
    const { tab } = this.screen;
    const items = [...event.dataTransfer.items].filter((item) => item.kind === 'file' && !item.webkitGetAsEntry()?.isDirectory);
    const files = items.map((item) => item.getAsFile()).filter((file) => file !== null);
    if (!inside(point, this.screen.page)) return;
    if (files.length === 0) return notice('Folders cannot be dropped here, only files.');
    try {
      const names = await uploadAll(this.live.session, files, notice);
      this.live.input({ type: 'drop', ...point, files: names, modifiers, tab });
    } catch (error) {
      notice(messageOf(error));
    }
  }
}

function holdsFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}
