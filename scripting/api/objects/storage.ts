// Reads the cookies and the storage of a context.

import type { Send } from '../core/call.ts';
import { writeFile } from '../core/files.ts';

/** The result of storageState and the argument of setStorageState. */
export interface State {
  cookies: any[];
  origins: { origin: string; localStorage: { name: string; value: string }[] }[];
}

/** Reads the state of a context. If there is a path, the state is also written to the session's files. */
export async function readStorage(send: Send, context: string, options: { credentials?: boolean; indexedDB?: boolean; opfs?: boolean; path?: string } | undefined): Promise<State> {
  const state = await send<State>('context.storageState', { context, indexedDB: !!options?.indexedDB, opfs: !!options?.opfs, credentials: !!options?.credentials });
  if (options?.path)
    await writeFile(send, options.path, JSON.stringify(state, undefined, 2));
  return state;
}
