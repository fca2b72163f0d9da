async (limit) => {
  const { clipboard } = navigator;
  const say = (what) => window.heard(JSON.stringify(what));
  const bytes = new TextEncoder();
  /** The text that was written here, until its change event arrives, which is not reported. */
  let written = null;

  const tell = async (ours) => {
    const text = await clipboard.readText();
    if (text === '' || text === ours) return;
    say(bytes.encode(text).length > limit ? { tooLong: true } : { text });
  };

  clipboard.addEventListener('clipboardchange', async (event) => {
    const ours = written;
    written = null;
    if (event.types.includes('text/plain')) await tell(ours);
  });

  window.writeText = (text) => {
    written = text;
    return clipboard.writeText(text);
  };

  window.writeImage = async (base64) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    await clipboard.write([new ClipboardItem({ 'image/png': await canvas.convertToBlob() })]);
  };

  // Report the text that was copied before this page listened.
  await tell(null);
}
