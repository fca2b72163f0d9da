import type { Takeover, TakeoverLink, TakeoverRequest } from './people.ts';

/** Gives the sessions of Puppeteer's `createCDPSession` the command and the event with which a program asks for a person. */
declare module 'devtools-protocol/types/protocol-mapping.js' {
  export namespace ProtocolMapping {
    interface Commands {
      'Takeover.request': { paramsType: [TakeoverRequest]; returnType: Takeover };
    }
    interface Events {
      'Takeover.requested': [TakeoverLink];
    }
  }
}
