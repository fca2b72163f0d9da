package scripting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"takeover/scripting/worker"
)

// tight returns low limits that an attack reaches soon.
func tight() Limits {
	return Limits{TurnTime: time.Second, KillDelay: 300 * time.Millisecond, RunTime: time.Minute}
}

// TestLimits attacks every limit of the table. After each attack, the pool runs
// the next script normally.
func TestLimits(t *testing.T) {
	small := tight()
	small.Pending, small.TurnTime = 100, time.Minute
	short := tight()
	short.RunTime = 5 * time.Second // the worker's start counts
	patient := tight()
	patient.TurnTime = time.Minute
	little := patient
	little.Memory = 96 << 20 // filled sooner than the default
	pools := map[Limits]*Pool{}
	for _, c := range []struct {
		name    string
		limits  Limits
		code    string
		status  string
		error   string // the error's name
		message string // a part of its message
		line    int    // 0: any
	}{
		{"endless loop", tight(), "let a = 1;\nfor (;;) a++;", StatusTimeout, "TimeoutError", "did not yield", 2},
		{"endless loop in a function", tight(), "function f(n) {\n  for (;;) n = n + 1;\n}\nf(1)", StatusTimeout, "TimeoutError", "did not yield", 2},
		{"endless microtasks", tight(), "async function f() { for (;;) await null }\nawait f()", StatusTimeout, "TimeoutError", "did not yield", 0},
		{"regular expression", tight(), `/^(\w+\s?)*\1$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')`, StatusTimeout, "TimeoutError", "could not be interrupted", 0},
		{"power of a BigInt", tight(), `const x = 7n ** 30000000n; return String(x).length`, "", "", "", 0},
		{"getter while the result is made", tight(), `return { get x() { for (;;); } }`, StatusTimeout, "TimeoutError", "did not yield", 0},
		{"getter of a thrown error", tight(), `throw Object.defineProperty(new Error(), 'message', { get() { for (;;); } })`, StatusTimeout, "TimeoutError", "did not yield", 0},
		{"getter in an argument", tight(), `await page.evaluate(() => 1, { get x() { for (;;); } })`, StatusTimeout, "TimeoutError", "did not yield", 0},
		{"run time, busy but yielding", short, "for (;;)\n  await new Promise(r => setTimeout(r, 0))", StatusTimeout, "TimeoutError", "exceeded its time of 5s", 0},
		{"recursion", patient, "function f() {\n  return f() + 1;\n}\nf()", StatusFailed, "RangeError", "Maximum call stack size exceeded", 2},
		{"recursion through native code", patient, `const f = () => [1].map(f); f()`, StatusFailed, "RangeError", "Maximum call stack size exceeded", 0},
		{"recursion in native code", patient, `let p = {}; for (let i = 0; i < 700000; i++) p = new Proxy(p, {}); return p.x`, StatusFailed, "", "", 0},
		{"long string", patient, `'x'.repeat(2 ** 36)`, StatusFailed, "", "", 0},
		{"impossible string", patient, `'x'.repeat(2 ** 52)`, StatusFailed, "", "", 0},
		{"growing array", little, `const a = []; for (;;) a.push(new Array(1000).fill(1))`, StatusFailed, "Error", "out of memory", 0},
		{"growing buffers", little, `const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))`, StatusFailed, "Error", "out of memory", 0},
		{"promise flood", little, `const f = async () => { await null; f(); f() }; f(); await new Promise(() => {})`, StatusFailed, "Error", "out of memory", 0},
		{"timers", small, "for (let i = 0; i < 101; i++)\n  setTimeout(() => {}, 60_000)", StatusFailed, "Error", "too many timers", 2},
		{"operations", small, "for (let i = 0; i < 300; i++)\n  page.title();\nawait page.waitForTimeout(60_000)", StatusFailed, "Error", "too many operations", 2},
		{"operations, caught", small, "const all = Array.from({ length: 101 }, () => page.title().catch(e => e))\nthrow await all[100]", StatusFailed, "Error", "page.title: too many operations", 1},
		{"brackets", patient, "return " + strings.Repeat("[", 501) + strings.Repeat("]", 501), StatusFailed, "SyntaxError", "nested more than 500 deep", 1},
		{"brackets in a template", patient, strings.Repeat("`${", 501), StatusFailed, "SyntaxError", "nested more than 500 deep", 1},
		{"operators nested without brackets", patient, "return " + strings.Repeat("!", 900_000) + "1", "", "", "", 0},
		{"conditions nested without brackets", patient, strings.Repeat("if (1) ", 100_000) + ";", "", "", "", 0},
	} {
		if pools[c.limits] == nil {
			pools[c.limits] = newPool(t, c.limits)
		}
		t.Run(c.name, func(t *testing.T) {
			p := pools[c.limits]
			w := newWorld()
			started := time.Now()
			res := run(t, p, w, c.code)
			if c.status == "" { // any status will do: the run has ended and the server lives
				t.Logf("%s after %v: %v", res.Status, time.Since(started), res.Err)
			} else if res.Status != c.status || res.Err == nil || c.error != "" && res.Err.Name != c.error || !strings.Contains(res.Err.Message, c.message) {
				t.Errorf("%s: %+v", res.Status, res.Err)
			} else if c.line != 0 && res.Err.Line != c.line {
				t.Errorf("line %d, want %d: %s", res.Err.Line, c.line, res.Err.Stack)
			}
			if got := mustSucceed(t, p, newWorld(), `return 'next'`); got != `"next"` {
				t.Errorf("the next run returned %s", got)
			}
		})
	}
}

