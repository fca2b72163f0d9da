import { isSecret } from '../../capture/page/secret.ts';

/** The mark that replaces a secret, as everywhere in the server. */
const mark = '[REDACTED]';
/** The fewest characters of a secret that is looked for inside other texts: fewer would match everywhere. */
const leastInside = 3;

/** An element of a snapshot, or a text. */
export type AriaNode = string | { role?: string; name?: string; ref?: string; text?: string; children?: AriaNode[] };

/** Puts a mark in the place of what the secret fields among some elements hold, wherever a snapshot has it: an element's name can have it, too. */
export function hideSecrets(tree: AriaNode[], fields: Element[]): AriaNode[] {
  const values = new Set<string>();
  for (const field of fields) {
    const value = ((field as HTMLInputElement).value ?? field.textContent ?? '');
    if (isSecret(field) && value.trim()) // an empty one is remembered, too
      values.add(value).add(plain(value));
  }
  if (!values.size)
    return tree;
  const sorted = [...values].sort((a, b) => b.length - a.length); // one may be part of another
  const inside = sorted.filter(value => value.length >= leastInside);
  const hide = (text: string) => inside.reduce((rest, value) => rest.replaceAll(value, mark), text);
  const visit = (node: AriaNode): AriaNode => {
    if (typeof node === 'string')
      return hide(node);
    if (node.name !== undefined)
      node.name = hide(node.name);
    if (node.text !== undefined)
      node.text = node.role === 'textbox' && values.has(node.text) ? mark : hide(node.text);
    node.children &&= node.children.map(visit);
    return node;
  };
  return tree.map(visit);
}

/** Returns a text as snapshots have it. */
function plain(text: string): string {
  return text.replace(/[\u200b\u00ad]/g, '').trim().replace(/\s+/g, ' ');
}
