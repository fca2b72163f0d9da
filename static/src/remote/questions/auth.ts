import { byId, setText, show } from '../../ui/dom.js';
import type { Live } from '../live.js';
import type { AuthMessage } from '../protocol.js';
import { ask, openOver, Questions } from './questions.js';

/** Asks the person for the name and password that a server or proxy requests from the remote browser. */
export class SignInQuestion {
  #dialog = byId<HTMLDialogElement>('remote-auth');
  #name = byId<HTMLInputElement>('remote-auth-name');
  #password = byId<HTMLInputElement>('remote-auth-password');
  #open = new Questions<AuthMessage>();

  constructor(private readonly live: Live) {
    live.on('auth', (message) => this.#open.take(message) && this.#show());
    live.on('control', () => this.#allow());
    ask(live, this.#open, this.#dialog, () => this.#show());
    byId('remote-auth-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#answer(true);
    });
    byId('remote-auth-cancel').addEventListener('click', () => this.#answer(false));
    this.#dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      this.#answer(false);
    });
  }

  #show(): void {
    const message = this.#open.first;
    this.#password.value = '';
    if (!message) return this.#dialog.close();
    const host = message.origin?.replace(/^https?:\/\//, '') || 'The server';
    setText(byId('remote-auth-title'), `Sign in to ${message.proxy ? 'the proxy' : host}`);
    const asks = `${message.proxy ? `The proxy ${host}` : host} asks for a user name and a password.`;
    setText(byId('remote-auth-message'), message.realm ? `${asks} It says: “${message.realm}”` : asks);
    show(byId('remote-auth-open'), !message.proxy && (message.origin ?? '').startsWith('http:'));
    const error = byId('remote-auth-error');
    setText(error, message.again ? 'The user name or the password is not correct.' : '');
    show(error, message.again ?? false);
    if (!message.again) this.#name.value = '';
    this.#allow();
    openOver(this.#dialog);
    (message.again ? this.#password : this.#name).focus();
  }

  #allow(): void {
    const allowed = this.live.mayAnswer;
    byId<HTMLButtonElement>('remote-auth-accept').disabled = !allowed;
    byId<HTMLButtonElement>('remote-auth-cancel').disabled = !allowed;
  }

  #answer(accept: boolean): void {
    const { first } = this.#open;
    if (!first || !this.live.mayAnswer) return;
    if (!this.live.mine && this.live.party === 'nobody') this.live.takeControl();
    this.live.send({ type: 'auth', id: first.id, accept, ...(accept ? { username: this.#name.value, password: this.#password.value } : {}) });
    this.#open.shift();
    this.#show();
  }
}
