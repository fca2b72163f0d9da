package scripting_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"takeover/scripting"
)

// expectation is one entry of a table in testdata/expect: code, and how the error
// reads that it throws, or "passes". A page's content may stand before it.
type expectation struct{ html, code, want string }

// expectations reads a table: "# " begins a page's content, "= " is code, and what
// follows is the error, whose name stands before it unless it is Error.
func expectations(t *testing.T, name string) []expectation {
	t.Helper()
	data, err := os.ReadFile("testdata/expect/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out []expectation
	var html string
	inCode := false
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, "# "):
			html = line[2:]
		case strings.HasPrefix(line, "= ") && inCode:
			out[len(out)-1].code += line[2:]
		case strings.HasPrefix(line, "= "):
			out = append(out, expectation{html: html, code: line[2:]})
			html = ""
		case len(out) > 0:
			out[len(out)-1].want += line
		}
		inCode = strings.HasPrefix(line, "= ")
	}
	return out
}

var (
	// How often it was tried depends on the machine.
	tries = regexp.MustCompile(`(?m)^ +(?:\d+ × |- )locator resolved to .*\n(?: +- unexpected value "(?s:.*?)"\n)?`)
	// Where it was thrown depends on what else the script has.
	places = regexp.MustCompile(`(?m)(?:^\s+at .*(?:\n|$))+`)
)

// told is an error's text without what is not the same each time.
func told(message string) string {
	message = tries.ReplaceAllString(message, "")
	return strings.TrimRight(places.ReplaceAllString(message, "      at …\n"), " \n")
}

// Errors of expectations read as Playwright's do.
func TestExpectationTexts(t *testing.T) {
	for _, name := range []string{"values.txt", "page.txt"} {
		t.Run(name, func(t *testing.T) {
			cases := expectations(t, name)
			var script strings.Builder
			script.WriteString("const out = [];\n")
			for _, c := range cases {
				if c.html != "" {
					fmt.Fprintf(&script, "await page.setContent(%q);\n", c.html)
				}
				fmt.Fprintf(&script, "try { await (async () => {\n%s\n})(); out.push('passes') } catch (e) { out.push((e.name === 'Error' ? '' : e.name + ': ') + e.message) }\n", c.code)
			}
			script.WriteString("return out")
			res := runIn(t, script.String())
			var got []string
			if err := json.Unmarshal(res.Value, &got); err != nil || len(got) != len(cases) {
				t.Fatalf("%s: %v (%v)", res.Status, res.Err, err)
			}
			for i, c := range cases {
				if got := told(got[i]); got != strings.TrimRight(c.want, " \n") {
					t.Errorf("%s\ngot\n%s\n\nwant\n%s", c.code, got, c.want)
				}
			}
		})
	}
}

// lines runs a script that returns a list of texts.
func lines(t *testing.T, code string) string {
	t.Helper()
	res := runIn(t, `const out = [];
		const run = async (name, f) => { try { const v = await f(); out.push(name + ': ' + JSON.stringify(v ?? 'passes')) } catch (e) { out.push(name + ': ' + e.name + ': ' + e.message) } };
		`+code+`
		return out.join('\n')`)
	var got string
	if err := json.Unmarshal(res.Value, &got); err != nil {
		t.Fatalf("%s: %v (%v)", res.Status, res.Err, err)
	}
	return told(got)
}

// What is tried again until it holds.
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