// TestRunTimeWaiting checks that a run whose time is up says what it waits for.
// The run's clock starts when the script asks for the title, so it does not matter
// how long the machine takes to start the script.
func TestRunTimeWaiting(t *testing.T) {
	short := tight()
	short.RunTime = time.Second
	p := newPool(t, short)
	w := newWorld()
	running := make(chan *Run, 1)
	w.handlers["frame.title"] = func(context.Context, json.RawMessage) (any, error) {
		(<-running).Resume()
		return map[string]any{"value": "t"}, nil
	}
	r, err := p.Start(t.Context(), Script{Code: "await page.title();\nawait page.waitForTimeout(60_000)"}, w, w)
	if err != nil {
		t.Fatal(err)
	}
	r.Pause()
	running <- r
	res := r.Wait()
	if res.Status != StatusTimeout || res.Err == nil || res.Err.Name != "TimeoutError" || !strings.Contains(res.Err.Message, "exceeded its time of 1s") || res.Err.Line != 2 {
		t.Errorf("%s: %+v", res.Status, res.Err)
	}
}

func TestTooLarge(t *testing.T) {
	p := newPool(t, Limits{})
	w := newWorld()
	_, err := p.Start(t.Context(), Script{Code: strings.Repeat(" ", DefaultScriptSize+1)}, w, w)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}

func TestTruncation(t *testing.T) {
	p := newPool(t, Limits{LogSize: 1000, ResultSize: 1000, Steps: 10})
	for _, c := range []struct{ name, code string }{
		{"result", `return 'ü'.repeat(1000)`},
		{"one log", `console.log('ü'.repeat(1000))`},
		{"many logs", `for (let i = 0; i < 100; i++) console.log('x'.repeat(90) + i)`},
		{"steps", `for (let i = 0; i < 20; i++) await page.title()`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			res := run(t, p, w, c.code)
			if res.Status != StatusSucceeded || !res.Truncated {
				t.Errorf("status %s, truncated %v, %v", res.Status, res.Truncated, res.Err)
			}
			if len(res.Value) > 1200 || len(w.logged()) > 1200 || len(w.steps) > 10 {
				t.Errorf("%d bytes of result, %d of logs, %d steps", len(res.Value), len(w.logged()), len(w.steps))
			}
		})
	}
}

