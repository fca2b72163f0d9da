package worker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"takeover/rawio"
	"takeover/scripting/source"
	"takeover/scripting/wire"
)

// A worker's own limits are lower than those that the server enforces, so that it
// fails in an orderly way before the server has to kill it.
const (
	workerStack     = 64 << 20 // bytes of one goroutine's stack
	workerGCPercent = 150      // at this value, most runs end before the first collection
	loadGCPercent   = 60       // used while the API is compiled, when a small heap matters
)

// maxJSONDepth is how deep encoding/json permits values to nest. It accepts all
// other JSON that goja writes.
const maxJSONDepth = 10_000

// apiName is the API's file name in stack frames.
const apiName = "takeover:api"

// Exit codes of a worker that could not start.
const (
	exitProtocol = 3
	exitConfine  = 4
	exitAPI      = 5
)

// Main is the main function of a worker process. It exchanges frames over stdin
// and stdout, and does not return. bundles is the script API: scripting.Bundles.
func Main(bundles fs.FS) {
	runtime.MemProfileRate = 0 // workers have no memory profile
	debug.SetGCPercent(-1)     // no collection while the API loads, except where module asks for it
	debug.SetMaxStack(workerStack)
	in := bufio.NewReaderSize(rawio.NewReader(polled(os.Stdin)), 64<<10)
	f, err := wire.Read(in)
	if err != nil || f.Kind != wire.KindSetup {
		os.Exit(exitProtocol)
	}
	var setup wire.Setup
	if err := json.Unmarshal(f.Payload, &setup); err != nil {
		os.Exit(exitProtocol)
	}
	debug.SetMemoryLimit(setup.Limits.Memory * 3 / 4)
	if err := confine(setup); err != nil {
		fmt.Fprintln(os.Stderr, "confine script worker:", err)
		os.Exit(exitConfine)
	}
	w := newWorker(setup.Limits, wire.NewWriter(rawio.NewWriter(polled(os.Stdout))), bundles)
	if err := w.load(); err != nil {
		fmt.Fprintln(os.Stderr, "load script API:", err)
		os.Exit(exitAPI)
	}
	// The first use of esbuild takes several ms longer than later ones.
	if _, _, refused := transpile("const warm: number = await 1", "warm.ts"); refused != nil {
		fmt.Fprintln(os.Stderr, "transpile:", refused)
		os.Exit(exitAPI)
	}
	debug.SetGCPercent(workerGCPercent)
	debug.FreeOSMemory()
	if err := w.out.Write(wire.Frame{Kind: wire.KindReady}, true); err != nil {
		os.Exit(exitProtocol)
	}
	go w.listen(in) // until the process ends
	w.loop.run()
	os.Exit(0)
}

// polled makes readers of a pipe wait in the runtime's poller instead of in a
// separate thread, which takes longer to wake.
func polled(pipe *os.File) *os.File {
	fd := pipe.Fd()
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return pipe
	}
	return os.NewFile(fd, pipe.Name())
}

// worker runs one script in its process. Unless noted otherwise, its fields
// belong to the loop's goroutine.
type worker struct {
	limits wire.Limits
	out    *wire.Writer // safe for concurrent use
	files  fs.FS        // the script API
	vm     *goja.Runtime
	loop   *loop
	host   *host

	loading bool // load is running

	// Of the running script: its file name, its original code, and the helpers
	// that precede it in the program.
	script, code, helpers string

	run, event goja.Callable // functions of the API
	serve      goja.Value    // the API's function that takes the place of a script's body
}

func newWorker(limits wire.Limits, out *wire.Writer, bundles fs.FS) *worker {
	w := &worker{limits: limits, out: out, files: bundles, vm: goja.New()}
	w.vm.SetMaxCallStackSize(limits.CallDepth)
	w.vm.SetParserOptions(parser.WithDisableSourceMaps) // eval must not read files
	w.loop = newLoop(w)
	w.host = newHost(w)
	return w
}

// commonBundles are the bundles in the folder extras that most scripts use. They
// are separate from api.js so that each is compiled in memory that the previous
// one has freed.
var commonBundles = []string{"expect", "runner"}

