// Checked by tsc, never bundled: the runner's objects that tests see have exactly the members of Playwright's published types.

import type * as pw from 'playwright/types/test';
import type { TestInfo } from './info.ts';
import type { TestStepInfo } from './steps.ts';
import type { makeTest } from './testtype.ts';

type None<T extends never> = T;
type Missing<Ours, Theirs> = Exclude<keyof Theirs, keyof Ours>;
type Invented<Ours, Theirs> = Exclude<keyof Ours, keyof Theirs | `_${string}`>;

type Test = ReturnType<typeof makeTest>;
type Describe = Test['describe'];
type PwTest = typeof pw.test;

/** One line per class. */
export type Checks = [
  None<Missing<TestInfo, pw.TestInfo>>, None<Invented<TestInfo, pw.TestInfo>>,
  None<Missing<TestStepInfo, pw.TestStepInfo>>, None<Invented<TestStepInfo, pw.TestStepInfo>>,
  None<Missing<Test, PwTest>>, None<Invented<Test, PwTest>>,
  None<Missing<Describe, PwTest['describe']>>, None<Invented<Describe, PwTest['describe']>>,
  None<Missing<Describe['serial'], PwTest['describe']['serial']>>, None<Missing<Describe['parallel'], PwTest['describe']['parallel']>>,
  None<Missing<Test['fail'], PwTest['fail']>>, None<Missing<Test['step'], PwTest['step']>>,
];
