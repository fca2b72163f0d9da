// The media type of a file by its name.

const types: Record<string, string> = {
  css: 'text/css', csv: 'text/csv', gif: 'image/gif', htm: 'text/html', html: 'text/html', ico: 'image/vnd.microsoft.icon', jpeg: 'image/jpeg',
  jpg: 'image/jpeg', js: 'application/javascript', json: 'application/json', map: 'application/json', md: 'text/markdown', mjs: 'application/javascript',
  mp3: 'audio/mpeg', mp4: 'video/mp4', otf: 'font/otf', pdf: 'application/pdf', png: 'image/png', svg: 'image/svg+xml', ttf: 'font/ttf', txt: 'text/plain',
  wasm: 'application/wasm', wav: 'audio/wav', webm: 'video/webm', webmanifest: 'application/manifest+json', webp: 'image/webp', woff: 'font/woff',
  woff2: 'font/woff2', xhtml: 'application/xhtml+xml', xml: 'application/xml', zip: 'application/zip',
};

/** Returns the media type of a file by its extension. */
export function mimeType(path: string): string {
  const end = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase();
  return end && Object.hasOwn(types, end) ? types[end]! : 'application/octet-stream';
}
