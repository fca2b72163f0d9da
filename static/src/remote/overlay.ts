import { byId, setText, show } from '../ui/dom.js';
import { notice } from '../ui/notices.js';
import { endingOf, interruptionOf, reconnectedAfter } from './endings.js';
import type { Live } from './live.js';
import type { Screen } from './screen.js';

/** The text over the picture when the picture does not show the present state. */
interface Words {
  title: string;
  text: string;
  /** The session is over for this viewer. */
  final?: boolean;
  /** The picture shows something that no longer exists. */
  covers?: boolean;
}

/** Says over the picture that the connection is lost, that the browser or the page crashed, or that the session is over. */
export class Overlay {
  /** Whether to show a link to the sessions, which guests do not get. */
  #home = document.querySelector('.topbar a[href="/"]') !== null;
  /** Why there is no browser at the moment. */
  #away: 'crashed' | 'waking' | null = null;
  #said: Words | null = null;
  /** The close code of the last connection, until the next one is open. */
  #code = 0;

  constructor(private readonly live: Live, private readonly screen: Screen) {
    const update = (): void => this.#update();
    live.on('browser', (state) => {
      this.#away = state === 'recovered' ? null : state;
      update();
    });
    live.on('connection', (state) => {
      if (state.phase !== 'open') this.#away = null; // the server reports it again
      if (state.phase === 'waiting') this.#code = state.code;
      if (state.phase === 'open') this.#explain();
      update();
    });
    live.on('tabs', update);
    live.on('control', update);
    live.on('hello', update);
    byId('overlay-reload').addEventListener('click', () => live.navigate({ type: 'navigate', action: 'reload' }));
  }

  get #words(): Words | null {
    const { live } = this;
    const { state } = live.connection;
    if (state.phase === 'closed') return state.cause === 'left' ? null : { ...endingOf(state.cause, state.reason, !this.#home), final: true };
    if (state.phase !== 'open') {
      if (state.phase === 'connecting') return this.#said; // no change until the state is known
      return interruptionOf(state.code, this.screen.hasPicture);
    }
    if (this.#away === 'waking') return { title: 'The session wakes up', text: 'Nobody used it for a while, so its browser was stopped. Your tabs come back in a few seconds.' };
    if (this.#away === 'crashed') return { title: 'The browser crashed', text: 'It restarts with the same profile. Your tabs come back in a few seconds.' };
    if (live.activeTab?.state !== 'crashed') return null;
    const text = live.mayAnswer
      ? 'Reload it to continue. Text that was typed but not sent is lost.'
      : 'It comes back when whoever is in control reloads it.';
    return { title: 'This page crashed', text, covers: true };
  }

  /** Explains afterwards why the connection was lost, because the text over the picture may have been too short-lived to read. */
  #explain(): void {
    const why = reconnectedAfter(this.#code);
    this.#code = 0;
    if (why) notice(why);
  }

  #update(): void {
    const words = this.#words;
    this.#said = words;
    const overlay = byId('overlay');
    show(overlay, words !== null);
    overlay.toggleAttribute('data-covers', words?.covers ?? false);
    setText(byId('overlay-title'), words?.title ?? '');
    setText(byId('overlay-text'), words?.text ?? '');
    show(byId('overlay-reload'), (words?.covers ?? false) && this.live.mayAnswer);
    const action = byId('overlay-action');
    show(action, (words?.final ?? false) && this.#home);
    if (words?.final && this.#home) setText(action, 'All sessions');
    if (words?.final || words?.covers) show(byId('skeleton'), false);
  }
}