// Matchers that a script brings along.
func TestExpectExtend(t *testing.T) {
	got := lines(t, `
		const { mergeExpects } = require('@playwright/test');
		const odd = expect.extend({
			toBeOdd(n) { return { pass: n % 2 === 1, message: () => 'odd ' + this.utils.printReceived(n) + ' ' + [this.isNot, this.promise, this.timeout] }; },
			async toBeFoo(received, ...args) { return { name: 'toBeFoo', pass: received === 'foo', expected: 'foo', actual: received, message: () => this.utils.matcherHint('toBeFoo', undefined, undefined, { isNot: this.isNot, promise: this.promise }) + JSON.stringify(args) }; },
			wrong() { return 5; },
			silent() { return { pass: false }; },
			throws() { throw new Error('inside'); },
			same(a, b) { return { pass: this.equals(a, b), message: () => this.utils.printDiffOrStringify(b, a, 'Wanted', 'Got') }; },
			differs(a, b) { return { pass: false, message: () => this.utils.diff(b, a) + '|' + this.utils.printWithType('Received', a, this.utils.printReceived) }; },
		});
		await run('odd', () => odd(3).toBeOdd());
		await run('not odd', () => odd(2).toBeOdd());
		await run('not', () => odd(3).not.toBeOdd());
		await run('says more', () => odd(2, 'mine').toBeOdd());
		await run('resolves', () => odd(Promise.resolve('bar')).resolves.toBeFoo(1, { x: 2 }));
		await run('everywhere', () => expect(2).toBeOdd());
		await run('at once', async () => typeof odd(3).toBeOdd());
		await run('wrong', () => odd(2).wrong());
		await run('silent', () => odd(2).silent());
		await run('throws', () => odd(2).throws());
		await run('same', () => odd({ a: 1 }).same({ a: 2 }));
		await run('differs', () => odd({ a: 1 }).differs({ a: 2 }));
		await run('inside a value', () => odd({ a: 2 }).toEqual({ a: odd.toBeOdd() }));
		await run('inside a value, not', () => odd({ a: 3 }).toEqual({ a: odd.not.toBeOdd() }));
		await run('polled', () => odd.poll(() => 2, { timeout: 30 }).toBeOdd());
		const other = expect.extend({ toBeOdd: () => ({ pass: false, message: () => 'other' }), toBeDefined: () => ({ pass: false, message: () => 'own' }) });
		await run('first', () => odd(2).toBeOdd());
		await run('second', () => other(2).toBeOdd());
		await run('last', () => expect(2).toBeOdd());
		await run('built in', () => expect(2).toBeDefined());
		await run('own', () => other(2).toBeDefined());
		await run('merged', () => mergeExpects(other, odd)(2).toBeOdd());
		await run('merged as well', () => mergeExpects(other, odd)(2).toBeDefined());
		await run('configured', () => odd.configure({ message: 'mine' })(2).toBeOdd());
		await run('result', async () => { try { await odd('x').toBeFoo(); } catch (e) { return e.matcherResult; } });
		await run('page result', async () => { try { await expect(page.locator('x')).toHaveText('y', { timeout: 300 }); } catch (e) { const { message, log, ariaSnapshot, ...rest } = e.matcherResult; return [rest, log[0], typeof ariaSnapshot, e.message === message, e.constructor.name, e.name]; } });`)
	want := `odd: "passes"
not odd: Error: odd 2 false,,5000
not: Error: odd 3 true,,5000
says more: Error: mine

odd 2 false,,5000
resolves: Error: expect(received).resolves.toBeFoo(expected)[1,{"x":2}]
everywhere: Error: odd 2 false,,5000
at once: "undefined"
wrong: Error: Unexpected return from a matcher function.
Matcher functions should return an object in the following format:
  {message?: string | function, pass: boolean}
'5' was returned
silent: Error: No message was specified for this matcher.
throws: Error: inside
same: Error: - Wanted  - 1
+ Got     + 1

  Object {
-   "a": 2,
+   "a": 1,
  }
differs: Error: - Expected
+ Received

  Object {
-   "a": 2,
+   "a": 1,
  }|Received has type:  object
Received has value: {"a": 1}
inside a value: Error: expect(received).toEqual(expected) // deep equality

- Expected  - 1
+ Received  + 1

  Object {
-   "a": toBeOdd<>,
+   "a": 2,
  }
inside a value, not: Error: expect(received).toEqual(expected) // deep equality

- Expected  - 1
+ Received  + 1

  Object {
-   "a": not.toBeOdd<>,
+   "a": 3,
  }
polled: Error: odd 2 false,,5000

Call Log:
- Timeout 30ms exceeded while waiting on the predicate
first: Error: odd 2 false,,5000
second: Error: other
last: Error: other
built in: "passes"
own: Error: own
merged: Error: odd 2 false,,5000
merged as well: Error: own
configured: Error: mine

odd 2 false,,5000
result: {"name":"toBeFoo","pass":false,"expected":"foo","actual":"x","message":"expect(received).toBeFoo(expected)[]"}
page result: [{"name":"toHaveText","pass":false,"expected":"y","timeout":300},"  - Expect \"toHaveText\" locator('x') with timeout 300ms","string",true,"ExpectError","Error"]`
	if got != want {
		t.Errorf("got\n%s\n\nwant\n%s", got, want)
	}
}

// A script goes on after a soft expectation, and fails at its end.
func TestExpectSoft(t *testing.T) {
	for _, tt := range []struct {
		name, code, want string
		line             int
	}{
		{"one", "await page.setContent('<p>x</p>');\nawait expect.soft(page.locator('p')).toHaveText('y', { timeout: 300 });\nconsole.log('on');\nreturn 5", `expect(locator).toHaveText(expected) failed

Locator:  locator('p')
Expected: "y"
Received: "x"
Timeout:  300ms

Call log:
  - Expect "soft toHaveText" locator('p') with timeout 300ms
  - waiting for locator('p')`, 2},
		{"several", "expect.soft(1, 'mine').toBe(2);\nawait expect.soft.poll(() => 1, { timeout: 30 }).toBe(3);\nawait expect.configure({ soft: true })(async () => { throw new Error('x') }).toPass({ timeout: 30 })\nconsole.log('on')", `3 errors:

1) mine

expect(received).toBe(expected) // Object.is equality

Expected: 2
Received: 1
      at …

2) expect(received).toBe(expected) // Object.is equality

Expected: 3
Received: 1

Call Log:
- Timeout 30ms exceeded while waiting on the predicate
      at …

3) x

Call Log:
- Timeout 30ms exceeded while waiting on the predicate
      at …`, 1},
		{"and a hard one", "expect.soft(1).toBe(2);\nconsole.log('on');\nexpect(3).toBe(4)", `2 errors:

1) expect(received).toBe(expected) // Object.is equality

Expected: 2
Received: 1
      at …

2) expect(received).toBe(expected) // Object.is equality

Expected: 4
Received: 3
      at …`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &logs{}
			res := runWith(t, tt.code, l)
			if res.Status != scripting.StatusFailed || res.Err == nil || told(res.Err.Message) != tt.want || res.Err.Line != tt.line {
				t.Errorf("status %s, %+v\nwant line %d\n%s", res.Status, res.Err, tt.line, tt.want)
			}
			if !strings.Contains(strings.Join(l.lines, "\n"), "on") {
				t.Error("the script did not go on")
			}
		})
	}
}

