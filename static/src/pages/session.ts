import { path, post } from '../ui/api.js';
import { showBanner } from '../workbench/banner.js';
import { showConnection } from '../workbench/connectionlabel.js';
import { showControl } from '../remote/control.js';
import { enableConnecting } from '../ui/connecting.js';
import { enableCopying, enableTakeoverLinks } from '../ui/copying.js';
import { movable } from '../workbench/dividers.js';
import { byId, maybeById, show } from '../ui/dom.js';
import { Editor } from '../workbench/editor/editor.js';
import { FilesPanel } from '../workbench/filespanel.js';
import { enableKeys } from '../ui/keys.js';
import { isMac } from '../ui/platform.js';
import { busy, enableDialogs, enableMenus, formError } from '../ui/menus.js';
import { followLinks, hideLinkSecret } from '../ui/linksecret.js';
import { Embedding } from '../remote/embedding.js';
import { EventsPanel } from '../workbench/panel/events.js';
import { notice } from '../ui/notices.js';
import { read, write } from '../ui/storage.js';
import { startAgain } from '../workbench/again.js';
import { Recording, showRecorded } from '../workbench/recording.js';
import { Runner } from '../workbench/run.js';
import { Scripts } from '../workbench/saved.js';
import { Sharing } from '../workbench/sharing.js';
import { Stage } from '../remote/stage.js';
import { showTabs } from '../workbench/tabs.js';
import { showTimeLeft } from '../workbench/timeleft.js';
import { startTicking } from '../ui/times.js';
import { tellOfCalls } from '../ui/watching.js';

const root = byId('session');
const session = root.dataset.session ?? '';
const guest = root.hasAttribute('data-guest');

enableMenus();
enableDialogs();
enableConnecting();
enableCopying();
enableTakeoverLinks();
startTicking();
hideLinkSecret();
followLinks();

const stage = new Stage(session);
showControl(stage.live);
showConnection(stage.live);
showBanner(stage.live, stage.keyboard);
showTabs(stage.live, stage.keyboard);
showTimeLeft(stage.live, !guest);
showRecorded(stage.live);
if (!guest) operate();
new Embedding().follow(stage);
stage.open();

/** Sets up the parts that only operators have: script, events, sharing, ending. */
function operate(): void {
  tellOfCalls();
  enableKeys();
  const editor = new Editor(session);
  const runner = new Runner(session, stage.live, editor, new Scripts(session, editor));
  new FilesPanel(session, stage.live);
  const events = new EventsPanel(session, (run, line) => {
    if (root.dataset.sheet) root.dataset.sheet = 'script';
    void runner.reveal(run, line);
  });
  void events.start();
  stage.live.on('connection', (state) => state.phase === 'closed' && events.stop());
  dividers();
  sheets();
  again(editor);
  new Sharing(session);
  new Recording(session, stage.live);
  ending();
  byId('run-keys').textContent = isMac() ? '⌘ ↵' : 'Ctrl ↵';
  // Monaco is large, so the picture comes first and the editor second.
  const load = (): void => void editor.upgrade(root.dataset.monacoStyle ?? '', document.body.dataset.nonce ?? '').catch(() => {});
  const idle = window.requestIdleCallback ?? ((callback: () => void) => window.setTimeout(callback, 200));
  let loaded = false;
  const once = (): void => {
    if (loaded) return;
    loaded = true;
    idle(load);
  };
  stage.screen.on('drawn', once);
  stage.live.on('connection', (state) => (state.phase === 'open' || state.phase === 'waiting') && window.setTimeout(once, 1_500));
}

function dividers(): void {
  const NARROWEST = 320;
  const STAGE_AT_LEAST = 400;
  const side = byId('side');
  movable({
    handle: byId('divider'), host: root, property: '--side', key: 'takeover.side', unit: 'px', step: 24, reverse: true,
    initial: () => Math.min(560, Math.max(400, window.innerWidth * 0.34)),
    min: NARROWEST,
    max: () => Math.max(NARROWEST, window.innerWidth - STAGE_AT_LEAST),
    at: (event) => window.innerWidth - event.clientX,
  });
  movable({
    handle: byId('split'), host: side, property: '--split', key: 'takeover.split', unit: '%', step: 4, reverse: false,
    initial: () => (byId('output').hidden ? 56 : 68), min: 20, max: () => 80,
    at: (event) => ((event.clientY - side.getBoundingClientRect().top) / side.clientHeight) * 100,
  });
  const panel = byId('panel-script');
  movable({
    handle: byId('output-split'), host: panel, property: '--output', key: 'takeover.output', unit: '%', step: 4, reverse: true,
    initial: () => 46, min: 16, max: () => 80,
    at: (event) => ((panel.getBoundingClientRect().bottom - event.clientY) / panel.clientHeight) * 100,
  });
}

/** A flatter remote page (height by width) leaves room for a panel below its picture on a phone. */
const WIDE = 0.8;

/** Opens panels below the page in narrow windows, or over a page that needs all the room. */
function sheets(): void {
  const KEY = 'takeover.sheet';
  const side = byId('side');
  stage.screen.on('view', () => {
    const { width, height } = stage.screen.page;
    root.toggleAttribute('data-wide', height / width <= WIDE);
    root.style.setProperty('--page-ratio', String(height / width));
  });
  const open = (sheet: string): void => {
    if (sheet) root.dataset.sheet = sheet;
    else delete root.dataset.sheet;
    write(KEY, sheet);
    for (const button of document.querySelectorAll<HTMLElement>('.dock [data-sheet]')) button.setAttribute('aria-pressed', String(button.dataset.sheet === sheet));
  };
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-sheet]') : null;
    if (button && button !== root) {
      const wanted = button.dataset.sheet ?? '';
      open(root.dataset.sheet === wanted ? '' : wanted);
    } else if (root.dataset.sheet && event.target instanceof Element && event.target.closest('#view') && getComputedStyle(side).position === 'fixed') open('');
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && root.dataset.sheet && !stage.keyboard.focused) open('');
  });
  const kept = read(KEY);
  if (kept === 'script' || kept === 'events') open(kept);
}

/** Offers, after the end, a new session that continues this one. */
function again(editor: Editor): void {
  const button = byId('overlay-again');
  stage.live.on('connection', (state) => show(button, state.phase === 'closed' && (state.cause === 'ended' || state.cause === 'gone')));
  button.addEventListener('click', () => void busy(button, notice, () =>
    startAgain({ url: stage.live.activeTab?.url ?? '', ...stage.screen.page, touch: stage.live.touch, script: editor.value }),
  ));
}

function ending(): void {
  const dialog = byId<HTMLDialogElement>('end-dialog');
  const form = byId<HTMLFormElement>('end-form');
  const open = (): void => {
    formError(form, '');
    dialog.showModal();
  };
  byId('end-button').addEventListener('click', open);
  document.querySelector('[data-act="end"]')?.addEventListener('click', open);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void busy(form.querySelector('[type=submit]'), (message) => formError(form, message), async () => {
      await post(path`/v1/sessions/${session}/release`);
      location.assign('/');
    });
  });
  stage.live.on('connection', (state) => {
    if (state.phase !== 'closed') return;
    for (const id of ['run', 'connect-button', 'share-button', 'record-button', 'end-button']) maybeById<HTMLButtonElement>(id)?.setAttribute('disabled', '');
    for (const item of document.querySelectorAll('#more-menu .menu-item')) item.setAttribute('disabled', '');
  });
}
