package scripting

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"takeover/scripting/wire"
	"takeover/scripting/worker"
)

// TestEndlessLoops tries every construct of the language, and of our own code, in
// which a script can get stuck: the limit on time without yielding ends each of
// them.
func TestEndlessLoops(t *testing.T) {
	limits := tight()
	limits.TurnTime = 300 * time.Millisecond // every script uses all of it
	p := newPool(t, limits)
	for name, code := range map[string]string{
		"proxy trap":                  `new Proxy({}, { get() { for (;;); } }).x`,
		"sort comparator":             `[3, 2, 1].sort(() => { for (;;); })`,
		"toJSON of the result":        `return { toJSON() { for (;;); } }`,
		"getter of the result's then": `return { get then() { for (;;); } }`,
		"thenables without end":       `return { then(r) { r({ then: this.then }) } }`,
		"toPrimitive":                 `console.log('' + { [Symbol.toPrimitive]() { for (;;); } })`,
		"toString in our hands":       `atob({ toString() { for (;;); } })`,
		"toString of an error":        `const e = new Error(); e.message = { toString() { for (;;); } }; throw e`,
		"message of an error":         `class E extends Error { get message() { for (;;); } } throw new E()`,
		"cause of an error":           `throw Object.defineProperty(new Error(), 'cause', { get() { for (;;); } })`,
		"getter that console shows":   `console.log({ get a() { return 1 }, get [Symbol.toStringTag]() { for (;;); } })`,
		"toJSON of everything":        `Object.prototype.toJSON = function () { for (;;); }; await page.title()`,
		"structuredClone":             `structuredClone({ get a() { for (;;); } })`,
		"replacer function":           `'x'.replace(/x/, () => { for (;;); })`,
		"generator":                   `return [...(function* () { for (;;) yield 1; })()]`,
		"promise chain":               `const f = () => Promise.resolve().then(f); await f()`,
		"queueMicrotask":              `const f = () => queueMicrotask(f); f(); await new Promise(() => {})`,
		"event listener":              `page.on('x', () => { for (;;); }); page.emit('x')`,
		"timer":                       `setTimeout(() => { for (;;); }, 1); await new Promise(() => {})`,
		"finally":                     `try { for (;;); } finally { for (;;); }`,
		"catch":                       `for (;;) try { for (;;); } catch {}`,
		"eval":                        `eval('for (;;);')`,
		"Function":                    `new Function('for (;;);')()`,
		"instanceof":                  `({}) instanceof { [Symbol.hasInstance]() { for (;;); } }`,
		"unhandled rejection":         `Promise.reject(Object.defineProperty(new Error(), 'message', { get() { for (;;); } })); await new Promise(r => setTimeout(r, 1000))`,
		"regular expression":          `/^(\w+\s?)*\1$/.test('a'.repeat(60) + '!')`,
		"join of a sparse array":      `new Array(2 ** 31).join('')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := run(t, p, newWorld(), code)
			outOfMemory := res.Err != nil && res.Err.Message == outOfMemory // before its time was up
			if res.Status != StatusTimeout && !outOfMemory {
				t.Errorf("%s %s %v", res.Status, res.Value, res.Err)
			}
		})
	}
}

// TestBombs uses up memory, processor time or stack without end: either the
// worker dies, or the script gets an error.
func TestBombs(t *testing.T) {
	limits := tight()
	limits.TurnTime = time.Second
	limits.Memory = 96 << 20
	p := newPool(t, limits)
	before := heapInUse()
	for name, code := range map[string]string{
		"string":                    `let s = 'x'; for (;;) s += s`,
		"string of two bytes":       `let s = 'ü'; for (;;) s = s + s + 'a'`,
		"padding":                   `'x'.padEnd(2 ** 30).split('')`,
		"array":                     `new Array(2 ** 32 - 1).fill(0)`,
		"array of an object":        `Array.from({ length: 2 ** 32 - 1 })`,
		"typed array":               `new ArrayBuffer(2 ** 33)`,
		"typed arrays":              `const a = []; for (;;) a.push(new Float64Array(1e6).fill(1))`,
		"map":                       `const m = new Map(); for (let i = 0;; i++) m.set(i, 'x'.repeat(1000) + i)`,
		"closures":                  `const a = []; for (;;) { const big = new Array(1000).fill(1); a.push(() => big) }`,
		"properties":                `const o = {}; for (let i = 0;; i++) o['k'.repeat(1000) + i] = i`,
		"BigInt":                    `let b = 2n; for (;;) b = b * b`,
		"replaced text":             `'a'.repeat(1e6).replace(/a/g, 'b'.repeat(10000))`,
		"listeners":                 `for (;;) page.on('x', () => {})`,
		"rejections":                `for (;;) Promise.reject(new Error('x'.repeat(1000)))`,
		"buffers":                   `const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))`,
		"nested JSON":               `JSON.parse('['.repeat(2e6))`,
		"nested value":              `let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a`,
		"nested argument":           `let a = []; for (let i = 0; i < 1e6; i++) a = [a]; await page.evaluate(x => x, a)`,
		"nested causes":             `let e; for (let i = 0; i < 1e6; i++) e = new Error('x', { cause: e }); throw e`,
		"nested regular expression": `new RegExp('(?=' + '('.repeat(1e6) + ')'.repeat(1e6) + ')')`,
		"repeated repetition":       `new RegExp('(?=' + '(?:a{1000}){1000}'.repeat(1000) + ')').test('a')`,
		"nested source in eval":     `eval('('.repeat(1e6))`,
		"sum in eval":               `eval('a' + '+a'.repeat(1e6))`,
		"nested source":             "return 1" + strings.Repeat("+-", 400_000) + "1",
		"nested types":              "let x: " + strings.Repeat("keyof ", 150_000) + "string; return 1",
		"nested arrows":             "return " + strings.Repeat("a=>", 300_000) + "1",
		"nested templates":          "return " + strings.Repeat("`${", 400) + "1" + strings.Repeat("}`", 400) + ".x.y",
		"giant result":              `return Array.from({ length: 40 }, () => 'x'.repeat(1 << 20))`,
		"giant log":                 `for (;;) console.log('x'.repeat(1 << 20))`,
		"empty logs":                `for (;;) console.log('')`,
		"giant parameter":           `await page.evaluate(x => x, 'x'.repeat(1 << 26))`,
		"giant parameters":          `for (;;) page.evaluate(x => x, 'x'.repeat(1 << 20))`,
		"flood of operations":       `for (;;) page.evaluate(() => 1)`,
		"flood of timers":           `for (;;) setTimeout(() => {}, 60_000)`,
		"giant title of a step":     `const s = 'x'.repeat(1 << 20); for (let i = 0; i < 40; i++) await page.locator(s).click()`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			res := run(t, p, w, code)
			if res.Status == StatusCancelled {
				t.Errorf("%s %v", res.Status, res.Err)
			}
			if n := len(res.Value) + len(w.logged()); n > DefaultResultSize+DefaultLogSize+1<<20 {
				t.Errorf("%d bytes were kept", n)
			}
			for _, s := range w.steps {
				if len(s.Title) > wire.MaxStepTitle+4 {
					t.Errorf("a step's title has %d bytes", len(s.Title))
				}
			}
			t.Logf("%s %.150v", res.Status, res.Err)
		})
	}
	if got := mustSucceed(t, p, newWorld(), `return 'next'`); got != `"next"` {
		t.Errorf("the next run returned %s", got)
	}
	if after := heapInUse(); after > before+32<<20 {
		t.Errorf("the server holds %d MiB, before %d", after>>20, before>>20)
	}
}

// heapInUse returns how many bytes this process holds after a garbage collection.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestOthersGoOn checks that scripts that attack their workers do not disturb
// others.
func TestOthersGoOn(t *testing.T) {
	p := newPool(t, tight())
	var bad sync.WaitGroup
	for _, code := range []string{`for (;;);`, `const a = []; for (;;) a.push(new Array(1e5).fill(1))`, `const f = () => [1].map(f); f()`} {
		bad.Go(func() { run(t, p, newWorld(), code) })
	}
	for i := range 5 {
		w := newWorld().answer("frame.title", map[string]any{"value": "t"})
		if got := mustSucceed(t, p, w, fmt.Sprintf(`return await page.title() + %d`, i)); got != fmt.Sprintf(`"t%d"`, i) {
			t.Errorf("got %s", got)
		}
	}
	bad.Wait()
}

// TestPollutedLanguage replaces built-ins of the language: a script can break
// only its own calls, and even those work unless it replaces what they depend on.
func TestPollutedLanguage(t *testing.T) {
	p := newPool(t, Limits{})
	use := `
		const t = await page.locator('#a').first().textContent(); await page.locator('#a').click({ timeout: 5 });
		return [t, await page.title(), (await page.evaluate(x => x, { a: [1] }))]`
	for _, code := range []string{
		`JSON.stringify = () => 'no'; JSON.parse = () => 0; Date.now = () => NaN`,
		`Promise.prototype.then = function () { throw new Error('then') }; Promise.resolve = Promise.all = Promise.race = null`,
		`globalThis.Promise = globalThis.Error = globalThis.Object = globalThis.Map = globalThis.Array = globalThis.JSON = globalThis.Symbol = null`,
		`Object.prototype.selector = 'x'; Object.prototype.strict = false; Array.prototype.extra = 1`,
		`Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(Error.prototype); Object.freeze(Promise.prototype)`,
		`Error.prepareStackTrace = () => { throw 1 }; Error.captureStackTrace = null; Error.stackTraceLimit = 0`,
		`setTimeout = clearTimeout = console = URL = Buffer = structuredClone = performance = null`,
		`Function.prototype.toString = () => 'evil'`,
	} {
		w := newWorld().answer("frame.title", map[string]any{"value": "clean"}).answer("frame.textContent", map[string]any{"value": "text"})
		w.answer("frame.evaluate", map[string]any{"value": map[string]any{"n": 5}})
		res := run(t, p, w, code+";"+use)
		if res.Status != StatusSucceeded || !strings.Contains(string(res.Value), `"clean"`) {
			t.Errorf("%s: %s %s %v", code, res.Status, res.Value, res.Err)
		}
	}
}

// TestHostIsOutOfReach checks that a script cannot reach the functions that
// implement the API.
func TestHostIsOutOfReach(t *testing.T) {
	p := newPool(t, Limits{})
	for _, code := range []string{
		`return typeof host`,
		`return page.constructor.constructor('return typeof host')()`,
		`return (0, eval)('typeof host')`,
		`return typeof (function f() { return f.caller })()?.host`,
		`return typeof Object.getPrototypeOf(async function () {}).constructor('return typeof host')().host`,
		`let got; Object.defineProperty(Object.prototype, 'trace', { set(v) { got = v } }); await page.title(); return typeof got`,
		`let got; const call = Function.prototype.call; Function.prototype.call = function (...a) { got ??= a.find(x => x && x.finish); return Reflect.apply(this, a[0], a.slice(1)) };
			await page.title(); await page.evaluate(() => 1); console.log({}); return typeof got`,
		`let got; const apply = Reflect.apply; Reflect.apply = (f, t, a) => { if (t && t.finish) got = t; return apply(f, t, a) }; await page.title(); return typeof got`,
		`let got; const raw = Map.prototype.get; Map.prototype.get = function (k) { if (this.finish) got = this; return raw.call(this, k) }; await page.title(); return typeof got`,
	} {
		res := run(t, p, newWorld(), code)
		if res.Status != StatusSucceeded || string(res.Value) != `"undefined"` {
			t.Errorf("%s: %s %s %v", code, res.Status, res.Value, res.Err)
		}
	}
}

// TestNoFiles tries to read files of the machine, by every name that goja might
// resolve.
func TestNoFiles(t *testing.T) {
	p := newPool(t, Limits{})
	for _, code := range []string{
		`require('/etc/passwd')`, `require('file:///etc/passwd')`, `require('./x.js')`, `require({ toString: () => '/etc/passwd' })`,
		`const n = '/etc/passwd'; await import(n)`, `const n = 'node:fs'; await import(n)`, `const n = 'data:text/javascript,1'; await import(n)`,
		`eval("import('/etc/passwd')")`, `new Function('return import("/etc/passwd")')()`,
		`throw new Error("x\n//# sourceMappingURL=/etc/passwd")`,
	} {
		res := run(t, p, newWorld(), code)
		if res.Status != StatusFailed || strings.Contains(fmt.Sprint(res.Err), "root:") {
			t.Errorf("%s: %s %s %v", code, res.Status, res.Value, res.Err)
		}
	}
}

// TestCancelEarly checks that a run can be cancelled at any moment, even at its
// start.
func TestCancelEarly(t *testing.T) {
	p := newPool(t, Limits{})
	slow := "return 1" + strings.Repeat("+1", 400_000) // slow to transpile
	for _, delay := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
		w := newWorld()
		r, err := p.Start(t.Context(), Script{Code: slow + ";\nfor (;;);"}, w, w)
		if err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(delay, func() { r.Cancel(nil) })
		res := r.Wait()
		timer.Stop()
		if res.Status != StatusCancelled {
			t.Errorf("after %v: %s %v", delay, res.Status, res.Err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := newWorld()
	r, err := p.Start(ctx, Script{Code: `return 1`}, w, w)
	if err != nil {
		t.Fatal(err)
	}
	if res := r.Wait(); res.Status != StatusCancelled {
		t.Errorf("a run whose context was over: %s", res.Status)
	}
}

// TestOperationsEndWithTheRun checks that a run that ends cancels its operations
// and waits for them.
func TestOperationsEndWithTheRun(t *testing.T) {
	p := newPool(t, Limits{})
	w := newWorld()
	var mu sync.Mutex
	under, most := 0, 0
	w.handlers["frame.click"] = func(ctx context.Context, _ json.RawMessage) (any, error) {
		mu.Lock()
		under++
		most = max(most, under)
		mu.Unlock()
		<-ctx.Done()
		mu.Lock()
		under--
		mu.Unlock()
		return nil, context.Cause(ctx)
	}
	res := run(t, p, w, `for (let i = 0; i < 500; i++) page.click('#a').catch(() => {}); await page.title(); return 1`)
	if res.Status != StatusSucceeded {
		t.Fatal(res.Err)
	}
	if under != 0 || most == 0 {
		t.Errorf("%d operations outlived their run, of %d", under, most)
	}
}

// TestFiftyRuns runs fifty scripts at once, each with its own worker: all
// succeed, none uses much memory, and their memory is returned.
func TestFiftyRuns(t *testing.T) {
	const runs = 50
	p := newPool(t, Limits{TurnTime: time.Minute}) // all start at once
	var wg sync.WaitGroup
	var here sync.WaitGroup // counts runs that have started, or ended before
	here.Add(runs)
	release := make(chan struct{})
	pids := make([]int, runs)
	for i := range runs {
		w := newWorld()
		arrived := sync.OnceFunc(here.Done)
		w.handlers["frame.title"] = func(ctx context.Context, _ json.RawMessage) (any, error) {
			arrived()
			select {
			case <-release:
				return map[string]any{"value": fmt.Sprint("title ", i)}, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		r, err := p.Start(t.Context(), Script{Code: `return await page.title()`}, w, w)
		if err != nil {
			t.Fatal(err)
		}
		pids[i] = r.proc.cmd.Process.Pid
		wg.Go(func() {
			defer arrived()
			if res := r.Wait(); string(res.Value) != fmt.Sprintf(`"title %d"`, i) {
				t.Errorf("run %d: %s %s %v", i, res.Status, res.Value, res.Err)
			}
		})
	}
	here.Wait()
	var total int64
	for _, pid := range pids {
		total += proportional(t, pid)
	}
	close(release)
	wg.Wait()
	each := total / runs
	t.Logf("%.1f MB each", float64(each)/1e6)
	if each > workerBudget && !worker.RaceEnabled {
		t.Errorf("a worker takes %.1f MB of its own, at most %d MB", float64(each)/1e6, workerBudget/1_000_000)
	}
	for _, pid := range pids {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
			t.Errorf("worker %d is still there", pid)
		}
	}
}

// workerBudget is how many bytes of memory of its own a run may use.
const workerBudget = 25_000_000

// proportional returns the memory of a process. Memory that it shares with others
// is divided among them.
func proportional(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "Pss: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	t.Fatalf("no Pss in %s", text)
	return 0
}
