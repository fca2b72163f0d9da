// The runner of test files.

export { builtinFixtures } from '../runner/builtin.ts';
export { defineConfig } from '../runner/config.ts';
export { runTests } from '../runner/run.ts';
export { state } from '../runner/state.ts';
export { makeTest, mergeTests } from '../runner/testtype.ts';
