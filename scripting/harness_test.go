package scripting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"takeover/scripting/workertest"
)

// world answers operations like a browser with one empty page. In these tests, it
// replaces everything outside this package.
type world struct {
	handlers map[string]func(ctx context.Context, params json.RawMessage) (any, error)

	mu    sync.Mutex // guards what follows
	calls []call
	logs  []Log
	steps []Step
	tests []Test
}

type call struct {
	op     string
	params json.RawMessage
}

func newWorld() *world {
	return &world{handlers: map[string]func(context.Context, json.RawMessage) (any, error){}}
}

// answer sets a fixed answer for an operation.
func (w *world) answer(op string, value any) *world {
	w.handlers[op] = func(context.Context, json.RawMessage) (any, error) { return value, nil }
	return w
}

func (w *world) Begin(op string, params json.RawMessage) func(context.Context) (json.RawMessage, error) {
	return func(ctx context.Context) (json.RawMessage, error) { return w.call(ctx, op, params) }
}

func (w *world) call(ctx context.Context, op string, params json.RawMessage) (json.RawMessage, error) {
	if op == "init" {
		return json.RawMessage(workertest.InitAnswer), nil
	}
	w.mu.Lock()
	w.calls = append(w.calls, call{op, params})
	w.mu.Unlock()
	h := w.handlers[op]
	if h == nil {
		return json.RawMessage(`{}`), nil
	}
	v, err := h(ctx, params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func (w *world) Log(l Log) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logs = append(w.logs, l)
}

func (w *world) Step(s Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, s)
}

func (w *world) Begun(Step) {}

func (w *world) Test(t Test) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tests = append(w.tests, t)
}

// logged returns the text of all log lines.
func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, l := range w.logs {
		fmt.Fprintf(&b, "%s: %s\n", l.Level, l.Text)
	}
	return b.String()
}

// last returns the parameters of the last call of an operation.
func (w *world) last(t *testing.T, op string) map[string]any {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := len(w.calls) - 1; i >= 0; i-- {
		if w.calls[i].op == op {
			var m map[string]any
			if err := json.Unmarshal(w.calls[i].params, &m); err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	t.Fatalf("%s was not called; called were %v", op, w.calls)
	return nil
}

// namedError is an operation's error with a name and fields.
type namedError struct {
	name, message string
	fields        map[string]any
}

func (e *namedError) Error() string               { return e.message }
func (e *namedError) ErrorName() string           { return e.name }
func (e *namedError) ErrorFields() map[string]any { return e.fields }

// newPool returns a pool that is closed when the test ends.
func newPool(t testing.TB, limits Limits) *Pool {
	t.Helper()
	if !built() {
		t.Skip("the script API is not built: run make generate")
	}
	p := NewPool(PoolOptions{Executable: workertest.Command(Subcommand), Limits: limits})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// run runs a script and waits for its result.
func run(t testing.TB, p *Pool, w *world, code string) Result {
	t.Helper()
	r, err := p.Start(t.Context(), Script{Code: code, Filename: "script.ts"}, w, w)
	if err != nil {
		var refused *ScriptError
		if errors.As(err, &refused) {
			return Result{Status: StatusFailed, Err: refused}
		}
		t.Fatal(err)
	}
	return r.Wait()
}

// mustSucceed runs a script that must succeed and returns its result.
func mustSucceed(t testing.TB, p *Pool, w *world, code string) string {
	t.Helper()
	res := run(t, p, w, code)
	if res.Status != StatusSucceeded {
		t.Fatalf("status %s: %+v\nlogs: %s", res.Status, res.Err, w.logged())
	}
	return string(res.Value)
}
