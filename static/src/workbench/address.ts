/** Completes a typed address with a scheme. */
export function addressOf(typed: string): string {
  const text = typed.trim();
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[^/]+:\d+(\/|$)/.test(text)) return text;
  const local = /^(localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:]+\])(:\d+)?(\/|$)/i.test(text);
  return `${local ? 'http' : 'https'}://${text}`;
}

/** Returns the name of a page: its title, or else its address. If a page has no title, Chromium reports the address as its title. */
export function titleOf(page: { title: string; url: string } | undefined): string {
  if (!page?.url || page.url === 'about:blank') return page?.title && page.title !== 'about:blank' ? page.title : 'Empty page';
  return page.title || page.url;
}
