// Handles page events that the server sends, except those about documents (automation/pageevents.go).

import { bindingCalled } from './bindings.ts';
import { Download, type DownloadInit } from './download.ts';
import { type ConsoleInit, consoleMessage } from './consolemessage.ts';
import { pageError, type PageErrorInit, tellBoth, WebError } from './events.ts';
import { FileChooser } from './filechooser.ts';
import { type ElementHandle, type HandleInit, handles } from './handle.ts';
import { overlayFound } from './overlays.ts';
import { Worker, type WorkerInit } from './worker.ts';
import type { World } from './world.ts';

/** Adds a worker that is new to the script. */
export function addWorker(w: World, init: WorkerInit): Worker {
  const worker = new Worker(init, init.page ? w.pages.get(init.page) : undefined, w.context(init.context));
  w.workers.set(init.id, worker);
  return worker;
}

/** The handlers of the server's page and worker events, by the event's name. */
export const pageHandlers: Record<string, (w: World, e: any) => void> = {
  'console'(w, init: ConsoleInit) {
    const message = consoleMessage(w, init);
    message.worker()?.emit('console', message);
    const page = message.page();
    if (page)
      tellBoth(page, 'console', message);
    else
      message.worker()?._context.emit('console', message);
  },
  'pageerror'(w, init: PageErrorInit) {
    const page = w.pages.get(init.page);
    const error = pageError(init);
    page?.emit('pageerror', error);
    page?.context().emit('weberror', new WebError(page, error, init.location));
  },
  'worker.created'(w, init: WorkerInit) {
    if (w.workers.has(init.id))
      return;
    const worker = addWorker(w, init);
    if (worker._page)
      worker._page.emit('worker', worker);
    else
      worker._context.emit('serviceworker', worker);
  },
  'worker.closed'(w, e: { worker: string }) {
    const worker = w.workers.get(e.worker);
    w.workers.delete(e.worker);
    worker?._onClosed();
  },
  'download'(w, init: DownloadInit) {
    const page = w.pages.get(init.page);
    if (page)
      tellBoth(page, 'download', new Download(page, init));
  },
  'filechooser'(w, e: { page: string; frame: string; element: HandleInit; isMultiple: boolean }) {
    const page = w.pages.get(e.page);
    const frame = w.frames.get(e.frame);
    if (page && frame)
      page.emit('filechooser', new FileChooser(page, handles.make(frame, e.element) as ElementHandle, e.isMultiple));
  },
  'binding.called'(w, e: { binding: string; call: string; page: string; frame: string; args: [] }) {
    const page = w.pages.get(e.page);
    const frame = w.frames.get(e.frame);
    if (page && frame)
      bindingCalled(e, { context: page.context(), page, frame });
  },
  'overlay': (_w, e: { handler: string }) => { void overlayFound(e.handler); },
  'dialog.closed': (w, e: { page: string }) => w.pages.get(e.page)?._onDialogClosed(),
};
