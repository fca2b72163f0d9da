/** What a piece of code is. tokens.css has a colour for each kind, and base.css the highlight that has it. */
export type Kind = 'keyword' | 'string' | 'number' | 'comment' | 'quiet';

/** A piece of a code between two offsets. */
export interface Piece {
  kind: Kind;
  from: number;
  to: number;
}

/** Where a text is within a code. */
export interface Span {
  at: number;
  length: number;
}

/** A piece of a code within one of its spans. */
export interface Part extends Piece {
  span: number;
}

/** Longer codes (in characters) stay plain: colouring them would hold the page up. */
const LONGEST = 100_000;

/** Colours each code of the page (`data-colours` names its language) once it is shown. */
export function enableColours(): void {
  for (const code of document.querySelectorAll<HTMLElement>('[data-colours]')) colour(code);
}

/**
 * Colours a code once it is shown, also after its text was replaced. The elements stay as they are: the colours are highlights of their text. Browsers
 * without such highlights show it plain.
 */
export function colour(code: HTMLElement): void {
  if (!('highlights' in CSS)) return;
  watching ??= new IntersectionObserver(shown, { rootMargin: '50%' });
  watching.unobserve(code); // so that it is looked at again
  watching.observe(code);
}

let watching: IntersectionObserver | undefined;

async function shown(entries: IntersectionObserverEntry[]): Promise<void> {
  const codes = entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target as HTMLElement);
  for (const code of codes) watching?.unobserve(code);
  if (!codes.length) return;
  const { piecesOf } = await import('./grammars.js');
  forget();
  for (const code of codes) paint(code, piecesOf);
}

/** Colours a code at once. */
function paint(code: HTMLElement, piecesOf: (code: string, language: string) => Piece[]): void {
  const { text, nodes, spans } = textOf(code);
  if (text.length > LONGEST) return;
  for (const { span, kind, from, to } of partsOf(piecesOf(text, code.dataset.colours ?? ''), spans)) {
    const node = nodes[span];
    if (!node) continue;
    const name = `code-${kind}`;
    const highlight = CSS.highlights.get(name) ?? new Highlight();
    highlight.add(new StaticRange({ startContainer: node, startOffset: from, endContainer: node, endOffset: to }));
    CSS.highlights.set(name, highlight);
  }
}

/** Divides pieces of a text at the ends of its spans, which are in their order. Offsets of the parts are those within their span. */
export function partsOf(pieces: Piece[], spans: Span[]): Part[] {
  const parts: Part[] = [];
  let first = 0;
  for (const { kind, from, to } of pieces) {
    while (first < spans.length && end(spans[first]) <= from) first++;
    for (let span = first; span < spans.length; span++) {
      const { at, length } = spans[span] as Span;
      if (at >= to) break;
      const [begin, until] = [Math.max(from - at, 0), Math.min(to - at, length)];
      if (begin < until) parts.push({ span, kind, from: begin, to: until });
    }
  }
  return parts;
}

function end(span: Span | undefined): number {
  return span ? span.at + span.length : 0;
}

/** Forgets the colours of text that is no longer on the page. */
function forget(): void {
  for (const [name, highlight] of CSS.highlights) {
    if (!name.startsWith('code-')) continue;
    for (const range of [...highlight]) if (!range.startContainer.isConnected) highlight.delete(range);
  }
}

/** Returns the text of a code, its text nodes, and which part of the text each node has. An element with a line's number is a line. */
function textOf(code: HTMLElement): { text: string; nodes: Text[]; spans: Span[] } {
  const lines = [...code.querySelectorAll('[data-line]')];
  const nodes: Text[] = [];
  const spans: Span[] = [];
  let text = '';
  for (const [i, line] of (lines.length ? lines : [code]).entries()) {
    if (i) text += '\n';
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode as Text;
      nodes.push(node);
      spans.push({ at: text.length, length: node.data.length });
      text += node.data;
    }
  }
  return { text, nodes, spans };
}
