/** A takeover as the server answers it; docs/cdp.md and /docs describe its fields. */
export type Takeover = import('./schema.gen.ts').components['schemas']['Takeover'];

/** The parameters of `Takeover.request`. */
export interface TakeoverRequest {
  /** What the person is asked for. */
  reason: string;
  /** More text for the person. */
  note?: string;
  /** Milliseconds until the request expires. */
  timeout?: number;
  /** Ends the takeover by itself: a selector that appears, or a glob for the address. */
  until?: string;
}

/** What `Takeover.requested` tells: the takeover's id, and the link for the person. */
export interface TakeoverLink {
  id: string;
  url: string;
}

/** What a person is asked for, besides the reason. */
export interface RequestOptions extends Omit<TakeoverRequest, 'reason'> {
  /** Gets the link for the person at once. */
  onLink?: (link: TakeoverLink) => void;
}

/** A session of the DevTools protocol, of Playwright or of Puppeteer. */
interface Protocol {
  send(method: never, params: never): Promise<unknown>;
  on(event: never, listener: never): unknown;
  detach(): Promise<void>;
}

/** A page of Playwright or of Puppeteer. */
export type AnyPage =
  | { context(): { newCDPSession(page: never): Promise<unknown> } }
  | { createCDPSession(): Promise<unknown> };

/**
 * Asks for a person in a session of this server to which the page's browser is connected, and waits until the takeover has ended, in
 * whatever state. Meanwhile everything else that the program sends waits, too.
 */
export async function requestTakeover(page: AnyPage, reason: string, { onLink, ...options }: RequestOptions = {}): Promise<Takeover> {
  const protocol = await ('createCDPSession' in page ? page.createCDPSession() : page.context().newCDPSession(page as never)) as Protocol;
  try {
    if (onLink)
      protocol.on('Takeover.requested' as never, onLink as never);
    return await protocol.send('Takeover.request' as never, { reason, ...options } as never) as Takeover;
  } finally {
    await protocol.detach().catch(() => {}); // the page may be gone
  }
}
