// The slider of the demo's captcha: it follows a real pointer and sends its
// positions to the server. The other pages of the sign-in work without a script.
'use strict';

const handle = document.getElementById('handle');
if (handle) {
  const piece = document.getElementById('piece');
  const fill = document.getElementById('fill');
  const words = document.getElementById('slider-words');
  const error = document.getElementById('slider-error');
  const { width, piece: size } = document.getElementById('puzzle').dataset;
  const room = Number(width) - Number(size);
  let trail = null;
  let grip = 0;
  let since = 0;
  let at = 0;

  piece.style.top = `${piece.dataset.top}px`;

  const move = (x) => {
    at = Math.max(0, Math.min(room, x));
    handle.style.left = `${at}px`;
    piece.style.left = `${at}px`;
    fill.style.width = `${at + 24}px`;
    handle.setAttribute('aria-valuenow', String(Math.round(at)));
    if (trail) trail.push({ t: performance.now() - since, x: at });
  };

  const begin = () => {
    trail = [];
    since = performance.now();
    words.hidden = true;
    error.hidden = true;
    move(at);
  };

  const send = async () => {
    const sent = trail;
    trail = null;
    if (!sent) return;
    let answer = { ok: false };
    try {
      const response = await fetch('/demo/captcha', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ trail: sent }) });
      answer = await response.json();
    } catch {
      answer = { ok: false, why: 'the server could not be reached, try again' };
    }
    if (answer.ok) {
      location.assign(answer.next);
      return;
    }
    error.textContent = `Sorry: ${answer.why ?? 'not quite, try again'}.`;
    error.hidden = false;
    move(0);
    words.hidden = false;
    if (answer.puzzle) {
      piece.style.top = `${answer.top}px`;
      document.getElementById('scene').src = `/demo/captcha/scene.png?v=${answer.puzzle}`;
      piece.src = `/demo/captcha/piece.png?v=${answer.puzzle}`;
    }
  };

  handle.addEventListener('pointerdown', (event) => {
    if (!event.isTrusted || event.button !== 0) return;
    event.preventDefault();
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    grip = event.clientX - at;
    begin();
  });
  handle.addEventListener('pointermove', (event) => {
    if (trail && event.isTrusted && event.buttons & 1) move(event.clientX - grip);
  });
  handle.addEventListener('pointerup', (event) => {
    if (trail && event.isTrusted) void send();
  });
  // The same by keyboard: arrows move, Enter lets go.
  handle.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 4, ArrowLeft: -4, PageUp: 24, PageDown: -24 }[event.key];
    if (step) {
      event.preventDefault();
      if (!trail) begin();
      move(at + step);
    } else if (event.key === 'Enter' && trail) {
      event.preventDefault();
      void send();
    }
  });
}