// TestPollution checks that what a script does to the classes of its own worker
// ends with that worker.
func TestPollution(t *testing.T) {
	p := newPool(t, Limits{})
	attacks := []string{
		`Object.prototype.selector = 'x'; Array.prototype.map = null; await page.click('#a')`,
		`JSON.stringify = () => 'no json'; JSON.parse = () => null; await page.title()`,
		`page.constructor.prototype.title = async () => 'mine'; return page.title()`,
		`Promise.prototype.then = function () { throw new Error('then') }; await page.title()`,
		`Error.prototype.name = {}; throw new Error('x')`,
		`Object.defineProperty(Object.prototype, 'value', { get() { throw new Error('got') } }); await page.title()`,
		`globalThis.Promise = undefined; globalThis.Error = undefined; globalThis.Map = undefined; await page.title()`,
		`console = null; expect = null; return 1`,
	}
	for _, code := range attacks {
		res := run(t, p, newWorld(), code)
		if res.Status != StatusSucceeded && res.Status != StatusFailed {
			t.Errorf("%s: %s %v", code, res.Status, res.Err)
		}
		w := newWorld().answer("frame.title", map[string]any{"value": "clean"})
		if got := mustSucceed(t, p, w, `return page.title()`); got != `"clean"` {
			t.Errorf("after %s the next run got %s", code, got)
		}
	}
}

// TestSourceMapURL checks that code which names a file as its source map does not
// get that file read. By default, goja would read it.
func TestSourceMapURL(t *testing.T) {
	p := newPool(t, Limits{})
	secret := filepath.Join(t.TempDir(), "secret.map")
	if err := os.WriteFile(secret, []byte(`{"version":3,"sources":["SECRET"],"mappings":"AAAA"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{
		"throw new Error('x')\n//# sourceMappingURL=" + secret,
		fmt.Sprintf("eval('throw new Error(1)\\n//# sourceMappingURL=%s')", secret),
		fmt.Sprintf("new Function('throw new Error(1)\\n//# sourceMappingURL=file://%s')()", secret),
		"return 1\n//# sourceMappingURL=/dev/zero",
	} {
		res := run(t, p, newWorld(), code)
		if res.Err != nil && (strings.Contains(res.Err.Stack, "SECRET") || strings.Contains(res.Err.Message, "sourcemap") || strings.Contains(res.Err.Message, "permitted")) {
			t.Errorf("%s: %+v", code, res.Err)
		}
	}
}

// TestConfinement reads the kernel's own account of what a worker may do.
func TestConfinement(t *testing.T) {
	inherited, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	fd, err := syscall.Dup(int(inherited.Fd())) // like a file that the server was started with, it is not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	p := newPool(t, Limits{})
	w := newWorld()
	sink := &signalSink{world: w, seen: make(chan struct{})}
	r, err := p.Start(t.Context(), Script{Code: `console.log('on'); await new Promise(r => setTimeout(r, 60_000))`}, w, sink)
	if err != nil {
		t.Fatal(err)
	}
	sink.await(t, r)
	dir := fmt.Sprintf("/proc/%d/", r.proc.cmd.Process.Pid)
	text, err := os.ReadFile(dir + "status")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000"} {
		if os.Geteuid() != 0 && strings.HasPrefix(want, "Cap") {
			continue
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("status lacks %q:\n%s", want, text)
		}
	}
	if want := fmt.Sprintf("Uid:\t%d\t%[1]d\t%[1]d\t%[1]d", DefaultUID); os.Geteuid() == 0 && !strings.Contains(string(text), want) {
		t.Errorf("the worker is not user %d:\n%s", DefaultUID, text)
	}
	// Not even processes of its own user look into a worker; root does.
	hidden := os.Geteuid() != 0
	if env, err := os.ReadFile(dir + "environ"); len(env) > 0 || hidden != errors.Is(err, fs.ErrPermission) || !hidden && err != nil {
		t.Errorf("environment %q, %v", env, err)
	}
	limits, err := os.ReadFile(dir + "limits")
	if err != nil {
		t.Fatal(err)
	}
	if !worker.RaceEnabled && !strings.Contains(string(limits), fmt.Sprint(DefaultAddressSpace)) {
		t.Errorf("no limit on address space:\n%s", limits)
	}
	fds, err := os.ReadDir(dir + "fd")
	if hidden != errors.Is(err, fs.ErrPermission) || !hidden && err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		// The Go runtime opens the cgroup's files before anything of ours runs.
		target, err := os.Readlink(dir + "fd/" + fd.Name())
		if err == nil && !hasAnyPrefix(target, "pipe:", "anon_inode:", "/sys/fs/cgroup/", "/dev/null") {
			t.Errorf("the worker holds %s", target)
		}
	}
	r.Cancel(nil)
	r.Wait()
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
