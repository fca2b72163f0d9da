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

// expectation is one entry of a table in testdata/expect: code, and the text of
// the error that it throws, or "passes". The content of a page may precede it.
type expectation struct{ html, code, want string }

// expectations reads a table. "# " begins a page's content and "= " begins code.
// The error follows, with its name in front unless that is Error.
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
	// How often the expectation was tried depends on the machine.
	tries = regexp.MustCompile(`(?m)^ +(?:\d+ × |- )locator resolved to .*\n(?: +- unexpected value "(?s:.*?)"\n)?`)
	// Where the error was thrown depends on the rest of the script.
	places = regexp.MustCompile(`(?m)(?:^\s+at .*(?:\n|$))+`)
)

// told returns an error's text without the parts that vary.
func told(message string) string {
	message = tries.ReplaceAllString(message, "")
	return strings.TrimRight(places.ReplaceAllString(message, "      at …\n"), " \n")
}

// TestExpectationTexts checks that errors of expectations read like Playwright's.
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

// TestExpectSoft checks that a script continues after a soft expectation, and
// fails at its end.
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

// TestExpectOK checks that the error of toBeOK says how the response was fetched,
// and quotes its body if that is text.
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

// TestExpectLog checks that the log of an expectation says what was seen at each
// attempt.
func TestExpectLog(t *testing.T) {
	res := runIn(t, "await page.setContent('<p class=a>x</p>');\nawait expect(page.locator('p')).toHaveText('y', { timeout: 1000 });")
	seen := regexp.MustCompile(`\n    \d+ × locator resolved to <p class="a">x</p>\n {6,8}- unexpected value "x"\n$`)
	if res.Err == nil || !seen.MatchString(res.Err.Message) || res.Err.Line != 2 {
		t.Errorf("got %+v", res.Err)
	}
}

// TestExpectPlace checks that an error has the position of the expectation in the
// code, even through async functions.
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

// TestExpectSoftInTests checks that in a test file, all soft errors are reported
// with their test.
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
