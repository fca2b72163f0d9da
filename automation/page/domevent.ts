/** Waits for an event that reaches the document or the window. */
export function domEvent(type: string): Promise<void> {
  return new Promise(resolve => {
    const targets = [document, globalThis.window];
    const reached = () => {
      for (const target of targets)
        target.removeEventListener(type, reached);
      resolve();
    };
    for (const target of targets)
      target.addEventListener(type, reached);
  });
}
