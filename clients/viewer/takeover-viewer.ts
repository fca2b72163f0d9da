// <takeover-viewer>: a session or a takeover in a page of another site. It shows Takeover's own page in a frame and speaks the messages of docs/embedding.md,
// so the server must list the site in --embed-origins. The frame gets no API key: src is a share link or the url of a takeover.

/** What the frame says, by type. Each message becomes an event of the element, with these fields as its detail. */
export interface TakeoverViewerEvents {
  ready: { session: string; role: string };
  control: { holder: 'me' | 'person' | 'script' | 'agent' | 'nobody' };
  takeover: { takeover: { id: string; reason: string; state: string; deadline: string } | null };
  done: { outcome: 'done' | 'failed' | 'expired' | 'cancelled' | 'over' };
  ended: { reason: string };
}

const types: ReadonlySet<string> = new Set<keyof TakeoverViewerEvents>(['ready', 'control', 'takeover', 'done', 'ended']);

export class TakeoverViewer extends HTMLElement {
  static readonly observedAttributes = ['src', 'title'];

  #frame = newFrame();

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    const style = document.createElement('style');
    style.textContent = ':host { display: block; height: 640px } :host([hidden]) { display: none }';
    root.append(style, this.#frame);
  }

  /** The address of the frame: a share link, or the url of a takeover. */
  get src(): string {
    return this.getAttribute('src') ?? '';
  }

  set src(url: string) {
    this.setAttribute('src', url);
  }

  /** Takes control, as the button in the frame does. */
  take(): void {
    this.#send({ type: 'control', action: 'take' });
  }

  /** Gives control back. */
  release(): void {
    this.#send({ type: 'control', action: 'release' });
  }

  /** Gives the keyboard to the remote page. */
  override focus(): void {
    this.#frame.focus();
    this.#send({ type: 'focus' });
  }

  connectedCallback(): void {
    addEventListener('message', this.#hear);
    this.#show();
  }

  disconnectedCallback(): void {
    removeEventListener('message', this.#hear);
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#show();
  }

  /** The origin of the frame, or nothing if src is no address of a server. */
  get #origin(): string | undefined {
    if (!this.src || !URL.canParse(this.src, document.baseURI)) return undefined;
    const url = new URL(this.src, document.baseURI);
    return /^https?:$/.test(url.protocol) ? url.origin : undefined;
  }

  #show(): void {
    const shown = this.#origin ? new URL(this.src, document.baseURI).href : 'about:blank';
    if (this.#frame.src !== shown) {
      // Another link may differ in its fragment only, for which a frame loads nothing. A new frame does.
      const frame = newFrame();
      frame.src = shown;
      this.#frame.replaceWith(frame);
      this.#frame = frame;
    }
    this.#frame.title = this.title || 'Remote browser';
  }

  #send(message: object): void {
    if (this.#origin) this.#frame.contentWindow?.postMessage({ target: 'takeover', ...message }, this.#origin);
  }

  readonly #hear = ({ origin, source, data }: MessageEvent): void => {
    if (source !== this.#frame.contentWindow || origin !== this.#origin || data?.source !== 'takeover' || !types.has(data.type)) return;
    const { source: _, type, ...detail } = data;
    this.dispatchEvent(new CustomEvent(type, { detail }));
  };
}

function newFrame(): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.allow = 'clipboard-read; clipboard-write';
  frame.style.cssText = 'display: block; width: 100%; height: 100%; border: 0';
  return frame;
}

customElements.define('takeover-viewer', TakeoverViewer);
