import { enableColours } from '../ui/colours.js';
import { enableConnecting } from '../ui/connecting.js';
import { enableCopying } from '../ui/copying.js';
import { enableKeys } from '../ui/keys.js';
import { enableMenus } from '../ui/menus.js';
import { mayNotify, NOTIFY, play, SOUND } from '../ui/preferences.js';
import { read, write } from '../ui/storage.js';
import { byId, setText } from '../ui/dom.js';
import { tellOfCalls } from '../ui/watching.js';

const THEME = 'takeover.theme';

function theme(): void {
  const choices = [...document.querySelectorAll<HTMLInputElement>('[name=theme]')];
  const show = (): void => {
    const now = read(THEME) || 'auto';
    for (const choice of choices) choice.checked = choice.value === now;
  };
  for (const choice of choices) {
    choice.addEventListener('change', () => {
      write(THEME, choice.value);
      document.dispatchEvent(new CustomEvent('themechosen'));
    });
  }
  document.addEventListener('themechange', show);
  show();
}

/** Asks the browser for permission only when the person switches notifications on, never when the page loads. */
function notifications(): void {
  const box = byId<HTMLInputElement>('notify');
  const state = byId('notify-state');
  const usual = state.textContent ?? '';
  const show = (): void => {
    box.checked = mayNotify();
    const refused = 'Notification' in window && Notification.permission === 'denied';
    box.disabled = refused || !('Notification' in window);
    setText(state, refused ? 'Your browser blocks notifications from this site. Allow them in its site settings.' : box.disabled ? 'This browser cannot show notifications for this address. Most browsers need HTTPS for them.' : usual);
  };
  box.addEventListener('change', () => {
    if (!box.checked) {
      write(NOTIFY, '');
      return show();
    }
    void Notification.requestPermission().then((answer) => {
      write(NOTIFY, answer === 'granted' ? 'on' : '');
      show();
    });
  });
  show();
}

function sound(): void {
  const box = byId<HTMLInputElement>('sound');
  box.checked = read(SOUND) === 'on';
  box.addEventListener('change', () => {
    write(SOUND, box.checked ? 'on' : '');
    if (box.checked) play();
  });
}

enableMenus();
enableColours();
enableKeys();
enableConnecting();
enableCopying();
tellOfCalls();
theme();
notifications();
sound();
