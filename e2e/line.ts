import type { Server } from 'node:http';
import { connect, createServer as createLine, type AddressInfo, type Server as LineServer, type Socket } from 'node:net';

/** Listens on a port of this machine, or on any, and returns which. */
export async function listen(server: Server | LineServer, port = 0): Promise<number> {
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

/** How fast a line is, in each direction. */
export interface Speed { bytesPerSecond: number; oneWay: number }

/** A poor connection of a phone, and a very poor one. */
export const POOR: Speed = { bytesPerSecond: 125_000, oneWay: 100 };
export const VERY_POOR: Speed = { bytesPerSecond: 32_000, oneWay: 200 };

/** The bytes that wait in front of a slow line before its sender has to wait, as in a router. */
const QUEUE = 64 << 10;

/** A connection between the person's browser and the server. It can be slow or cut, or silently drop all data. */
export class Line {
  port = 0;
  #silent = false;
  /** The two ends of each connection. */
  #ends = new Map<Socket, Socket>();
  #server: LineServer | null = null;

  constructor(private readonly to: number, private readonly speed?: Speed) {}

  async mend(): Promise<void> {
    this.#server = createLine((near) => {
      const far = connect(this.to, '127.0.0.1');
      for (const [socket, other] of [[near, far], [far, near]] as const) {
        this.#ends.set(socket, other);
        socket.on('error', () => {}).on('close', () => {
          near.destroy();
          far.destroy();
          this.#ends.delete(socket);
        });
      }
      if (!this.#silent) for (const socket of [near, far]) this.#carry(socket);
    });
    this.port = await listen(this.#server, this.port);
  }

  /** Drops all data from now on, without telling either side. */
  silence(): void {
    this.#silent = true;
    for (const socket of this.#ends.keys()) socket.unpipe().removeAllListeners('data').pause();
  }

  /** Passes on everything that was held back. */
  resume(): void {
    this.#silent = false;
    for (const socket of this.#ends.keys()) this.#carry(socket);
  }

  /** Passes on what arrives at one end, as fast as the line is. */
  #carry(socket: Socket): void {
    const { speed } = this;
    const other = this.#ends.get(socket);
    if (!other) return;
    if (!speed) {
      socket.pipe(other);
      return;
    }
    let free = 0;
    let waiting = 0;
    // One timer at a time: the order of several is not certain.
    const queue: { data: Buffer; due: number }[] = [];
    const pass = (): void => {
      for (let next = queue[0]; next && next.due <= Date.now(); next = queue[0]) {
        queue.shift();
        if ((waiting -= next.data.length) <= QUEUE && !this.#silent) socket.resume();
        other.write(next.data);
      }
      if (queue[0]) setTimeout(pass, queue[0].due - Date.now());
    };
    socket.on('data', (data: Buffer) => {
      free = Math.max(free, Date.now()) + (data.length / speed.bytesPerSecond) * 1000;
      if ((waiting += data.length) > QUEUE) socket.pause();
      queue.push({ data, due: free + speed.oneWay });
      if (queue.length === 1) setTimeout(pass, free + speed.oneWay - Date.now());
    });
  }

  /** Lets new connections work from now on; silent ones stay silent. */
  speak(): void {
    this.#silent = false;
  }

  /** Breaks every connection and, unlike `cut`, takes new ones. */
  reset(): void {
    for (const socket of this.#ends.keys()) socket.resetAndDestroy();
  }

  cut(): void {
    this.#server?.close();
    for (const socket of this.#ends.keys()) socket.destroy();
  }
}
