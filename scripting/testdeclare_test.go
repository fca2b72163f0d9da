package scripting

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestStepsOfTests checks that steps of tests are steps of the run, and that
// setting up fixtures is not.
func TestStepsOfTests(t *testing.T) {
	w := newWorld().answer("browser.newContext", map[string]string{"context": "context@2"}).answer("frame.title", map[string]string{"value": "T"})
	run(t, newPool(t, Limits{}), w, testHead+`
test('one', async ({ context }) => {
  await test.step('outer', async () => { await test.step('inner', async () => { await page.title(); }); });
  await test.step('fails', () => { throw new Error('no'); }).catch(() => {});
  await test.step.skip('later', () => {});
});`)
	var got []string
	for _, s := range w.steps {
		got = append(got, fmt.Sprintf("%s@%d%s", s.Title, s.Line, s.Err))
	}
	if want := "page.title()@4 inner@4 outer@4 fails@5no later@6"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}

// TestRunnerRefuses checks that a file that cannot be run fails before its first
// test.
func TestRunnerRefuses(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct {
		code, want string
		line       int
	}{
		{`test('x', ({ nope }) => {});`, `Test has unknown parameter "nope".`, 2},
		{"\n" + `test.beforeEach(({ nope }) => {}); test('x', () => {});`, `beforeEach hook has unknown parameter "nope".`, 3},
		{`test('x', async (fixtures) => {});`, `First argument must use the object destructuring pattern: fixtures`, 2},
		{`test('x', async fixtures => {});`, `First argument must use the object destructuring pattern: fixtures`, 2},
		{`test('x', ({ ...rest }) => {});`, `Rest property "...rest" is not supported. List all used fixtures explicitly, separated by comma.`, 2},
		{`test.extend({ a: async (x, use) => {} })('x', ({ a }) => {});`, `First argument must use the object destructuring pattern: x`, 2},
		{`test.extend({ a: async ({ b }, use) => {}, b: async ({ a }, use) => {} })('x', () => {});`, `Fixtures "a" -> "b" -> "a" form a dependency cycle: script.ts:2:6 -> script.ts:2:6 -> script.ts:2:6`, 2},
		{`test.extend({ a: async ({ a }, use) => {} })('x', () => {});`, `Fixture "a" references itself, but does not have a base implementation.`, 2},
		{`test.extend({ w: [async ({ page }, use) => {}, { scope: 'worker' }] })('x', () => {});`, `worker fixture "w" cannot depend on a test fixture "page" defined in <builtin>.`, 2},
		{`test.extend({ a: [1, { scope: 'foo' }] })('x', () => {});`, `Fixture "a" has unknown { scope: 'foo' }.`, 2},
		{`test.describe(() => { test.use({ browserName: 'chromium' }); test('x', () => {}); });`, "Cannot use({ browserName }) in a describe group, because it forces a new worker.\nMake it top-level in the test file or put in the configuration file.", 2},
		{"test('x', () => {});\ntest('x', () => {});", `duplicate test title "x", first declared in script.ts:2`, 3},
		{`test('x');`, `details: expected object, got undefined`, 2},
		{`test('x', { tag: 'x' }, () => {});`, `Tag must start with '@'`, 2},
		{`test.describe.configure({ mode: 'serial' }); test.describe.configure({ mode: 'parallel' });`, `"serial" mode is already assigned for the enclosing scope.`, 2},
		{`test.info();`, `test.info() can only be called while test is running`, 2},
		{`test.step('x', () => {});`, `test.step() can only be called from a test`, 2},
		{`test.describe('empty', () => {});`, `No tests found.`, 0},
		{`test('x', () => {}); throw new Error('at the top');`, `at the top`, 2},
	} {
		w := newWorld()
		res := run(t, p, w, testHead+c.code)
		if res.Status != StatusFailed || res.Err == nil || res.Err.Message != c.want || res.Err.Line != c.line || len(w.tests) > 0 {
			t.Errorf("%s\n got %v, and %d tests\nwant %s (line %d)", c.code, res.Err, len(w.tests), c.want, c.line)
		}
	}
}

// TestLongFile checks that a file may take longer than a script may run without
// yielding.
func TestLongFile(t *testing.T) {
	w := newWorld()
	res := run(t, newPool(t, Limits{TurnTime: 3 * time.Second}), w, testHead+`
for (let i = 0; i < 4; i++)
  test('busy ' + i, () => { const end = Date.now() + 850; while (Date.now() < end); });`)
	if res.Status != StatusSucceeded || len(w.tests) != 4 {
		t.Errorf("%s: %v, %d tests", res.Status, res.Err, len(w.tests))
	}
}

// TestDeclaringTooLate checks that tests cannot be declared while tests run.
func TestDeclaringTooLate(t *testing.T) {
	w := newWorld()
	run(t, newPool(t, Limits{}), w, testHead+`
for (const [name, f] of Object.entries({
  'test()': () => test('y', () => {}), 'test.describe()': () => test.describe('y', () => {}), 'test.beforeEach()': () => test.beforeEach(() => {}), 'test.use()': () => test.use({}),
  'test.describe.configure()': () => test.describe.configure({ mode: 'serial' }),
}))
  test(name, f);
test('modifier', () => test.skip(() => true, 'x'));`)
	for _, test := range w.tests {
		want := "Playwright Test did not expect " + test.Title + " to be called here.\n"
		if test.Title == "modifier" {
			want = "test.skip() with a function can only be called inside describe block"
		}
		if test.Err == nil || !strings.HasPrefix(test.Err.Message, want) {
			t.Errorf("%s: %v", test.Title, test.Err)
		}
	}
	if len(w.tests) != 6 {
		t.Errorf("%d tests", len(w.tests))
	}
}
