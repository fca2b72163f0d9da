import type { Takeover, TakeoverLink, TakeoverRequest } from './people.ts';

/** Gives the sessions of Playwright's `newCDPSession` the command and the event with which a program asks for a person. */
declare module 'playwright-core' {
  interface CDPSession {
    send(method: 'Takeover.request', params: TakeoverRequest): Promise<Takeover>;
    on(event: 'Takeover.requested', listener: (link: TakeoverLink) => void): this;
    once(event: 'Takeover.requested', listener: (link: TakeoverLink) => void): this;
  }
}
