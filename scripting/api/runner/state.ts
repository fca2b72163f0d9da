import { onTakeover } from '../objects/takeover.ts';
import { Deadlines } from './deadline.ts';
import type { TestInfo } from './info.ts';
import type { Open } from './steps.ts';
import { Suite, type Test } from './suite.ts';

/** What goes on in this run: its script declares tests first, then they run. */
export const state = {
  /** The file. */
  root: new Suite('', undefined, undefined),
  /** The group whose callback runs; undefined once all is declared. */
  loading: undefined as Suite | undefined,
  /** The tests by the titles that lead to them. */
  titles: new Map<string, Test>(),
  /** Whether the script declared anything of a test file. */
  used: false,
  /** The attempt under way. */
  info: undefined as TestInfo | undefined,
  /** test.step calls under way, the outermost first. */
  steps: [] as Open[],
  /** The hook for all tests of a group that runs. */
  hookOfAll: undefined as string | undefined,
  deadlines: new Deadlines(),
};
state.loading = state.root;
state.deadlines.late = error => state.info?._failed(error);
onTakeover(() => {
  state.deadlines.pause();
  return () => state.deadlines.resume();
});
