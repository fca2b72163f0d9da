import type { Location } from './location.ts';
import type { FixtureList } from './pool.ts';

/** A mark on a test: skip, fixme, fail, slow, or the annotations in its details. */
export interface Annotation { type: string; description?: string; location?: Location }

/** A function of the script with the fixtures that it needs. */
export type Body = (fixtures: any, info: any) => unknown;

/** A beforeAll, afterAll, beforeEach or afterEach. */
export interface Hook { type: 'beforeAll' | 'afterAll' | 'beforeEach' | 'afterEach'; title: string; body: Body; location: Location | undefined }

/** A skip, fixme, fail or slow of a group, with a function as its condition. */
export interface Modifier { type: string; body: Body; description: string | undefined; location: Location | undefined }

/** How the tests of a group run. */
export type Mode = 'default' | 'parallel' | 'serial';

/** The file, or a describe in it. */
export class Suite {
  readonly entries: (Suite | Test)[] = [];
  readonly hooks: Hook[] = [];
  readonly modifiers: Modifier[] = [];
  readonly uses: FixtureList[] = [];
  readonly annotations: Annotation[] = [];
  readonly tags: string[] = [];
  only = false;
  timeout: number | undefined;
  retries: number | undefined;
  mode: Mode | undefined;

  constructor(readonly title: string, readonly parent: Suite | undefined, readonly location: Location | undefined) {}

  /** Returns all tests below, in the order of the file. */
  tests(): Test[] { return this.entries.flatMap(e => (e instanceof Suite ? e.tests() : [e])); }

  /** Returns the groups around this one and this group itself, the file first. */
  lineage(): Suite[] { return [...this.parent?.lineage() ?? [], this]; }

  /** Returns whether this group is inside the given group, or is that group. */
  within(suite: Suite): boolean { return this === suite || (this.parent?.within(suite) ?? false); }
}

/** A declared test. */
export class Test {
  only = false;

  constructor(
    readonly title: string,
    readonly parent: Suite,
    readonly location: Location | undefined,
    readonly body: Body,
    readonly lists: readonly FixtureList[],
    readonly annotations: Annotation[],
    readonly tags: string[],
  ) {}

  /** Returns the titles of the enclosing groups and of the test. Groups without a title are omitted. */
  titles(): string[] { return [...this.parent.lineage().slice(1).map(s => s.title), this.title].filter((t, i, all) => t || i === all.length - 1); }

  /** Returns the setting of the innermost group that has one. */
  setting<K extends 'timeout' | 'retries'>(key: K): Suite[K] {
    return this.parent.lineage().reverse().find(s => s[key] !== undefined)?.[key];
  }

  /** Returns the outermost serial group that contains this test. */
  serial(): Suite | undefined { return this.parent.lineage().find(s => s.mode === 'serial'); }
}
