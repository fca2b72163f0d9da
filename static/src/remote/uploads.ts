import { APIError, path } from '../ui/api.js';

/** A file of the session. */
export interface StoredFile { name: string; size: number; modifiedAt: string }

/** Adds a file of the person to the session's folder and returns its name there. */
export async function upload(session: string, file: File): Promise<StoredFile> {
  const where = `${path`/v1/sessions/${session}/files`}?add=true&name=${encodeURIComponent(file.name)}`;
  let response: Response;
  try {
    response = await fetch(where, { method: 'POST', headers: { Accept: 'application/json', 'Content-Type': 'application/octet-stream' }, credentials: 'same-origin', body: file });
  } catch {
    throw new APIError(`“${file.name}” could not be sent. Nothing was given to the page; try again.`, 0);
  }
  if (!response.ok) {
    const problem = (await response.json().catch(() => null)) as { detail?: string; title?: string } | null;
    throw new APIError(`“${file.name}”: ${problem?.detail ?? problem?.title ?? `the server answered ${response.status}`}`, response.status);
  }
  return (await response.json()) as StoredFile;
}

/** Sends files one after the other and returns their names in the session. */
export async function uploadAll(session: string, files: readonly File[], progress: (text: string) => void): Promise<string[]> {
  const names: string[] = [];
  for (const [at, file] of files.entries()) {
    progress(files.length === 1 ? `Sending ${file.name}…` : `Sending ${file.name} (${at + 1} of ${files.length})…`);
    names.push((await upload(session, file)).name);
  }
  return names;
}

const UNITS = ['bytes', 'kB', 'MB', 'GB'];

/** Writes a number of bytes for people. */
export function sizeOf(bytes: number): string {
  if (bytes === 1) return '1 byte';
  let unit = 0;
  while (bytes >= 1000 && unit < UNITS.length - 1) {
    bytes /= 1000;
    unit++;
  }
  return `${unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${UNITS[unit]}`;
}
