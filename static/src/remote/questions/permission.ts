import { byId, setText, show } from '../../ui/dom.js';
import type { Live } from '../live.js';
import type { PermissionMessage } from '../protocol.js';

/** Permissions in words. */
const WORDS: Record<string, string> = {
  geolocation: 'to know your location',
  notifications: 'to send notifications',
  'clipboard-read': 'to read the remote clipboard',
  camera: 'to use a camera',
  microphone: 'to use a microphone',
  'local-fonts': 'to list the fonts of the remote computer',
  'window-management': 'to manage windows on all screens',
  'idle-detection': 'to know when you are active',
};

/** How long (ms) this device may take to find its position. */
const PLACE_WAIT = 10_000;

/** Permissions that the remote page was refused and that the person may grant. They are shown one at a time, and block nothing. */
export class PermissionQuestion {
  #bar = byId('remote-permission');
  #open: PermissionMessage[] = [];

  constructor(private readonly live: Live) {
    live.on('permission', (message) => this.#take(message));
    live.on('control', () => this.#show());
    live.on('connection', (state) => {
      if (state.phase === 'open') return;
      this.#open = []; // the server sends open ones again
      this.#show();
    });
    byId('remote-permission-allow').addEventListener('click', () => void this.#allow());
    byId('remote-permission-leave').addEventListener('click', () => this.#answer({ allow: false }));
  }

  #take(message: PermissionMessage): void {
    this.#open = this.#open.filter(({ id }) => id !== message.id);
    if (!message.closed) this.#open.push(message);
    this.#show();
  }

  #show(): void {
    const [first] = this.#open;
    const allowed = this.live.mayAnswer;
    show(this.#bar, first !== undefined && allowed);
    if (!first || !allowed) return;
    const host = first.origin?.replace(/^https?:\/\//, '') || 'The page';
    setText(byId('remote-permission-text'), `${host} asked ${WORDS[first.name ?? ''] ?? 'for a permission'}. The request was blocked.`);
    show(byId('remote-permission-hint'), first.name === 'geolocation');
  }

  async #allow(): Promise<void> {
    const [first] = this.#open;
    if (!first) return;
    const place = first.name === 'geolocation' ? await placeOfThisDevice() : null;
    if (first === this.#open[0]) this.#answer({ allow: true, ...place });
  }

  #answer(answer: { allow: boolean; latitude?: number; longitude?: number; accuracy?: number }): void {
    const first = this.#open.shift();
    if (!first) return;
    if (!this.live.mine && this.live.party === 'nobody') this.live.takeControl();
    this.live.send({ type: 'permission', id: first.id, ...answer });
    this.#show();
  }
}

/** Finds the position of this device, if the person lets the browser report it. */
async function placeOfThisDevice(): Promise<{ latitude: number; longitude: number; accuracy: number } | null> {
  if (!('geolocation' in navigator)) return null;
  return new Promise((resolve) => {
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude, longitude, accuracy } }) => resolve({ latitude, longitude, accuracy }),
      () => resolve(null),
      { timeout: PLACE_WAIT },
    );
  });
}
