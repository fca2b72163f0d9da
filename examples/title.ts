// The title and the links of the page that the session shows.
const links = await page.getByRole('link').evaluateAll(all => all.map(a => (a as HTMLAnchorElement).href));
return { title: await page.title(), url: page.url(), links: links.slice(0, 20) };
