package scripting_test

import (
	"testing"
)

// TestExpectPoll checks expectations that are retried until they are met.
func TestExpectPoll(t *testing.T) {
	got := lines(t, `
		let n = 0;
		await run('holds', async () => { await expect.poll(() => ++n, { intervals: [1] }).toBe(3); return n; });
		await run('says more', () => expect.poll(() => 1, { message: 'mine', timeout: 50 }).toBe(2));
		await run('not', () => expect.poll(() => 1, { timeout: 50 }).not.toBe(1));
		await run('throws', () => expect.poll(() => { throw new Error('boom') }, { timeout: 5000 }).toBe(1));
		await run('hangs', () => expect.poll(() => new Promise(() => {}), { timeout: 50 }).toBe(1));
		await run('resolves', () => expect.poll(() => 1).resolves.toBe(1));
		await run('page matcher', () => expect.poll(() => 1).toBeVisible());
		await run('unknown', () => expect.poll(() => 1).toFoo());
		await run('no function', () => expect.poll(5).toBe(5));
		await run('configured', () => expect.configure({ timeout: 40 }).poll(() => 1).toBe(2));
		await run('schedule', async () => { const t = []; const s = performance.now(); await expect.poll(() => { t.push(performance.now() - s); return t.length }).toBe(4); return t.map((x, i) => x >= [0, 99, 349, 849][i]); });
		await run('passes', () => expect(() => {}).toPass());
		await run('comes to pass', async () => { let m = 0; await expect(async () => { if (++m < 3) throw new Error('early') }).toPass({ intervals: [1] }); return m; });
		await run('never passes', () => expect(() => { throw new Error('boom') }, 'mine').toPass({ timeout: 50 }));
		await run('passes not', () => expect(() => { throw new Error('boom') }).not.toPass({ timeout: 50 }));
		await run('should not pass', () => expect(() => {}).not.toPass({ timeout: 50 }));
		await run('passes never', () => expect(() => new Promise(() => {})).toPass({ timeout: 50 }));
		await run('expectation inside', () => expect(async () => { await expect(page.locator('x')).toBeVisible({ timeout: 500 }) }).toPass({ timeout: 9000, intervals: [10000] }));`)
	const overdue = "Timeout 50ms exceeded while waiting on the predicate"
	want := `holds: 3
says more: Error: mine

mine

expect(received).toBe(expected) // Object.is equality

Expected: 2
Received: 1

Call Log:
- ` + overdue + `
not: Error: expect(received).not.toBe(expected) // Object.is equality

Expected: not 1

Call Log:
- ` + overdue + `
throws: Error: boom
hangs: Error: ` + overdue + `
resolves: Error: ` + "`expect.poll()`" + ` does not support "resolves" matcher.
page matcher: Error: ` + "`expect.poll()`" + ` does not support "toBeVisible" matcher.
unknown: TypeError: expect.poll(...).toFoo is not a function
no function: Error: ` + "`expect.poll()`" + ` accepts only function as a first argument
configured: Error: expect(received).toBe(expected) // Object.is equality

Expected: 2
Received: 1

Call Log:
- Timeout 40ms exceeded while waiting on the predicate
schedule: [true,true,true,true]
passes: "passes"
comes to pass: 3
never passes: Error: mine

boom

Call Log:
- ` + overdue + `
passes not: "passes"
should not pass: Error: ` + overdue + `
passes never: Error: ` + overdue + `
expectation inside: Error: expect(locator).toBeVisible() failed

Locator: locator('x')
Expected: visible
Timeout: 500ms
Error: element(s) not found

Call log:
  - Expect "toBeVisible" locator('x') with timeout 500ms
  - waiting for locator('x')


Call Log:
- Timeout 9000ms exceeded while waiting on the predicate`
	if got != want {
		t.Errorf("got\n%s\n\nwant\n%s", got, want)
	}
}

