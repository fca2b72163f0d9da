import { read } from './storage.js';

/** Storage keys of the choices that a person made for this browser. */
export const NOTIFY = 'takeover.notify';
export const SOUND = 'takeover.sound';

/** Returns whether the person wants notifications and the browser allows them. */
export function mayNotify(): boolean {
  return read(NOTIFY) === 'on' && 'Notification' in window && Notification.permission === 'granted';
}

/** The two tones (Hz), how long each is (s), and how loud. */
const TONES = [660, 880];
const TONE = 0.14;
const VOLUME = 0.08;

/** Plays the sound. A browser that requires a click first stays silent. */
export function play(): void {
  const audio = new AudioContext();
  TONES.forEach((frequency, i) => {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    tone.frequency.value = frequency;
    const from = audio.currentTime + i * TONE;
    volume.gain.setValueAtTime(VOLUME, from);
    volume.gain.exponentialRampToValueAtTime(0.001, from + TONE);
    tone.connect(volume).connect(audio.destination);
    tone.start(from);
    tone.stop(from + TONE);
  });
  window.setTimeout(() => void audio.close(), 1_000);
}
