// Prints values and their differences as Playwright's expect does; loaded when an expectation has failed.

import { format, plugins } from '@vitest/pretty-format';
import { diffLinesUnified, diffLinesUnified2, diffStringsUnified } from '@vitest/utils/diff';

/** The bundle's exports; print.ts uses them. */
export interface Printer {
  /** Prints a value on one line. */
  stringify(value: unknown, maxDepth?: number, maxWidth?: number): string;
  /** Compares two values line by line. Returns undefined when they look the same. */
  diffValues(expected: unknown, received: unknown, labels?: Labels): string | undefined;
  /** Compares two texts line by line. */
  diffTexts(expected: string, received: string, labels?: Labels): string;
}

/** The heading of a difference. With `counts`, it contains the numbers of new and missing lines. */
export interface Labels { expected?: string; received?: string; counts?: boolean }

/** If a value's text reaches this length, it is printed again with less depth, then with fewer members. */
const lengthLimit = 10_000;

const formatPlugins = [plugins.DOMCollection, plugins.Immutable, plugins.AsymmetricMatcher];
const plain = (text: string) => text;

/** Prints a value on one line, nested to at most maxDepth and with at most maxWidth members per level. */
export function stringify(value: unknown, maxDepth = 10, maxWidth = 10): string {
  let text: string;
  try {
    text = format(value, { maxDepth, maxWidth, min: true, plugins: formatPlugins });
  } catch {
    text = format(value, { callToJSON: false, maxDepth, maxWidth, min: true, plugins: formatPlugins });
  }
  if (text.length >= lengthLimit && maxDepth > 1)
    return stringify(value, Math.floor(maxDepth / 2), maxWidth);
  if (text.length >= lengthLimit && maxWidth > 1)
    return stringify(value, maxDepth, Math.floor(maxWidth / 2));
  return text;
}

function options({ expected = 'Expected', received = 'Received', counts }: Labels) {
  return {
    aAnnotation: expected, bAnnotation: received, includeChangeCounts: counts, expand: false, emptyFirstOrLastLinePlaceholder: '↵',
    aColor: plain, bColor: plain, changeColor: plain, commonColor: plain, patchColor: plain,
  };
}

/** Returns the lines in which two texts differ. */
export function diffTexts(expected: string, received: string, labels: Labels = {}): string {
  if (!labels.counts)
    return diffLinesUnified(expected.split('\n'), received.split('\n'), options(labels));
  return diffStringsUnified(expected, received, options(labels));
}

/** Returns the lines in which two printed values differ, or undefined if they print alike. */
export function diffValues(expected: unknown, received: unknown, labels: Labels = {}): string | undefined {
  const shown = (value: unknown, indent?: 0) => lines(sorted(value), indent);
  const [a, b] = [shown(expected, 0), shown(received, 0)];
  if (a.join('\n') === b.join('\n'))
    return undefined;
  return diffLinesUnified2(shown(expected), shown(received), a, b, options(labels));
}

function lines(value: unknown, indent?: 0): string[] {
  const common = { plugins: formatPlugins, ...indent === undefined ? {} : { indent } };
  try {
    return format(value, common).split('\n');
  } catch {
    return format(value, { ...common, callToJSON: false }).split('\n');
  }
}

// Sorts sets and maps, because the order of insertion does not matter here.
function sorted(value: unknown): unknown {
  if (value instanceof Map)
    return new Map([...value].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  return value instanceof Set ? new Set([...value].sort()) : value;
}
