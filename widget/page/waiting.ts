import { isSecret } from '../../capture/page/secret.ts';
import { kindOf } from './fields.ts';
import { placeOf } from './caret.ts';

const FIELDS = 'input, textarea, [contenteditable]';
/** The maximum number of fields that are looked at, because a page may have thousands. */
const MAX_FIELDS = 100;

/**
 * Returns the field that a person probably came for, or null: a secret one in sight, else the first one; of its form, the first one in sight. Fields for
 * searching do not count.
 */
export function waiting(): object | null {
  const fields = [...document.querySelectorAll(FIELDS)].slice(0, MAX_FIELDS).filter((field) => kindOf(field) && !isSearch(field) && inSight(field));
  const wanted = fields.find((field) => isSecret(field)) ?? fields[0];
  if (!wanted) return null;
  const form = wanted.closest('form, dialog, [role=dialog]');
  const field = (form && fields.find((other) => form.contains(other))) ?? wanted;
  return { kind: kindOf(field), ...placeOf(field) };
}

function isSearch(field: Element): boolean {
  return kindOf(field) === 'search' || field.closest('search, [role=search], [type=search]') !== null;
}

/** Returns whether the middle of a field can be seen and pressed. */
function inSight(field: Element): boolean {
  const { x, y, width, height } = field.getBoundingClientRect();
  if (width < 8 || height < 8) return false;
  const seen = document.elementFromPoint(x + width / 2, y + height / 2);
  return seen !== null && (field.contains(seen) || seen.contains(field) && seen.closest('label') !== null);
}
