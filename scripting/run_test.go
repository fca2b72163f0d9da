package scripting

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"takeover/scripting/source"
	"takeover/scripting/workertest"
)

func TestForms(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct{ name, code, want string }{
		{"value", `return 1 + 1`, `2`},
		{"top-level await", `const x: number = await Promise.resolve(3); return { x }`, `{"x":3}`},
		{"nothing", `1`, `null`},
		{"shadowed globals", `const page = 1, browser = 2; let context = 3; return page + browser + context`, `6`},
		{"require", `const { chromium } = require('playwright');
			const b = await chromium.launch(); return b.version() === browser.version() && b.browserType().name()`, `"chromium"`},
		{"import", "import { chromium as c, type Page } from 'playwright';\nimport type { Locator } from 'playwright-core'\nlet l: Locator; return (await c.connectOverCDP('x')).contexts()[0].pages()[0] === page", `true`},
		{"import default", `import pw from "playwright-core"; import * as all from '@playwright/test'; return [typeof pw.chromium.launch, typeof all.expect, pw.errors.TimeoutError.name]`, `["function","function","TimeoutError"]`},
		{"import with return", "import { expect } from '@playwright/test';\nexpect(1).toBe(1); return 'ok'", `"ok"`},
		{"import equals", "import pw = require('playwright'); return typeof pw.chromium", `"object"`},
		{"dynamic import", `const { chromium } = await import('playwright'); return chromium.name()`, `"chromium"`},
		{"library script without await at the top", `(async () => { await new Promise(r => setTimeout(r, 5)); console.log('late') })()`, `null`},
		{"export", "export const x = 1;\nexport {};\nreturn x", `1`},
		{"hashbang", "#!/usr/bin/env node\nreturn 1", `1`},
		{"comment at the end", "return 1 // done", `1`},
		{"import in text", "const s = `import fs from 'fs'`; /* require('fs') */ const r = /require('fs')/; return s.length + r.source.length", `32`},
		{"enum and namespace", `enum E { A = 4 } return E.A`, `4`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			if got := mustSucceed(t, p, w, c.code); got != c.want {
				t.Errorf("returned %s, want %s", got, c.want)
			}
			if strings.Contains(c.code, "late") && !strings.Contains(w.logged(), "late") {
				t.Error("the run ended before the script had")
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	p := newPool(t, Limits{})
	for _, c := range []struct{ name, code, want string }{
		{"async generator", `async function* g() { yield 1; yield 2 } const out = []; for await (const x of g()) out.push(x); return out`, `[1,2]`},
		{"using", `const out = []; { using x = { [Symbol.dispose]() { out.push('disposed') } }; out.push('body') } return out`, `["body","disposed"]`},
		{"await using", `const out = []; { await using x = { async [Symbol.asyncDispose]() { out.push('d') } }; out.push('b') } return out`, `["b","d"]`},
		{"decorators", `const out = []; function d(v: any, c: any) { out.push(c.kind) } @d class A { @d m() {} } return out`, `["method","class"]`},
		{"accessor", `class A { accessor x = 1 } const a = new A(); a.x++; return a.x`, `2`},
		{"static block, private names", `class A { static x = 0; #y = 2; static { A.x = 5 } get y() { return this.#y } } return A.x + new A().y`, `7`},
		{"unicode properties", `return ['é'.match(/^\p{L}$/u) !== null, /^\P{L}$/u.test('1'), /[\p{Lu}\d]+/u.exec('aBC9')[0], /\p{Script=Han}/u.test('漢'), /^[^\P{L}]$/u.test('a')]`, `[true,true,"BC9",true,true]`},
		{"flag v", `return ['b1'.match(/[\p{L}--[a]]/v)[0], /^[[a-z]&&[aeiou]]+$/v.test('aei'), /^[\w--\d]$/v.test('1'), /x/v.flags]`, `["b",true,false,"v"]`},
		{"flag d", `const m = /a(?<n>b+)/d.exec('xxabb'); return [m.indices[0], m.indices.groups.n]`, `[[2,5],[3,5]]`},
		{"RegExp stays itself", `return [/a/ instanceof RegExp, new RegExp('a', 'g').flags, RegExp(/b/).source, RegExp.name, 'aXbX'.replace(/X/g, '-'), RegExp.prototype.constructor === RegExp]`, `[true,"g","b","RegExp","a-b-",true]`},
		{"newer builtins", `return [Object.groupBy([1,2,3], x => x % 2 ? 'odd' : 'even').odd, Promise.withResolvers().promise instanceof Promise, await Array.fromAsync([Promise.resolve(1)]), [1,2,3].values().map(x => x * 2).toArray()]`, `[[1,3],true,[1],[2,4,6]]`},
		{"timers", `const out = []; setTimeout(() => out.push(2), 4); setTimeout(x => out.push(x), 1, 'arg'); const i = setInterval(() => { out.push('i'); clearInterval(i) }, 2);
			queueMicrotask(() => out.push('micro')); await new Promise(r => setTimeout(r, 30)); return out`, `["micro","arg","i",2]`},
		{"URL", `const u = new URL('../b?x=1#h', 'https://a.test/c/d'); u.searchParams.append('y', 'ö'); return [u.href, u.host, new URLSearchParams('a=1&a=2').getAll('a')]`, `["https://a.test/b?x=1&y=%C3%B6#h","a.test",["1","2"]]`},
		{"Buffer", `return [Buffer.from('héllo').toString('base64'), Buffer.from('aGk=', 'base64').toString(), Buffer.concat([Buffer.from([1]), Buffer.from([2])]).length, Buffer.isBuffer(Buffer.alloc(1))]`, `["aMOpbGxv","hi",2,true]`},
		{"text", `return [Array.from(new TextEncoder().encode('é😀')), new TextDecoder().decode(new Uint8Array([226, 130, 172])), btoa('hi'), atob('aGk=')]`, `[[195,169,240,159,152,128],"€","aGk=","hi"]`},
		{"structuredClone", `const a = { d: new Date(0), m: new Map([[1, { x: 1 }]]) }; a.self = a; const b = structuredClone(a); return [b.self === b, b.d.getTime(), b.m.get(1), b !== a]`, `[true,0,{"x":1},true]`},
		{"abort", `const c = new AbortController(); let seen; c.signal.addEventListener('abort', e => seen = e.type); c.abort(); return [seen, c.signal.aborted, c.signal.reason.name]`, `["abort",true,"AbortError"]`},
		{"random", `return [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), performance.now() > 0]`, `[true,true]`},
		{"nothing of the machine", `return [typeof process, typeof require, typeof Deno, typeof module, typeof __filename]`, `["undefined","function","undefined","undefined","undefined"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mustSucceed(t, p, newWorld(), c.code); got != c.want {
				t.Errorf("returned %s, want %s", got, c.want)
			}
		})
	}
}

func TestResultValues(t *testing.T) {
	p := newPool(t, Limits{})
	for code, want := range map[string]string{
		`const a = { n: 1 }; a.self = a; return a`:   `{"n":1,"self":"[Circular]"}`,
		`const x = {}; return [x, x]`:                `[{},{}]`,
		`return [undefined, null, NaN, 1n, () => 1]`: `[null,null,"NaN","1","[Function (anonymous)]"]`,
		`return new Map([['a', 1]])`:                 `{"a":1}`,
		`return new Set([1])`:                        `[1]`,
		`return Buffer.from('hi')`:                   `"aGk="`,
		`return new Uint8Array([104, 105])`:          `"aGk="`,
		`return new Date(0)`:                         `"1970-01-01T00:00:00.000Z"`,
		`return new TypeError('x')`:                  `{"name":"TypeError","message":"x"}`,
		`return page`:                                `{"_type":"Page","_guid":"page@1"}`,
		`return { toJSON() { return 'mine' } }`:      `"mine"`,
		`return 'ü😀'`:                                `"ü😀"`,
		`return [args, args.none === undefined]`:     `[{},true]`,
	} {
		if got := mustSucceed(t, p, newWorld(), code); got != want {
			t.Errorf("%s returned %s, want %s", code, got, want)
		}
	}
}

func TestArguments(t *testing.T) {
	p := newPool(t, Limits{})
	w := newWorld()
	r, err := p.Start(t.Context(), Script{Code: `return args.user + '!'`, Args: json.RawMessage(`{"user":"ada"}`)}, w, w)
	if err != nil {
		t.Fatal(err)
	}
	if res := r.Wait(); string(res.Value) != `"ada!"` {
		t.Errorf("returned %s", res.Value)
	}
}

func TestErrorPositions(t *testing.T) {
	p := newPool(t, Limits{})
	timeout := func(context.Context, json.RawMessage) (any, error) {
		return nil, &namedError{name: "TimeoutError", message: "Timeout 30000ms exceeded.\nCall log:\n  - waiting for locator('#a')"}
	}
	for _, c := range []struct {
		name, code     string
		line, column   int
		error, message string
	}{
		{"thrown", "const a: number = 1;\n\nthrow new TypeError('no');", 3, 7, "TypeError", "no"},
		{"thrown in the first line", "throw new Error('x')", 1, 7, "Error", "x"},
		{"after types", "interface A { x: number }\ntype B = A;\nfunction f(this: void, a: B): void {\n  null.x;\n}\nf({ x: 1 });", 4, 8, "TypeError", ""},
		{"undefined name", "await page.title();\n  nope();", 2, 0, "ReferenceError", "nope is not defined"},
		{"after an import", "import { chromium } from 'playwright';\n\nundefined.x", 3, 11, "TypeError", ""},
		{"with lowered code", "async function* g() { yield 1 }\nfor await (const x of g()) {\n  if (x) throw new Error('in loop');\n}", 3, 16, "Error", "in loop"},
		{"syntax", "const a = 1;\nconst = 2;", 2, 7, "SyntaxError", ""},
		{"syntax in the first line", "let 1a", 1, 0, "SyntaxError", ""},
		{"unexpected end", "if (true) {\n  x(", 2, 0, "SyntaxError", ""},
		{"operation", "const l = page.locator('#a');\nawait l.click();", 2, 9, "TimeoutError", "locator.click: Timeout 30000ms exceeded.\nCall log:\n  - waiting for locator('#a')"},
		{"operation in a function", "async function login() {\n  await page.click('#a');\n}\nawait login();", 2, 14, "TimeoutError", "page.click: Timeout 30000ms exceeded.\nCall log:\n  - waiting for locator('#a')"},
		{"unhandled rejection", "setTimeout(() => { Promise.reject(new Error('lost')) }, 1);\nawait new Promise(() => setTimeout(() => {}, 1000))", 1, 0, "Error", "lost"},
		{"not an error", "\nthrow { code: 7 }", 0, 0, "Error", "thrown: { code: 7 }"},
		{"import", "const a = 1;\nimport fs from 'node:fs';", 2, 16, "ImportError", `cannot import "node:fs" (line 2): scripts may import playwright, playwright-core, playwright/test and @playwright/test only; for files, give setInputFiles(), saveAs() or path: the name of one of the session's files`},
		{"require", "\n\nconst x = require(\"left-pad\")", 3, 19, "ImportError", `cannot import "left-pad" (line 3): scripts may import playwright, playwright-core, playwright/test and @playwright/test only; a script is one file: bring along what it needs`},
		{"dynamic import", "if (false) await import('./x')", 1, 25, "ImportError", `cannot import "./x" (line 1): scripts may import playwright, playwright-core, playwright/test and @playwright/test only; a script is one file: bring along what it needs`},
		{"computed require", "\nrequire('f' + 's')", 2, 0, "Error", `cannot import "fs": scripts may import playwright, playwright-core, playwright/test and @playwright/test only; for files, give setInputFiles(), saveAs() or path: the name of one of the session's files`},
		{"import of a part", "import { readFile } from 'fs/promises'", 1, 26, "ImportError", `cannot import "fs/promises" (line 1): scripts may import playwright, playwright-core, playwright/test and @playwright/test only; for files, give setInputFiles(), saveAs() or path: the name of one of the session's files`},
		{"export of another module", "export const a = 1;\nexport { b } from './b';", 2, 19, "ImportError", `cannot import "./b" (line 2): scripts may import playwright, playwright-core, playwright/test and @playwright/test only; a script is one file: bring along what it needs`},
		{"never", "await new Promise(() => {})", 0, 0, "Error", "the script waits for something that can never happen: a promise that nothing will settle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.handlers["frame.click"] = timeout
			res := run(t, p, w, c.code)
			if res.Status != StatusFailed || res.Err == nil {
				t.Fatalf("status %s, error %v", res.Status, res.Err)
			}
			e := res.Err
			if e.Name != c.error || c.message != "" && e.Message != c.message {
				t.Errorf("%s: %q, want %s: %q", e.Name, e.Message, c.error, c.message)
			}
			if e.Line != c.line || c.column != 0 && e.Column != c.column {
				t.Errorf("at %d:%d, want %d:%d\n%s", e.Line, e.Column, c.line, c.column, e.Stack)
			}
			if strings.Contains(e.Stack, "takeover:api") || strings.Contains(e.Stack, source.MainName) || strings.Contains(e.Stack, "native") {
				t.Errorf("the stack shows inner frames:\n%s", e.Stack)
			}
		})
	}
}

func TestErrorsInScript(t *testing.T) {
	p := newPool(t, Limits{})
	w := newWorld()
	w.handlers["frame.click"] = func(context.Context, json.RawMessage) (any, error) {
		return nil, &namedError{"TimeoutError", "Timeout 5ms exceeded.", map[string]any{"extra": 1}}
	}
	got := mustSucceed(t, p, w, `
		const { errors } = require('playwright');
		try { await page.getByRole('button').click({ timeout: 5 }) }
		catch (e) { return [e instanceof errors.TimeoutError, e instanceof Error, e.name, e.message, e.extra, e.stack.includes('script.ts:3:')] }`)
	if want := `[true,true,"TimeoutError","locator.click: Timeout 5ms exceeded.",1,true]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCancel(t *testing.T) {
	p := newPool(t, Limits{})
	because := errors.New("the operator pressed stop")
	for _, c := range []struct{ name, code string }{
		{"while it waits", `console.log('on'); await page.click('#never')`},
		{"in a takeover", `console.log('on'); await requestTakeover('help')`},
		{"in a loop", `console.log('on'); for (;;);`},
		{"in native code", `console.log('on'); /^(\w+\s?)*\1$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			forever := func(ctx context.Context, _ json.RawMessage) (any, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			w.handlers["frame.click"] = forever
			w.handlers["takeover.request"] = forever
			sink := &signalSink{world: w, seen: make(chan struct{})}
			r, err := p.Start(t.Context(), Script{Code: c.code}, w, sink)
			if err != nil {
				t.Fatal(err)
			}
			sink.await(t, r)
			r.Cancel(because)
			res := r.Wait()
			if res.Status != StatusCancelled || !strings.Contains(res.Err.Message, because.Error()) {
				t.Errorf("status %s, error %v", res.Status, res.Err)
			}
		})
	}
}

// signalSink signals the first log line.
type signalSink struct {
	*world
	seen chan struct{}
}

func (s *signalSink) Log(l Log) {
	s.world.Log(l)
	close(s.seen)
}

// await waits for the first log line of a run.
func (s *signalSink) await(t *testing.T, r *Run) {
	t.Helper()
	select {
	case <-s.seen:
	case <-r.Done():
		t.Fatalf("the run ended before it logged anything: %+v", r.Wait())
	}
}

func TestPoolCloseEndsRuns(t *testing.T) {
	if !built() {
		t.Skip("the script API is not built: run make generate")
	}
	p := NewPool(PoolOptions{Executable: workertest.Command(Subcommand)})
	w := newWorld()
	r, err := p.Start(t.Context(), Script{Code: `for (;;);`}, w, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if res := r.Wait(); res.Status != StatusCancelled {
		t.Errorf("status %s", res.Status)
	}
	if _, err := p.Start(t.Context(), Script{}, w, w); !errors.Is(err, ErrPoolClosed) {
		t.Errorf("Start after Close: %v", err)
	}
}

// TestClock checks that the clock of a run stops while a person has taken over.
// runclock_test.go checks that the time limit does not pass meanwhile.
func TestClock(t *testing.T) {
	p := newPool(t, Limits{})
	w := newWorld()
	var r *Run
	var stood time.Duration
	started := make(chan struct{})
	w.handlers["takeover.request"] = func(context.Context, json.RawMessage) (any, error) {
		<-started
		r.Pause()
		defer r.Resume()
		ran, _ := r.Times()
		paused := time.Now()
		for time.Since(paused) < 20*time.Millisecond { // let time pass that the clock must not count
			runtime.Gosched()
		}
		if later, _ := r.Times(); later != ran {
			t.Errorf("the clock went from %v to %v during the takeover", ran, later)
		}
		stood = time.Since(paused)
		return map[string]any{"outcome": "done", "by": "viewer:1", "durationMs": 20}, nil
	}
	begun := time.Now()
	r, err := p.Start(t.Context(), Script{Code: `return (await requestTakeover('please')).by`}, w, w)
	if err != nil {
		t.Fatal(err)
	}
	close(started)
	res := r.Wait()
	if res.Status != StatusSucceeded || string(res.Value) != `"viewer:1"` {
		t.Errorf("status %s, value %s, error %v", res.Status, res.Value, res.Err)
	}
	if all := time.Since(begun); res.Paused < stood || res.Duration > all-stood {
		t.Errorf("of %v, %v count as run and %v as paused, which were at least %v", all, res.Duration, res.Paused, stood)
	}
}

func TestStepsAndLogs(t *testing.T) {
	p := newPool(t, Limits{})
	w := newWorld()
	w.handlers["frame.fill"] = func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("no such element") }
	res := run(t, p, w, "console.log('a', 1, { b: [2, 'x'] });\nconsole.error(new Error('e').message);\nawait page.goto('https://example.test/');\nawait page.getByLabel('Name').fill('Ada');")
	if res.Status != StatusFailed {
		t.Fatalf("status %s", res.Status)
	}
	if want := "log: a 1 { b: [ 2, 'x' ] }\nerror: e\n"; w.logged() != want {
		t.Errorf("logs %q, want %q", w.logged(), want)
	}
	if len(w.steps) != 2 {
		t.Fatalf("steps %+v", w.steps)
	}
	if s := w.steps[0]; s.Title != "page.goto('https://example.test/')" || s.Err != "" || s.Line != 3 || time.Since(s.StartedAt) > time.Minute {
		t.Errorf("first step %+v", s)
	}
	if s := w.steps[1]; s.Title != "getByLabel('Name').fill('Ada')" || s.Err != "locator.fill: no such element" || s.Line != 4 {
		t.Errorf("second step %+v", s)
	}
	run(t, p, w, "await requestTakeover({ reason: 'Sign in' })")
	if s := w.steps[len(w.steps)-1]; s.Title != "requestTakeover({ reason: 'Sign in' })" || !strings.Contains(s.Err, "reason: expected a string") {
		t.Errorf("a step with an object instead of a text %+v", s)
	}
}
