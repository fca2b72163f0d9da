package scripting

import (
	"fmt"
	"strings"
	"testing"
)

// told collects the log lines and the test results of a test file, each in order.
func (w *world) told() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for i, l := range w.logs {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(l.Text)
	}
	for _, t := range w.tests {
		fmt.Fprintf(&b, "\n%s %s", t.Status, t.Title)
		if t.Err != nil {
			fmt.Fprintf(&b, ": %s @%d", t.Err.Message, t.Err.Line)
		}
	}
	return strings.TrimSpace(b.String())
}

const testHead = "import { test as base, expect } from '@playwright/test'; const test = base; const log = (s: unknown) => console.log(s);\n"

func TestRunner(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct{ name, code, want string }{
		{"order of hooks", `
test.describe('outer', () => {
  test.beforeAll(() => log('BA')); test.afterAll(() => log('AA'));
  test.beforeEach(() => log('BE')); test.afterEach(() => log('AE'));
  test.describe('in', () => {
    test.beforeAll(() => log('ba')); test.afterAll(() => log('aa'));
    test.beforeEach('one', () => log('be1')); test.beforeEach(() => log('be2')); test.afterEach(() => log('ae1')); test.afterEach(() => log('ae2'));
    test('t1', () => log('t1'));
    test('t2', () => log('t2'));
  });
  test('t3', () => log('t3'));
});
test.describe(() => { test('anonymous', () => {}); });`,
			`BA ba BE be1 be2 t1 ae1 ae2 AE BE be1 be2 t2 ae1 ae2 AE aa BE t3 AE AA
passed outer › in › t1
passed outer › in › t2
passed outer › t3
passed anonymous`},
		{"beforeAll fails", `
test.describe('a', () => {
  test.beforeAll(() => { log('ba1'); throw new Error('no'); });
  test.beforeAll(() => log('ba2'));
  test.beforeEach(() => log('be')); test.afterEach(() => log('ae')); test.afterAll(() => log('aa'));
  test('one', () => log('one'));
  test.describe('in', () => { test.beforeAll(() => log('in ba')); test('two', () => log('two')); });
});
test('three', () => log('three'));`,
			`ba1 ba2 aa three
failed a › one: no @4
skipped a › in › two
passed three`},
		{"beforeEach and afterEach fail", `
test.describe('a', () => {
  test.beforeEach(() => { log('be1'); throw new Error('no'); });
  test.afterEach(() => { log('ae1'); throw new Error('neither'); });
  test.describe('in', () => {
    test.beforeEach(() => log('be2')); test.afterEach(() => log('ae2'));
    test('one', () => log('one'));
  });
});`,
			`be1 be2 ae2 ae1
failed a › in › one: no

neither @4`},
		{"afterAll fails", `
test.describe('a', () => {
  test.afterAll(() => { log('aa1'); throw new Error('late'); });
  test.afterAll(() => log('aa2'));
  test('one', () => {});
  test('two', () => {});
});`,
			`aa1 aa2
passed a › one
failed a › two: late @4`},
		{"a failure begins a new worker", `
const t = test.extend<{}, { w: string }>({ w: [async ({}, use, info) => { log('up' + info.workerIndex); await use('w'); log('down'); }, { scope: 'worker' }] });
t.beforeAll(({ w }) => log('ba'));
t.afterAll(() => log('aa'));
t('one', ({ w }, info) => { log('one' + info.workerIndex); throw new Error('no'); });
t('two', ({ w }, info) => { log('two' + info.workerIndex); });
t('three', ({ w }, info) => { log('three' + info.workerIndex); });`,
			`up0 ba one0 aa down up1 ba two1 three1 aa down
failed one: no @6
passed two
passed three`},
		{"fixtures of a worker of their own", `
const t = test.extend<{}, { w: string }>({ w: [async ({}, use) => { log('up'); await use('w'); log('down'); }, { scope: 'worker' }] });
test('one', () => log('one'));
t('two', ({ w }) => log('two'));
test('three', () => log('three'));
t('four', ({ w }) => log('four'));`,
			`one three up two four down
passed one
passed three
passed two
passed four`},
		{"order of fixtures", `
const t = test.extend<any, any>({
  opt: ['def', { option: true }],
  a: async ({}, use, info) => { log('a+'); await use('A'); log('a-' + info.status); },
  b: async ({ a, opt }, use) => { log('b+'); await use(a + opt); log('b-'); },
  auto: [async ({}, use) => { log('auto+'); await use(1); log('auto-'); }, { auto: true }],
  wauto: [async ({ browserName }, use) => { log('w+' + browserName); await use(1); log('w-'); }, { scope: 'worker', auto: true }],
  plain: 7,
});
t.beforeAll(() => log('BA'));
t.beforeEach(({ a }) => log('BE' + a));
t.afterEach(({ b }) => log('AE' + b));
t('one', ({ b, plain }) => log(b + plain));
t.describe(() => {
  t.use({ opt: 'used' });
  t('two', ({ b }) => log(b));
  t.describe(() => {
    t.use({ opt: async ({ a, opt }, use) => { await use('f' + a + opt); } });
    t('three', ({ b: renamed }) => log(renamed));
    t.describe(() => { t.use({ opt: undefined }); t('four', ({ opt }) => log(opt)); });
  });
});
t.extend({ a: async ({ a }, use) => { log('over+'); await use('[' + a + ']'); log('over-'); } })('five', ({ a }) => log(a));`,
			`w+chromium BA auto+ a+ BEA b+ Adef7 AEAdef b- a-passed auto- auto+ a+ BEA b+ Aused AEAused b- a-passed auto- auto+ a+ BEA b+ AfAused AEAfAused b- a-passed auto- auto+ a+ BEA def b+ AEAdef b- a-passed auto- auto+ a+ over+ BE[A] [A] b+ AE[A]def b- over- a-passed auto- w-
passed one
passed two
passed three
passed four
passed five`},
		{"fixtures fail", `
const t = test.extend<any>({
  bad: async ({}, use) => { throw new Error('setup'); },
  late: async ({}, use) => { await use(1); throw new Error('teardown'); },
  unused: async ({}, use) => {},
  twice: async ({}, use) => { await use(1); await use(2); },
  over: async ({ bad }, use) => { log('never'); await use(1); },
  slow: [async ({}, use) => { await new Promise(() => {}); }, { timeout: 30, title: 'slow one' }],
  slowLate: [async ({}, use) => { await use(1); await new Promise(() => {}); }, { timeout: 30 }],
});
t.afterEach(() => log('ae'));
t('setup', ({ over }) => log('never'));
t('teardown', ({ late }) => log('body'));
t('unused', ({ unused }) => log('never'));
t('twice', ({ twice }) => {});
t('slow', ({ slow }) => log('never'));
t('slow late', ({ slowLate }) => log('body'));`,
			`ae body ae ae ae ae body ae
failed setup: setup @4
failed teardown: teardown @5
failed unused: use() was not called in fixture "unused" @15
failed twice: Cannot provide fixture value for the second time @7
failed slow: Fixture "slow one" timeout of 30ms exceeded during setup. @3
failed slow late: Fixture "slowLate" timeout of 30ms exceeded during teardown. @3`},
		{"skip, fixme, fail and slow", `
test.skip('declared', () => log('never'));
test.fixme('with details', { tag: '@x' }, () => log('never'));
test('in the body', () => { test.skip(true, 'why'); log('never'); });
test('not in the body', () => { test.skip(false, 'why'); test.fixme(false); test.fail(false); test.slow(false); log('runs'); });
test('described', ({}, info) => { try { test.skip('why') } finally { log(info.annotations[0].description); } });
test('by its info', ({}, info) => { info.fixme(); log('never'); });
test.fail('known', () => { throw new Error('known'); });
test.fail('known no more', () => {});
test('known in the body', () => { test.fail(true, 'bug'); throw new Error('known'); });
test('slow', ({}, info) => { test.slow(); test.slow(); log(info.timeout); info.setTimeout(77); log(info.timeout); });
test.describe('group', () => {
  test.skip(({ browserName }) => browserName === 'chromium', 'by a function');
  test.beforeAll(() => log('never'));
  test('a', () => log('never'));
});
test.describe('of the test', () => {
  test.skip(({ isMobile }) => !isMobile);
  test.beforeEach(() => log('never')); test.afterEach(() => log('ae'));
  test('a', () => log('never'));
});
test.describe('static', () => { test.slow(); test('a', ({}, info) => log(info.timeout)); });
test.describe('other', () => { test.skip('whole group'); test('a', () => log('never')); });
test.describe.skip('s', () => test('a', () => log('never')));
test.describe.fixme('f', () => test('a', () => log('never')));
test.describe('in beforeAll', () => {
  test.beforeAll(() => test.skip(true)); test.beforeEach(() => log('never')); test.afterAll(() => log('aa'));
  test('a', () => log('never'));
  test('b', () => log('never'));
});
test.describe('throws', () => { test.fail(() => { throw new Error('modifier'); }); test('a', () => log('never')); });`,
			`runs why 90000 77 ae 90000 aa
skipped declared
skipped with details
skipped in the body
passed not in the body
skipped described
skipped by its info
passed known
failed known no more: Expected to fail, but passed. @10
passed known in the body
passed slow
skipped group › a
skipped of the test › a
passed static › a
skipped other › a
skipped s › a
skipped f › a
skipped in beforeAll › a
skipped in beforeAll › b
failed throws › a: modifier @32`},
		{"only", `
test('not', () => log('never'));
test.describe.only('o', () => { test('a', () => log('a')); test.describe('in', () => test('b', () => log('b'))); });
test.describe('p', () => { test.only('c', () => log('c')); test('d', () => log('never')); });
test.describe.only('q', () => { test.only('e', () => log('e')); test('f', () => log('never')); });
test.fail.only('g', () => { throw new Error('known'); });`,
			`a b c e
passed o › a
passed o › in › b
passed p › c
passed q › e
passed g`},
		{"serial and retries", `
test.describe.serial('s', () => {
  test('one', () => log('one'));
  test('two', () => { throw new Error('no'); });
  test('three', () => log('never'));
});
test.describe('retried', () => {
  test.describe.configure({ retries: 2 });
  test('flaky', ({}, info) => { log('f' + info.retry); if (info.retry < 1) throw new Error('flaky'); });
  test('bad', ({}, info) => { log('b' + info.retry); throw new Error('attempt ' + info.retry); });
});
test.describe('both', () => {
  test.describe.configure({ retries: 1, mode: 'serial' });
  test('one', ({}, info) => log('s1.' + info.retry));
  test('two', ({}, info) => { log('s2.' + info.retry); if (!info.retry) throw new Error('flaky'); });
  test('three', ({}, info) => log('s3.' + info.retry));
});`,
			`one f0 f1 b0 b1 b2 s1.0 s2.0 s1.1 s2.1 s3.1
passed s › one
failed s › two: no @5
skipped s › three
passed retried › flaky
failed retried › bad: attempt 2 @11
passed both › one
passed both › two
passed both › three`},
		{"timeouts", `
test.setTimeout(40);
const never = () => new Promise(() => {});
test('body', never);
test('in no time', () => {});
test.describe('hooks', () => {
  test.beforeEach('my', never);
  test('in beforeEach', () => log('never'));
});
test.describe('all', () => {
  test.beforeAll(async () => { test.setTimeout(30); await never(); });
  test('in beforeAll', () => log('never'));
});
test.describe('after all', () => {
  test.afterAll(async () => { test.setTimeout(30); await never(); });
  test('in afterAll', () => log('runs'));
});
const t = test.extend({ f: async ({}, use) => { await never(); } });
t('fixture', ({ f }) => log('never'));
test('longer', async () => { test.setTimeout(5000); await new Promise(f => setTimeout(f, 60)); log('longer'); });
test('none', async () => { test.setTimeout(0); await new Promise(f => setTimeout(f, 60)); log('none'); });`,
			`runs longer none
failed body: Test timeout of 40ms exceeded. @5
passed in no time
failed hooks › in beforeEach: Test timeout of 40ms exceeded while running "beforeEach" hook. @8
failed all › in beforeAll: "beforeAll" hook timeout of 30ms exceeded. @12
failed after all › in afterAll: "afterAll" hook timeout of 30ms exceeded. @16
failed fixture: Test timeout of 40ms exceeded while setting up "f". @20
passed longer
passed none`},
		{"errors that nobody awaits", `
test('at once', () => { Promise.reject(new Error('at once')); });
test('rejection', async () => { Promise.reject(new Error('lost')); await new Promise(f => setTimeout(f, 5)); log('on'); });
test('exception', async () => { setTimeout(() => { throw new Error('thrown'); }, 1); await new Promise(f => setTimeout(f, 20)); log('on'); });
test('no error', () => { throw 'text'; });
test('object', () => { throw { a: 1 }; });
test('abort', async ({}, info) => { setTimeout(() => { try { test.abort('misuse'); } catch {} }, 5); await new Promise(() => {}); });
test('next', () => log('next'));`,
			`on on next
failed at once: at once @3
failed rejection: lost @4
failed exception: thrown @5
failed no error: 'text' @6
failed object: { a: 1 } @7
failed abort: Test aborted: misuse @8
passed next`},
		{"steps", `
test('steps', async ({}, info) => {
  log(await test.step('gives', () => 42));
  await test.step.skip('skipped', () => log('never'));
  await test.step('outer', async s => { await test.step('inner', async s => log(s.titlePath.slice(1).join('/'))); });
  await test.step('leaves', async s => { s.skip(true, 'because'); log('never'); });
  await test.step('slow', async () => { await new Promise(() => {}); }, { timeout: 20 }).catch(e => log(e.name + ': ' + e.message));
  await test.step('attaches', async s => { await s.attach('a', { body: 'x' }); log(info.attachments.length); });
});
test('boxed', async () => {
  const login = () => test.step('login', async () => {
    throw new Error('inside');
  }, { box: true });
  await login();
});`,
			`42 steps/outer/inner TimeoutError: Step timeout of 20ms exceeded. 1
passed steps
failed boxed: inside @12`},
		{"info", `
test.describe('group @a', { tag: '@b', annotation: { type: 'issue', description: 'url' } }, () => {
  test('title @c', { tag: ['@d', '@e'] }, async ({}, info) => {
    log([info.tags.join(), info.title, info.titlePath.join('/'), info.line, info.annotations.map(a => a.type + a.description), info.retry, info.workerIndex, info.parallelIndex, info.repeatEachIndex, info.expectedStatus, info.status, info.timeout, info.project.name, info.config.workers, info === test.info()].join(' '));
    log([info.outputPath('a', 'b.png'), info.snapshotPath('x.png'), info.errors.length, info.error, typeof info.fn, info.testId.length > 8].join(' '));
    await info.attach('note', { body: 'text' });
    log(info.attachments[0].name + info.attachments[0].contentType + info.attachments[0].body);
    try { info.outputPath('../..'); } catch (e) { log(e.message.split('.')[0]); }
    await info.attach('x', { path: '/etc/passwd' }).catch(e => log(e.message.split(':')[0]));
  });
});`,
			`@a,@b,@c,@d,@e title @c script.ts/group @a/title @c 4 issueurl 0 0 0 0 passed passed 30000 chromium 1 true /test-results/script-group-a-title-c/a/b.png script.ts-snapshots/x-linux.png 0  function true notetext/plaintext The outputPath is not allowed outside of the parent directory testInfo.attach with a path is not available in Takeover
passed group @a › title @c`},
		{"merged", `
import { mergeTests, mergeExpects, defineConfig, devices } from '@playwright/test';
export default defineConfig({ use: { ...devices['Desktop Chrome'] } });
const a = test.extend({ a: async ({}, use) => { await use('a'); } });
const b = test.extend({ b: async ({}, use) => { await use('b'); } });
const both = mergeTests(a, b);
both('both', ({ a, b }) => log(a + b + typeof both.expect + devices['iPhone 13'].isMobile));
mergeExpects(expect, expect)(1).toBe(1);`,
			`abfunctiontrue
passed both`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			res := run(t, p, w, testHead+c.code)
			if got := w.told(); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			failed := strings.Contains(c.want, "\nfailed")
			if failed != (res.Status == StatusFailed) || failed != (res.Err != nil) {
				t.Errorf("status %s, error %v", res.Status, res.Err)
			}
		})
	}
}
