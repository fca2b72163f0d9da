/** Something that can be clicked. The selector is a path of positions, which fits any page. */
export interface Clickable { selector: string; text: string }

/** What a page's content security policy has refused. */
export interface Violation { directive: string; blocked: string; source: string; line: number }

/** What there is to do on a page, and what went wrong in it. */
export interface Outline { url: string; title: string; clickable: Clickable[]; violations: Violation[] }

const CLICKABLE = 'a, button, input[type=button], input[type=submit], summary, [role=button], [role=tab], [role=menuitem], [onclick]';

/** Characters of a text that are kept. */
const TEXT = 200;

/** Returns at most `most` things that can be clicked, and the violations so far. */
export async function outline(most: number): Promise<Outline> {
  const clickable: Clickable[] = [];
  for (const element of document.querySelectorAll<HTMLElement>(CLICKABLE)) {
    if (clickable.length >= most)
      break;
    const text = (element.innerText || (element as HTMLInputElement).value || element.getAttribute('aria-label') || element.title || '').trim().slice(0, TEXT);
    if (text && element.getClientRects().length)
      clickable.push({ selector: path(element), text });
  }
  return { url: location.href, title: document.title, clickable, violations: await violations() };
}

function path(element: Element): string {
  const parts: string[] = [];
  for (let e: Element | null = element; e && e !== document.documentElement; e = e.parentElement)
    parts.unshift(`${e.tagName.toLowerCase()}:nth-child(${1 + [...(e.parentElement?.children ?? [])].indexOf(e)})`);
  return `html > ${parts.join(' > ')}`;
}

/** The body of a report about a violation, as the Reporting API has it. */
interface ViolationBody { effectiveDirective?: string; blockedURL?: string; sourceFile?: string; lineNumber?: number }

async function violations(): Promise<Violation[]> {
  const observer = new ReportingObserver(() => {}, { types: ['csp-violation'], buffered: true });
  observer.observe();
  await new Promise(resolve => setTimeout(resolve)); // earlier reports come in a task of their own
  const found = observer.takeRecords().map(({ body }) => {
    const { effectiveDirective = '', blockedURL = '', sourceFile = '', lineNumber = 0 } = (body ?? {}) as ViolationBody;
    return { directive: effectiveDirective, blocked: blockedURL, source: sourceFile ?? '', line: lineNumber ?? 0 };
  });
  observer.disconnect();
  return found;
}

/** A page's links, and what it says about itself, under the names of Steel's API. */
export interface Summary { links: { url: string; text: string }[]; metadata: Record<string, unknown> }

/** Returns at most `most` links, and the metadata. */
export function summary(most: number): Summary {
  const meta = (...names: string[]): string | undefined => {
    for (const name of names) {
      const found = document.querySelector<HTMLMetaElement>(`meta[name="${name}" i], meta[property="${name}" i]`)?.content;
      if (found)
        return found;
    }
    return undefined;
  };
  const jsonLd: unknown[] = [];
  for (const script of document.querySelectorAll('script[type="application/ld+json"]')) {
    try {
      jsonLd.push(JSON.parse(script.textContent ?? ''));
    } catch {
      // It is no JSON.
    }
  }
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return {
    links: [...document.links].slice(0, most).map(link => ({ url: link.href, text: (link.textContent ?? '').trim() })),
    metadata: {
      statusCode: navigation?.responseStatus ?? 0,
      title: document.title, urlSource: location.href, timestamp: new Date().toISOString(),
      language: document.documentElement.lang || undefined,
      description: meta('description'), keywords: meta('keywords'), author: meta('author'),
      articleAuthor: meta('article:author'), publishedTime: meta('article:published_time'), modifiedTime: meta('article:modified_time'),
      canonical: document.querySelector<HTMLLinkElement>('link[rel~="canonical" i]')?.href,
      favicon: document.querySelector<HTMLLinkElement>('link[rel~="icon" i]')?.href,
      ogTitle: meta('og:title'), ogDescription: meta('og:description'), ogImage: meta('og:image'), ogUrl: meta('og:url'), ogSiteName: meta('og:site_name'),
      jsonLd: jsonLd.length ? jsonLd : undefined,
    },
  };
}

/** Returns the source map that a script names, and its address: null without one, or if it has more than `most` characters. */
export async function sourceMap(url: string, most: number): Promise<{ url: string; text: string } | null> {
  const text = await (await fetch(url)).text();
  const named = [...text.matchAll(/\/\/[#@] sourceMappingURL=(\S+)/g)].pop()?.[1];
  if (!named)
    return null;
  const at = new URL(named, url).href;
  const map = await (await fetch(at)).text();
  return map.length > most ? null : { url: at.startsWith('data:') ? url : at, text: map };
}
