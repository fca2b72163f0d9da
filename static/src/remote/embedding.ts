import type { Stage } from './stage.js';
import type { Party } from './live.js';

/** Messages to the page that frames this one; `docs/embedding.md` describes each. */
export type EmbedEvent =
  | { type: 'ready'; session: string; role: string }
  | { type: 'control'; holder: Party }
  | { type: 'takeover'; takeover: { id: string; reason: string; state: string; deadline: string } | null }
  | { type: 'done'; outcome: string }
  | { type: 'ended'; reason: string };

/** Messages from that page. */
export type EmbedCommand = { type: 'control'; action: 'take' | 'release' } | { type: 'focus' };

/** Parses a message from outside. Returns null if it is not for this page. */
export function parseCommand(data: unknown): EmbedCommand | null {
  if (typeof data !== 'object' || data === null) return null;
  const { target, type, action } = data as Record<string, unknown>;
  if (target !== 'takeover') return null;
  if (type === 'control' && (action === 'take' || action === 'release')) return { type, action };
  return type === 'focus' ? { type } : null;
}

/** Exchanges messages with the site that frames this page: only with the page directly around this one, and only if the server permits its origin. */
export class Embedding {
  #allowed = (document.body.dataset.embed ?? '').split(' ').filter(Boolean);
  #framed = window.parent !== window && this.#allowed.length > 0;

  send(event: EmbedEvent): void {
    if (!this.#framed) return;
    // A browser delivers a message only to the page with the right origin.
    const around = location.ancestorOrigins?.[0];
    for (const origin of this.#allowed) {
      if (around === undefined || around === origin) window.parent.postMessage({ source: 'takeover', ...event }, origin);
    }
  }

  /** Reports events of the stage, and executes requests. */
  follow(stage: Stage): void {
    if (!this.#framed) return;
    const { live } = stage;
    live.on('hello', (role) => this.send({ type: 'ready', session: live.session, role }));
    live.on('control', (holder) => this.send({ type: 'control', holder }));
    live.on('takeover', (takeover) => {
      const told = takeover && { id: takeover.id, reason: takeover.reason, state: takeover.state, deadline: takeover.deadline };
      this.send({ type: 'takeover', takeover: told });
    });
    live.on('connection', (state) => {
      if (state.phase === 'closed' && state.cause !== 'left') this.send({ type: 'ended', reason: state.reason });
    });
    window.addEventListener('message', (event) => {
      if (event.source !== window.parent || !this.#allowed.includes(event.origin)) return;
      const command = parseCommand(event.data);
      if (command?.type === 'focus') stage.keyboard.focus();
      else if (command?.action === 'take') live.takeControl();
      else if (command?.action === 'release') live.releaseControl();
    });
  }
}
