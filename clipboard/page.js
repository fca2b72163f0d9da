async (limits) => {
  const { clipboard } = navigator;
  const say = (what) => window.heard(JSON.stringify(what));
  const bytes = new TextEncoder();
  const IMAGE = Symbol('an image');
  /** What was written here, a text or IMAGE, until its change event arrives, which is not reported. */
  let written = null;

  /** Reports the copied text, and returns whether there is one. */
  const tellText = async (ours) => {
    const text = await clipboard.readText();
    if (text !== '' && text !== ours) say(bytes.encode(text).length > limits.text ? { tooLong: true } : { text });
    return text !== '';
  };

  const tellImage = async () => {
    for (const item of await clipboard.read()) {
      if (!item.types.includes('image/png')) continue;
      const blob = await item.getType('image/png');
      if (blob.size > limits.image) return say({ tooLarge: true });
      const reader = new FileReader();
      reader.onload = () => say({ image: reader.result.slice(reader.result.indexOf(',') + 1) });
      return reader.readAsDataURL(blob);
    }
  };

  clipboard.addEventListener('clipboardchange', async ({ types }) => {
    const ours = written;
    written = null;
    // Content that was copied from a page may be both.
    if (types.includes('text/plain')) await tellText(ours);
    else if (types.includes('image/png') && ours !== IMAGE) await tellImage();
  });

  window.writeText = (text) => {
    written = text;
    return clipboard.writeText(text);
  };

  window.writeImage = async (base64) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    const image = await canvas.convertToBlob();
    written = IMAGE;
    try {
      await clipboard.write([new ClipboardItem({ 'image/png': image })]);
    } catch (error) {
      written = null;
      throw error;
    }
  };

  // Report what was copied before this page listened.
  if (!(await tellText(null))) await tellImage();
}