// load runs the API's bundle, which exports the functions that start a run and
// handle its events, and then the common bundles.
func (w *worker) load() error {
	w.loading = true
	defer func() { w.loading = false }()
	exports, err := w.module(w.file("api.js"))
	if err != nil {
		return err
	}
	for _, name := range commonBundles {
		if w.host.bundles[name], err = w.module(w.file(extra(name))); err != nil {
			return err
		}
	}
	for name, f := range map[string]*goja.Callable{"run": &w.run, "event": &w.event} {
		var ok bool
		if *f, ok = goja.AssertFunction(exports.Get(name)); !ok {
			return fmt.Errorf("the API's bundle exports no %s", name)
		}
	}
	w.serve = exports.Get("serve")
	return nil
}

// file returns the text of one of the API's files. It is empty if the file does
// not exist.
func (w *worker) file(name string) string {
	text, err := fs.ReadFile(w.files, name)
	if err != nil {
		return ""
	}
	return string(text)
}

// extra returns the file name of a bundle in the folder extras.
func extra(name string) string { return "extras/" + name + ".js" }

// module runs a bundle, which is a function that takes the host and returns the
// bundle's exports. While the worker loads, module collects garbage before and
// after compiling, because compiling leaves garbage of twice the program's size.
func (w *worker) module(code string) (*goja.Object, error) {
	tree, err := goja.Parse(apiName, code, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	if w.loading {
		debug.SetGCPercent(loadGCPercent)
		runtime.GC()
	}
	program, err := goja.CompileAST(tree, false)
	if err != nil {
		return nil, err
	}
	if w.loading {
		runtime.GC()
		debug.SetGCPercent(-1)
	}
	v, err := w.vm.RunProgram(program)
	if err != nil {
		return nil, err
	}
	f, ok := goja.AssertFunction(v)
	if !ok {
		return nil, errors.New("bundle is not a function")
	}
	v, err = f(goja.Undefined(), w.host.object)
	if err != nil {
		return nil, err
	}
	w.host.settles, _ = goja.AssertFunction(w.host.object.Get("settle"))
	return v.ToObject(w.vm), nil
}

// listen handles the server's frames. It ends the process when the server goes
// away.
func (w *worker) listen(in *bufio.Reader) {
	for {
		f, err := wire.Read(in)
		if err != nil {
			os.Exit(0)
		}
		switch f.Kind {
		case wire.KindRun:
			var s wire.Script
			if json.Unmarshal(f.Payload, &s) != nil {
				os.Exit(exitProtocol)
			}
			w.loop.post(func() { w.start(s) })
		case wire.KindAnswer:
			w.loop.post(func() { w.host.settle(f.ID, "", string(f.Payload)) })
		case wire.KindFailure:
			w.loop.post(func() { w.host.settle(f.ID, string(f.Payload), "") })
		case wire.KindEvent:
			w.loop.post(func() {
				w.enter(func() error {
					_, err := w.event(goja.Undefined(), w.vm.ToValue(f.Name), w.vm.ToValue(string(f.Payload)))
					return err
				})
			})
		case wire.KindInterrupt:
			w.vm.Interrupt(timeUp(f.Name))
			w.loop.post(func() { w.timeUp(f.Name, w.host.where()) })
		default:
			os.Exit(exitProtocol)
		}
	}
}

// start transpiles and runs the script.
func (w *worker) start(s wire.Script) {
	w.script, w.code = s.Filename, s.Code
	var main goja.Value
	if s.Serve {
		main = w.serve
	} else {
		main = w.compiled(s)
	}
	if main == nil {
		return
	}
	args := string(s.Args)
	if args == "" || args == "null" {
		args = "{}" // so that args.name is undefined instead of an error
	}
	w.enter(func() error {
		_, err := w.run(goja.Undefined(), main, w.vm.ToValue(args))
		return err
	})
}

// compiled returns the function that a script's program evaluates to, or nil if
// the script cannot run.
func (w *worker) compiled(s wire.Script) (main goja.Value) {
	w.enter(func() error {
		program, helpers, refused := transpile(s.Code, s.Filename)
		if refused != nil {
			w.end(wire.Result{Status: wire.StatusFailed, Err: refused})
			return nil
		}
		w.helpers = helpers
		var err error
		main, err = w.vm.RunProgram(program)
		return err
	})
	return main
}

// enter runs code that may enter JavaScript. It ends the run if that fails in a
// way that no script can catch.
func (w *worker) enter(f func() error) {
	w.loop.busy()
	defer w.loop.idle()
	defer func() {
		if p := recover(); p != nil {
			// The Go runtime refused what a built-in function requested, such as
			// a string longer than the memory.
			w.fail(&wire.ScriptError{Name: "RangeError", Message: fmt.Sprint("value is too large: ", p)})
		}
	}()
	err := f()
	var exception *goja.Exception
	if errors.As(err, &exception) { // thrown outside of promises, for example by a timer's function
		if unhandled, ok := goja.AssertFunction(w.host.object.Get("unhandled")); ok {
			_, err = unhandled(goja.Undefined(), exception.Value())
		}
	}
	var interrupted *goja.InterruptedError
	var overflow *goja.StackOverflowError
	switch {
	case err == nil:
	case errors.As(err, &interrupted):
		w.timeUp(fmt.Sprint(interrupted.Value()), interrupted.Stack())
	case errors.As(err, &overflow):
		w.fail(w.located(&wire.ScriptError{Name: "RangeError", Message: "Maximum call stack size exceeded"}, overflow.Stack()))
	case errors.As(err, &exception):
		w.uncaught(exception)
	default:
		w.fail(&wire.ScriptError{Name: "Error", Message: err.Error()})
	}
}

// uncaught passes the error of a callback to the API, which knows whether the
// error belongs to a test.
func (w *worker) uncaught(e *goja.Exception) {
	if f, ok := goja.AssertFunction(w.host.object.Get("unhandled")); ok {
		if _, err := f(goja.Undefined(), e.Value()); err == nil {
			return
		}
	}
	w.fail(w.located(&wire.ScriptError{Name: "Error", Message: e.Value().String()}, e.Stack()))
}

// timeUp is the reason why JavaScript was interrupted.
type timeUp string

// timeUp ends the run because its time is up.
func (w *worker) timeUp(message string, stack []goja.StackFrame) {
	w.end(wire.Result{Status: wire.StatusTimeout, Err: w.located(&wire.ScriptError{Name: "TimeoutError", Message: message}, stack)})
}

func (w *worker) fail(e *wire.ScriptError) { w.end(wire.Result{Status: wire.StatusFailed, Err: e}) }

// end reports how the run ended and ends the process.
func (w *worker) end(r wire.Result) {
	payload, err := encode(r)
	if err != nil {
		r.Value, r.Status = nil, wire.StatusFailed
		r.Err = &wire.ScriptError{Name: "RangeError", Message: fmt.Sprintf("the result is nested more than %d deep", maxJSONDepth)}
		payload, _ = encode(r)
	}
	_ = w.out.Write(wire.Frame{Kind: wire.KindEnd, Payload: payload}, true)
	os.Exit(0)
}

// encode does the same as json.Marshal, without escapes for HTML, so that a
// script's values stay unchanged.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// located sets an error's stack and position from frames.
func (w *worker) located(e *wire.ScriptError, frames []goja.StackFrame) *wire.ScriptError {
	lines := w.userFrames(frames, 20)
	e.Stack = e.Name + ": " + e.Message + lines
	e.Line, e.Column = position(lines, w.script)
	return e
}

// userFrames formats the frames that lie in the script. most is their maximum
// number.
func (w *worker) userFrames(frames []goja.StackFrame, most int) string {
	var b strings.Builder
	for i := range frames {
		f := &frames[i]
		p := f.Position()
		if f.SrcName() != w.script || p.Line == 0 {
			continue
		}
		if name := f.FuncName(); name == "<anonymous>" || name == source.MainName {
			fmt.Fprintf(&b, "\n    at %s:%d:%d", p.Filename, p.Line, p.Column)
		} else {
			fmt.Fprintf(&b, "\n    at %s (%s:%d:%d)", name, p.Filename, p.Line, p.Column)
		}
		if most--; most == 0 {
			break
		}
	}
	return b.String()
}
