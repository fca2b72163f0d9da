import { byId, setText, show } from './dom.js';
import type { Live } from './live.js';
import type { AuthMessage } from './protocol.js';

/** A server, or a proxy, that asks the remote browser for a name and a password. */
export class RemoteAuth {
  #dialog = byId<HTMLDialogElement>('remote-auth');
  #name = byId<HTMLInputElement>('remote-auth-name');
  #password = byId<HTMLInputElement>('remote-auth-password');
  #open: AuthMessage | null = null;

  constructor(private readonly live: Live) {
    live.on('auth', (message) => this.#show(message));
    live.on('control', () => this.#allow());
    live.on('connection', (state) => state.phase !== 'open' && this.#close()); // what is still open is told again
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

  #show(message: AuthMessage): void {
    if (message.closed) {
      if (this.#open?.id === message.id) this.#close();
      return;
    }
    if (this.#open?.id === message.id) return;
    this.#open = message;
    const host = message.origin?.replace(/^https?:\/\//, '') || 'The server';
    setText(byId('remote-auth-title'), `Sign in to ${message.proxy ? 'the proxy' : host}`);
    const asks = `${message.proxy ? `The proxy ${host}` : host} asks for a name and a password.`;
    setText(byId('remote-auth-message'), message.realm ? `${asks} It says: “${message.realm}”` : asks);
    show(byId('remote-auth-open'), !message.proxy && (message.origin ?? '').startsWith('http:'));
    const error = byId('remote-auth-error');
    setText(error, message.again ? 'The name or the password was not right.' : '');
    show(error, message.again ?? false);
    if (!message.again) this.#name.value = '';
    this.#password.value = '';
    this.#allow();
    if (!this.#dialog.open) this.#dialog.showModal();
    (message.again ? this.#password : this.#name).focus();
  }

  /** Whoever is in control answers; when nobody is, answering takes control. */
  #allow(): void {
    const allowed = this.live.mine || (this.live.party === 'nobody' && this.live.mayControl);
    byId<HTMLButtonElement>('remote-auth-accept').disabled = !allowed;
    byId<HTMLButtonElement>('remote-auth-cancel').disabled = !allowed;
  }

  #answer(accept: boolean): void {
    if (!this.#open) return;
    if (!this.live.mine && this.live.party === 'nobody') this.live.takeControl();
    const { id } = this.#open;
    this.live.send({ type: 'auth', id, accept, ...(accept ? { username: this.#name.value, password: this.#password.value } : {}) });
    this.#close();
  }

  #close(): void {
    this.#open = null;
    this.#password.value = '';
    this.#dialog.close();
  }
}