// TestExpectSignal checks that an expectation ends when its signal is aborted.
func TestExpectSignal(t *testing.T) {
	got := lines(t, `
		await page.setContent('<p>x</p>');
		const c = new AbortController(); setTimeout(() => c.abort(new Error('why')), 50);
		const asked = expect(page.locator('p')).toHaveText('y', { signal: c.signal, timeout: 60000 });
		await run('waiting', () => asked);
		await run('before', () => expect(page.locator('p')).toHaveText('y', { signal: c.signal }));
		await run('unused', () => expect(page.locator('p')).toHaveText('x', { signal: new AbortController().signal }));`)
	want := `waiting: Error: expect(locator).toHaveText(expected) failed

Locator:  locator('p')
Expected: "y"
Received: "x"

Call log:
  - Expect "toHaveText" locator('p') with timeout 60000ms
  - waiting for locator('p')
  - operation was aborted: why

before: Error: expect(locator).toHaveText(expected) failed

Locator: locator('p')
Expected: "y"
Error: The assertion was aborted: why

unused: "passes"`
	if got != want {
		t.Errorf("got\n%s\n\nwant\n%s", got, want)
	}
}

// TestExpectInTestTimeout checks the error of an expectation that is still
// waiting when its test's time is up.
func TestExpectInTestTimeout(t *testing.T) {
	l := &logs{}
	runWith(t, `import { test, expect } from '@playwright/test';
		let page;
		test.beforeAll(async ({ browser }) => { page = await browser.newPage(); await page.setContent('<p>x</p>'); });
		test('element', async () => { test.setTimeout(400); await expect(page.locator('p')).toHaveText('y'); });
		test('value', async () => { test.setTimeout(400); await expect.poll(() => 1).toBe(2); });`, l)
	want := []string{
		"Test timeout of 400ms exceeded.\n\nexpect(locator).toHaveText(expected) failed\n\nLocator:  locator('p')\nExpected: \"y\"\nReceived: \"x\"\n\n" +
			"Call log:\n  - Expect \"toHaveText\" locator('p') with timeout 5000ms\n  - waiting for locator('p')\n  - Test timeout of 400ms exceeded.",
		"Test timeout of 400ms exceeded.\n\nexpect(received).toBe(expected) // Object.is equality\n\nExpected: 2\nReceived: 1\n\nCall Log:\n- Test timeout of 400ms exceeded",
	}
	if len(l.tests) != len(want) {
		t.Fatalf("tests: %+v", l.tests)
	}
	for i, test := range l.tests {
		if test.Err == nil || told(test.Err.Message) != want[i] {
			t.Errorf("%s: %v\nwant\n%s", test.Title, test.Err, want[i])
		}
	}
}

// TestExpectEnds checks that an error that ends an expectation has the position
// of that expectation.
func TestExpectEnds(t *testing.T) {
	got := lines(t, `
		const other = await context.newPage();
		setTimeout(() => other.close(), 100);
		await run('page closed', () => expect(other.locator('p')).toBeVisible());
		await page.setContent('<iframe></iframe><iframe></iframe><div></div>');
		await run('two frames', () => expect(page.frameLocator('iframe').locator('p')).toBeVisible());
		await run('no frame', () => expect(page.frameLocator('div').locator('p')).toBeVisible());
		await run('over at once', () => expect(page.locator('p')).toBeVisible({ timeout: -1 }));`)
	want := `page closed: Error: expect(locator).toBeVisible() failed

Locator: locator('p')
Expected: visible
Error: Target page, context or browser has been closed

Call log:
  - Expect "toBeVisible" locator('p') with timeout 5000ms
  - waiting for locator('p')
  - Target page, context or browser has been closed

two frames: Error: expect(locator).toBeVisible() failed

Locator: locator('iframe').contentFrame().locator('p')
Expected: visible
Error: strict mode violation: locator('iframe') resolved to 2 elements:
    1) <iframe></iframe> aka locator('iframe').first()
    2) <iframe></iframe> aka locator('iframe').nth(1)

Call log:
  - Expect "toBeVisible" locator('iframe').contentFrame().locator('p') with timeout 5000ms
  - waiting for locator('iframe').contentFrame().locator('p')

no frame: Error: expect(locator).toBeVisible() failed

Locator: locator('div').contentFrame().locator('p')
Expected: visible
Error: Selector "div" resolved to <div></div>, <iframe> was expected

Call log:
  - Expect "toBeVisible" locator('div').contentFrame().locator('p') with timeout 5000ms
  - waiting for locator('div').contentFrame().locator('p')

over at once: Error: expect(locator).toBeVisible() failed

Locator: locator('p')
Expected: visible
Timeout: -1ms
Error: element(s) not found

Call log:
  - Expect "toBeVisible" locator('p') with timeout -1ms
  - waiting for locator('p')`
	if got != want {
		t.Errorf("got\n%s\n\nwant\n%s", got, want)
	}
}