// toBeOK says how the response was fetched, and what it says if that is text.
func TestExpectOK(t *testing.T) {
	got := lines(t, `
		const ok = await request.get(args.url + '/'), missing = await request.get(args.url + '/missing');
		const response = await page.goto(args.url + '/missing');
		const shown = f => f().then(() => 'passes', e => [e.message.split('\n')[0], /\n→ GET http.*missing\n/.test(e.message), /\n← 404 Not Found\n/.test(e.message), e.message.endsWith('\n\nResponse text:\nnot here')]);
		await run('is', () => expect(ok).toBeOK());
		await run('is not', () => shown(() => expect(missing).toBeOK()));
		await run('not', () => expect(missing).not.toBeOK());
		await run('should not', () => shown(() => expect(ok).not.toBeOK()));
		await run('of a page', async () => (await shown(() => expect(response).toBeOK())).slice(0, 3));
		await run('something else', () => expect('x').toBeOK());`)
	want := `is: "passes"
is not: ["expect(response).toBeOK() failed",true,true,true]
not: "passes"
should not: ["expect(response).not.toBeOK() failed",false,false,false]
of a page: ["expect(response).toBeOK() failed",true,true]
something else: Error: toBeOK can be only used with APIResponse object, was called with x`
	if got != want {
		t.Errorf("got\n%s\n\nwant\n%s", got, want)
	}
}

// An expectation ends with its signal.
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

// The log of an expectation says what was seen at each try.
func TestExpectLog(t *testing.T) {
	res := runIn(t, "await page.setContent('<p class=a>x</p>');\nawait expect(page.locator('p')).toHaveText('y', { timeout: 1000 });")
	seen := regexp.MustCompile(`\n    \d+ × locator resolved to <p class="a">x</p>\n {6,8}- unexpected value "x"\n$`)
	if res.Err == nil || !seen.MatchString(res.Err.Message) || res.Err.Line != 2 {
		t.Errorf("got %+v", res.Err)
	}
}

// An error is where the expectation stands in the code, through functions that
// wait.
func TestExpectPlace(t *testing.T) {
	for _, tt := range []struct {
		name, code   string
		line, column int
	}{
		{"value", "const a = 1;\n  expect(a).toBe(2);", 2, 13},
		{"element", "\n\nawait expect(page.locator('x')).toBeVisible({ timeout: 20 });", 3, 33},
		{"in a function", "async function check() {\n  await expect(page.locator('x')).toBeVisible({ timeout: 20 });\n}\nawait page.title();\nawait check();", 2, 35},
		{"after a wait", "const check = async (): Promise<void> => {\n  await page.title();\n  expect(1).toBe(2);\n};\nawait check();", 3, 13},
		{"polled", "await page.title();\nawait expect.poll(() => 1, { timeout: 20 }).toBe(2);", 2, 45},
		{"passing", "await expect(async () => {\n  expect(1).toBe(2);\n}).toPass({ timeout: 20 });", 3, 4},
		{"rejected", "\nawait expect(Promise.reject(new Error('x'))).rejects.toThrow('y');", 2, 54},
		{"thrown elsewhere", "function f() {\n  throw new Error('x');\n}\nexpect(f).toThrow('y');", 4, 11},
	} {
		res := runIn(t, tt.code)
		if res.Err == nil || res.Err.Line != tt.line || res.Err.Column != tt.column {
			t.Errorf("%s: %+v, want line %d, column %d", tt.name, res.Err, tt.line, tt.column)
		}
	}
}

// In a test file, soft errors are the test's, and all of them.
func TestExpectSoftInTests(t *testing.T) {
	l := &logs{}
	res := runWith(t, `import { test, expect } from '@playwright/test';
		test('goes on', async () => { expect.soft(1).toBe(2); expect.soft(3).toBe(4); test.info().annotations.push({ type: 'on' }); if (test.info().errors.length !== 2) throw new Error('errors: ' + test.info().errors.length); });
		test('is another', async () => { expect(test.info().errors.length).toBe(0); });`, l)
	want := "failed goes on: Error: expect(received).toBe(expected) // Object.is equality\npassed is another\n"
	if got := outcome(l); got != want || res.Status != scripting.StatusFailed {
		t.Errorf("got %s\n%s\nwant\n%s", res.Status, got, want)
	}
}

// An expectation that waits when its test's time is over says how things stand.
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

// What ends an expectation is said in its place.
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
