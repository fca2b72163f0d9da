/** Returns the name of a page: its title, or else its address. If a page has no title, Chromium reports the address as its title. */
export function titleOf(page: { title: string; url: string } | undefined): string {
  if (!page?.url || page.url === 'about:blank') return page?.title && page.title !== 'about:blank' ? page.title : 'Empty page';
  return page.title || page.url;
}

/** Returns words as a sentence begins. */
export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
