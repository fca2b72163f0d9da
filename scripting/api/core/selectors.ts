// Converts locators to selectors in the form of Playwright's injected script.

import type * as pw from 'playwright-core';

type RoleOptions = NonNullable<Parameters<pw.Page['getByRole']>[1]>;

/** Text, or a pattern for it. */
export type Text = string | RegExp;

const testIdAttribute = { name: 'data-testid' };

/** Sets the attribute for getByTestId. Used by selectors.setTestIdAttribute. */
export function setTestIdAttribute(name: string): void { testIdAttribute.name = name; }

const { stringify } = JSON;

function isRegExp(value: unknown): value is RegExp {
  return Object.prototype.toString.call(value) === '[object RegExp]';
}

// Quotes and >> have a meaning in a selector, so they are escaped inside a pattern.
function escapeRegExp(re: RegExp): string {
  if (re.unicode || (re as RegExp & { unicodeSets?: boolean }).unicodeSets)
    return String(re); // \" and \> are errors with these flags
  return String(re).replace(/(^|[^\\])(\\\\)*(["'`])/g, '$1$2\\$3').replace(/>>/g, '\\>\\>');
}

/** Writes text in the form of internal:text and similar engines. The suffix s means that it must match exactly, i that it need not. */
function escapeText(text: Text, exact: boolean | undefined): string {
  return isRegExp(text) ? escapeRegExp(text) : `${stringify(text)}${exact ? 's' : 'i'}`;
}

/** Writes text as the value of an attribute in brackets. */
function escapeAttribute(value: Text, exact: boolean | undefined): string {
  if (isRegExp(value))
    return escapeRegExp(value);
  return `"${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"')}"${exact ? 's' : 'i'}`;
}

function byAttribute(name: string, value: Text, exact: boolean | undefined): string {
  return `internal:attr=[${name}=${escapeAttribute(value, exact)}]`;
}

/** Selectors of the getBy family. */
export const by = {
  text: (text: Text, exact?: boolean) => `internal:text=${escapeText(text, exact)}`,
  label: (text: Text, exact?: boolean) => `internal:label=${escapeText(text, exact)}`,
  placeholder: (text: Text, exact?: boolean) => byAttribute('placeholder', text, exact),
  altText: (text: Text, exact?: boolean) => byAttribute('alt', text, exact),
  title: (text: Text, exact?: boolean) => byAttribute('title', text, exact),
  testId: (id: Text) => `internal:testid=[${testIdAttribute.name}=${escapeAttribute(id, true)}]`,
  role(role: string, options: RoleOptions = {}): string {
    const o = options as RoleOptions & { description?: Text };
    let s = `internal:role=${role}`;
    const flag = (name: string, value: boolean | number | undefined) => {
      if (value !== undefined)
        s += `[${name}=${value}]`;
    };
    flag('checked', o.checked);
    flag('disabled', o.disabled);
    flag('selected', o.selected);
    flag('expanded', o.expanded);
    flag('include-hidden', o.includeHidden);
    flag('level', o.level);
    if (o.name !== undefined)
      s += `[name=${escapeAttribute(o.name, o.exact)}]`;
    if (o.description !== undefined)
      s += `[description=${escapeAttribute(o.description, o.exact)}]`;
    flag('pressed', o.pressed);
    return s;
  },
};

/** The options of locator() and filter(). */
export interface FilterOptions {
  hasText?: Text;
  hasNotText?: Text;
  has?: { _selector: string; _frame: unknown; _text: string };
  hasNot?: { _selector: string; _frame: unknown; _text: string };
  visible?: boolean;
}

/** Returns the parts that filter options add to a selector in the given frame. */
export function filters(options: FilterOptions | undefined, frame: unknown): string {
  let s = '';
  if (options?.hasText)
    s += ` >> internal:has-text=${escapeText(options.hasText, false)}`;
  if (options?.hasNotText)
    s += ` >> internal:has-not-text=${escapeText(options.hasNotText, false)}`;
  if (options?.has)
    s += ` >> internal:has=${inner(options.has, frame, 'Inner "has" locator must belong to the same frame.')}`;
  if (options?.hasNot)
    s += ` >> internal:has-not=${inner(options.hasNot, frame, 'Inner "hasNot" locator must belong to the same frame.')}`;
  if (options?.visible !== undefined)
    s += ` >> visible=${options.visible ? 'true' : 'false'}`;
  return s;
}

/** Returns the selector of another locator, as part of a selector in the same frame. */
export function inner(other: { _selector: string; _frame: unknown }, frame: unknown, complaint: string): string {
  if (other._frame !== frame)
    throw new Error(complaint);
  return stringify(other._selector);
}

/** Writes text or a pattern as code. */
export function quote(text: unknown): string {
  if (typeof text !== 'string')
    return String(text);
  return `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'").replace(/\n/g, '\\n')}'`;
}
