// The session's files, which are what a path in a script means: the path's last
// part is the file's name.

import type { Send } from './call.ts';
import { host } from './host.ts';
import { base64, buffer, utf8 } from './values.ts';

/** Writes a file in place of one of the same name; gives its name. */
export async function writeFile(send: Send, path: string, data: string | Uint8Array): Promise<string> {
  const bytes = typeof data === 'string' ? new Uint8Array(host.encode(data)) : data;
  const { name } = await send<{ name: string }>('files.write', { name: path, data: base64(bytes) });
  return name;
}

/** A file's bytes, as a Buffer. */
export async function readFile(send: Send, path: string): Promise<Uint8Array> {
  const { data } = await send<{ data: string }>('files.read', { name: path });
  return buffer(data) as Uint8Array;
}

/** The bytes of the first file in a .zip whose name fits a pattern. */
export async function readZipped(send: Send, path: string, entry: string): Promise<Uint8Array> {
  const { data } = await send<{ data: string }>('files.read', { name: path, entry });
  return buffer(data) as Uint8Array;
}

/** A file's text. */
export async function readTextFile(send: Send, path: string): Promise<string> {
  return utf8(await readFile(send, path));
}
