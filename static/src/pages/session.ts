import { path, post } from '../ui/api.js';
import { showBanner } from '../workbench/banner.js';
import { showConnection } from '../workbench/connectionlabel.js';
import { showControl } from '../remote/control.js';
import { enableColours } from '../ui/colours.js';
import { enableConnecting } from '../ui/connecting.js';
import { enableCopying, enableTakeoverLinks } from '../ui/copying.js';
import { byId, maybeById, show } from '../ui/dom.js';
import { Editor } from '../workbench/editor/editor.js';
import { FilesPanel } from '../workbench/filespanel.js';
import { enableKeys } from '../ui/keys.js';
import { enableKeysHelp } from '../ui/keyshelp.js';
import { showHeld } from '../workbench/held.js';
import { showHeldPlace } from '../workbench/heldplace.js';
import { isMac } from '../ui/platform.js';
import { busy, enableDialogs, enableMenus, formError } from '../ui/menus.js';
import { followLinks, hideLinkSecret } from '../ui/linksecret.js';
import { Embedding } from '../remote/embedding.js';
import { isOpen } from '../remote/protocol.js';
import { EventsPanel } from '../workbench/panel/events.js';
import { notice } from '../ui/notices.js';
import { startAgain } from '../workbench/again.js';
import { Recording, showRecorded } from '../workbench/recording.js';
import { enableBorders, enableFolding, enableSheets, shape } from '../workbench/regions.js';
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
enableColours();
enableCopying();
enableTakeoverLinks();
startTicking();
hideLinkSecret();
followLinks();

shape(root, { width: Number(byId('stage').dataset.width), height: Number(byId('stage').dataset.height) });
const stage = new Stage(session);
stage.screen.on('view', () => shape(root, stage.screen.page));
showControl(stage.live);
showConnection(stage.live);
showBanner(stage.live, stage.keyboard);
showHeld(stage.live, stage.keyboard);
showHeldPlace(stage.live, stage.screen);
showTabs(stage.live, stage.keyboard);
showTimeLeft(stage.live, !guest);
showRecorded(stage.live);
if (guest) enableKeysHelp();
else operate();
new Embedding().follow(stage);
stage.open();

/** Sets up the parts that only operators have: script, events, sharing, ending. */
function operate(): void {
  tellOfCalls();
  enableKeys();
  const editor = new Editor(session);
  const sheets = enableSheets(root, () => stage.keyboard.focused);
  const asked = (): boolean => isOpen(stage.live.takeover?.state);
  let ran = false;
  let mine = false;
  // Who is in control needs the room once they look closer or type.
  const offer = (): void => {
    if (mine && (asked() || !stage.screen.fitted || stage.keyboard.focused)) sheets.withdraw();
    else sheets.offer(ran ? 'script' : 'events');
  };
  const runner = new Runner(session, stage.live, editor, new Scripts(session, editor), () => {
    ran = true;
    offer();
  });
  stage.live.on('control', () => {
    if (mine === stage.live.mine) return;
    mine = stage.live.mine;
    if (mine && asked()) sheets.close(); // who helps needs the picture
    else offer();
  });
  stage.screen.on('view', offer); // the page may have another shape now
  for (const event of ['focus', 'blur']) byId('keys').addEventListener(event, offer);
  offer();
  new FilesPanel(session, stage.live);
  const unfold = enableFolding(root);
  if (/[?&](run|script)=/.test(location.search)) unfold(); // it is opened for its script
  const events = new EventsPanel(session, (run, line) => {
    if (root.dataset.sheet) sheets.choose('script');
    unfold();
    void runner.reveal(run, line);
  });
  void events.start();
  stage.live.on('connection', (state) => state.phase === 'closed' && events.stop());
  enableBorders(root);
  stage.openOnForm();
  again(editor);
  new Sharing(session);
  new Recording(session, stage.live);
  ending();
  byId('run-keys').textContent = isMac() ? '⌘ ↵' : 'Ctrl ↵';
  // Monaco is large, so the picture comes first, and the editor second, when it is in sight. Who saves data keeps the text field.
  if ((navigator as { connection?: { saveData?: boolean } }).connection?.saveData) return;
  const load = (): void => void editor.upgrade(root.dataset.monacoStyle ?? '', document.body.dataset.nonce ?? '').catch(() => {});
  const idle = window.requestIdleCallback ?? ((callback: () => void) => window.setTimeout(callback, 200));
  const sight = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    sight.disconnect();
    idle(load);
  });
  let loaded = false;
  const once = (): void => {
    if (loaded) return;
    loaded = true;
    sight.observe(byId('editor'));
  };
  stage.screen.on('drawn', once);
  stage.live.on('connection', (state) => (state.phase === 'open' || state.phase === 'waiting') && window.setTimeout(once, 1_500));
}

/** Offers, after the end, a new session that continues this one. */
function again(editor: Editor): void {
  const button = byId('overlay-again');
  stage.live.on('connection', (state) => {
    const ended = state.phase === 'closed' && (state.cause === 'ended' || state.cause === 'gone');
    show(button, ended);
    show(byId('overlay-back'), ended && state.cause === 'ended'); // this address is the page to look back on
  });
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
    root.toggleAttribute('data-over', true);
    for (const id of ['run', 'connect-button', 'share-button', 'record-button', 'end-button']) maybeById<HTMLButtonElement>(id)?.setAttribute('disabled', '');
    for (const item of document.querySelectorAll('#more-menu .menu-item, #address-form :is(button, input)')) item.setAttribute('disabled', '');
  });
}
