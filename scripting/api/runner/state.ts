import { onTakeover } from '../objects/takeover.ts';
import { Deadlines } from './deadline.ts';
import type { TestInfo } from './info.ts';
import type { Open } from './steps.ts';
import { Suite, type Test } from './suite.ts';

/** The state of this run. The script first declares tests, and then they run. */
export const state = {
  /** The whole file. */
  root: new Suite('', undefined, undefined),
  /** The group whose callback is running; undefined after all declarations. */
  loading: undefined as Suite | undefined,
  /** The tests by their titles. */
  titles: new Map<string, Test>(),
  /** Whether the script has declared a part of a test file. */
  used: false,
  /** The current attempt. */
  info: undefined as TestInfo | undefined,
  /** Running test.step calls, the outermost first. */
  steps: [] as Open[],
  /** The running hook for all tests of a group. */
  hookOfAll: undefined as string | undefined,
  deadlines: new Deadlines(),
};
state.loading = state.root;
state.deadlines.late = error => state.info?._failed(error);
onTakeover(() => {
  state.deadlines.pause();
  return () => state.deadlines.resume();
});
