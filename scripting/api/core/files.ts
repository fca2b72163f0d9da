// The session's files. A path in a script stands for the file whose name is the path's last part.

import type { Send } from './call.ts';
import { host } from './host.ts';
import { base64, buffer, utf8 } from './values.ts';

/** Writes a file, replacing one of the same name. Returns its name. */
export async function writeFile(send: Send, path: string, data: string | Uint8Array): Promise<string> {
  const bytes = typeof data === 'string' ? new Uint8Array(host.encode(data)) : data;
  const { name } = await send<{ name: string }>('files.write', { name: path, data: base64(bytes) });
  return name;
}

/** Reads a file as a Buffer. */
export async function readFile(send: Send, path: string): Promise<Uint8Array> {
  const { data } = await send<{ data: string }>('files.read', { name: path });
  return buffer(data) as Uint8Array;
}

/** Reads the first file in a .zip whose name matches a pattern. */
export async function readZipped(send: Send, path: string, entry: string): Promise<Uint8Array> {
  const { data } = await send<{ data: string }>('files.read', { name: path, entry });
  return buffer(data) as Uint8Array;
}

/** Reads a file as text. */
export async function readTextFile(send: Send, path: string): Promise<string> {
  return utf8(await readFile(send, path));
}
