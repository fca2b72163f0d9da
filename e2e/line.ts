import type { Server } from 'node:http';
import { connect, createServer as createLine, type AddressInfo, type Server as LineServer, type Socket } from 'node:net';

/** Listens on a port of this machine, or on any, and returns which. */
export async function listen(server: Server | LineServer, port = 0): Promise<number> {
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

/** A connection between the person's browser and the server. It can be cut, or silently drop all data. */
export class Line {
  port = 0;
  #silent = false;
  /** The two ends of each connection. */
  #ends = new Map<Socket, Socket>();
  #server: LineServer | null = null;

  constructor(private readonly to: number) {}

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
      if (!this.#silent) near.pipe(far).pipe(near);
    });
    this.port = await listen(this.#server, this.port);
  }

  /** Drops all data from now on, without telling either side. */
  silence(): void {
    this.#silent = true;
    for (const socket of this.#ends.keys()) socket.unpipe().pause();
  }

  /** Passes on everything that was held back. */
  resume(): void {
    this.#silent = false;
    for (const [socket, other] of this.#ends) socket.pipe(other);
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
