// The cookies and the storage of a context, whole.

import type { Send } from '../core/call.ts';
import { writeFile } from '../core/files.ts';

/** What storageState gives and setStorageState takes. */
export interface State {
  cookies: any[];
  origins: { origin: string; localStorage: { name: string; value: string }[] }[];
}

/** The state of a context; it is written into the session's files, too, when a path says so. */
export async function readStorage(send: Send, context: string, options: { indexedDB?: boolean; opfs?: boolean; path?: string } | undefined): Promise<State> {
  const state = await send<State>('context.storageState', { context, indexedDB: !!options?.indexedDB, opfs: !!options?.opfs });
  if (options?.path)
    await writeFile(send, options.path, JSON.stringify(state, undefined, 2));
  return state;
}
