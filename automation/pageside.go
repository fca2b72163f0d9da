package automation

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
	"takeover/cdp"
)

// Built by automation/page/build.mjs.
//
//go:embed all:dist
var dist embed.FS

// scripts are the sources of the page side, assembled once.
var scripts = sync.OnceValues(func() (s struct{ injected, layer, evaluator, binding, clock, drag, follow, yaml, storage, websockets, sockets string }, err error) {
	for _, f := range []struct {
		name string
		into *string
	}{{"injected", &s.injected}, {"layer", &s.layer}, {"evaluator", &s.evaluator}, {"binding", &s.binding}, {"clock", &s.clock}, {"drag", &s.drag}, {"follow", &s.follow}, {"yaml", &s.yaml}, {"storage", &s.storage}, {"websockets", &s.websockets}, {"sockets", &s.sockets}} {
		b, e := dist.ReadFile("dist/" + f.name + ".js")
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%w (%w)", ErrNotBuilt, e))
		}
		*f.into = string(b)
	}
	return s, err
})

// Notices returns the licences and notices of third-party parts in a built
// binary: Playwright's injected script and the YAML library. They are empty in a
// binary without them.
func Notices() string {
	var b strings.Builder
	for _, name := range []string{"NOTICE.playwright.txt", "LICENSE.playwright.txt", "LICENSE.yaml.txt"} {
		if text, err := dist.ReadFile("dist/" + name); err == nil {
			b.Write(text)
			b.WriteString("\n")
		}
	}
	return b.String()
}

// evaluatorURL identifies our own frames in the stack of a script's error.
const evaluatorURL = "evaluator"

// layer is the page side in one world.
type layer struct {
	world  *browser.World
	object runtime.RemoteObjectID
}

type (
	layerKey     struct{ engines *engines }
	evaluatorKey struct{}
	yamlKey      struct{}
)

// lastTask is the number of the last operation on the page side.
var lastTask atomic.Int64

// layerOf returns the page side for elements. Clients with the same selector
// engines share it. The first call adds it to the world.
func (a *Automation) layerOf(ctx context.Context, w *browser.World, own *engines) (*layer, error) {
	return installed(ctx, w, layerKey{own}, func() (string, any, error) {
		s, err := scripts()
		options := map[string]any{
			"isUnderTest": false, "sdkLanguage": "javascript", "testIdAttributeName": a.options.TestIDAttribute,
			"stableRafCount": 1, "browserName": "chromium", "isUtilityWorld": w.Kind() == browser.WorldUtility, "customEngines": own.forPage(),
			"frameSeq": w.Frame().Seq(),
		}
		return "function(options){const module={exports:{}};{" + s.injected + "}\n" +
			"const injected=new (module.exports.InjectedScript())(globalThis,options);\n" +
			s.layer + "\nreturn new takeoverExports.Layer(injected)}\n//# sourceURL=" + evaluatorURL + "\n", options, err
	})
}

// evaluatorOf returns the page side for a script's functions.
func (a *Automation) evaluatorOf(ctx context.Context, w *browser.World) (*layer, error) {
	return installed(ctx, w, evaluatorKey{}, func() (string, any, error) {
		s, err := scripts()
		return "function(){" + s.evaluator + "\nreturn new takeoverExports.Evaluator()}\n//# sourceURL=" + evaluatorURL + "\n", nil, err
	})
}

// yamlOf returns the YAML library in a world. The page side parses ARIA snapshots
// with it.
func (a *Automation) yamlOf(ctx context.Context, w *browser.World) (*layer, error) {
	return installed(ctx, w, yamlKey{}, func() (string, any, error) {
		s, err := scripts()
		return "function(){" + s.yaml + "\nreturn takeoverExports}\n", nil, err
	})
}

func installed(ctx context.Context, w *browser.World, key any, source func() (string, any, error)) (*layer, error) {
	return inWorld(ctx, w, key, func() (*layer, error) {
		function, options, err := source()
		if err != nil {
			return nil, err
		}
		arg, err := json.Marshal(options)
		if err != nil {
			return nil, err
		}
		object, err := w.Call(ctx, browser.CallOptions{Function: function, Args: []*runtime.CallArgument{{Value: jsonv2.Value(arg)}}})
		if err != nil {
			return nil, fmt.Errorf("install page scripts: %w", err)
		}
		return &layer{world: w, object: object.ObjectID}, nil
	})
}

// slot is a value that is made once per world.
type slot[T any] struct {
	lock chan struct{} // held while the value is read or made
	made bool
	v    T
}

// inWorld returns the value that create makes for key in a world. While create
// runs, other callers wait for it, as long as their own ctx allows. If create
// fails, the next caller tries again.
func inWorld[T any](ctx context.Context, w *browser.World, key any, create func() (T, error)) (T, error) {
	var zero T
	held, err := w.Value(key, func() (any, error) { return &slot[T]{lock: make(chan struct{}, 1)}, nil })
	if err != nil {
		return zero, err
	}
	s := held.(*slot[T]) //nolint:forcetypeassert // the key is ours
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return zero, context.Cause(ctx)
	case <-w.Destroyed():
		return zero, browser.ErrContextDestroyed
	}
	defer func() { <-s.lock }()
	if s.made {
		return s.v, nil
	}
	v, err := create()
	if err != nil {
		return zero, err
	}
	s.v, s.made = v, true
	return v, nil
}

// callIn sends a command on a world's session. The model has processed everything
// before the reply when callIn returns.
func callIn[P, R any](ctx context.Context, w *browser.World, c proto.Command[P, R], params P) (R, error) {
	return browser.Call(ctx, w.Frame().Page().Browser(), w.Session(), c, params)
}

// arguments converts the arguments of a call: object ids to objects, everything
// else to JSON.
func arguments(args ...any) ([]*runtime.CallArgument, error) {
	out := make([]*runtime.CallArgument, 0, len(args))
	for _, a := range args {
		if id, ok := a.(runtime.RemoteObjectID); ok {
			if id == "" {
				out = append(out, &runtime.CallArgument{})
			} else {
				out = append(out, &runtime.CallArgument{ObjectID: id})
			}
			continue
		}
		raw, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		out = append(out, &runtime.CallArgument{Value: jsonv2.Value(raw)})
	}
	return out, nil
}

// call calls a method of the layer and decodes the result into out, which may be
// nil.
func (l *layer) call(ctx context.Context, method string, out any, args ...any) error {
	o, err := l.invoke(ctx, method, true, args...)
	if err != nil || out == nil || len(o.Value) == 0 {
		return err
	}
	if err := json.Unmarshal(o.Value, out); err != nil {
		return fmt.Errorf("%s: decode: %w", method, err)
	}
	return nil
}

// reference calls a method of the layer and returns its result by reference.
func (l *layer) reference(ctx context.Context, method string, args ...any) (*runtime.RemoteObject, error) {
	return l.invoke(ctx, method, false, args...)
}

func (l *layer) invoke(ctx context.Context, method string, byValue bool, args ...any) (*runtime.RemoteObject, error) {
	list, err := arguments(args...)
	if err != nil {
		return nil, err
	}
	return l.world.Call(ctx, browser.CallOptions{
		Function: "function(...a){return this." + method + "(...a)}",
		Object:   l.object, Args: list, ByValue: byValue, AwaitPromise: true, UserGesture: gestures[method],
	})
}

// gestures lists the methods that run with user activation, because they may
// trigger the page's own code. User activation makes a call up to a quarter
// slower.
var gestures = map[string]bool{
	"fill": true, "selectText": true, "selectOption": true, "focus": true, "blur": true, "dispatch": true, "setInputFiles": true, "setContent": true,
}

// post calls a method of the layer without waiting.
func (l *layer) post(method string) error {
	return cdp.Send(l.world.Session(), runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: "function(){this." + method + "()}", ObjectID: l.object,
	})
}

// reply is the answer of an operation on the page side.
type reply struct {
	Value   json.RawMessage `json:"value"`
	Log     []string        `json:"log"`
	Locator string          `json:"locator"`
	Expired bool            `json:"expired"`
	Error   string          `json:"error"`
	Fatal   bool            `json:"fatal"`
	Ready   bool            `json:"ready"` // the element is ready now but was not at once, so the server must be asked before the page is changed
	Attempt int             `json:"attempt"`
}

// run runs an operation on elements. When ctx ends before the page has answered,
// it tells the page to stop.
func (l *layer) run(ctx context.Context, method string, params *callParams, objects ...runtime.RemoteObjectID) (reply, error) {
	params.Task = lastTask.Add(1)
	args := []any{params}
	for _, o := range objects {
		args = append(args, o)
	}
	var out reply
	err := l.call(ctx, method, &out, args...)
	if err != nil && ctx.Err() != nil {
		l.abort(params.Task)
	}
	return out, err
}

// abort stops an operation on the page side, without waiting.
func (l *layer) abort(task int64) {
	_ = cdp.Send(l.world.Session(), runtime.CallFunctionOn, runtime.CallFunctionOnParams{ // if the page is gone, so is the operation
		FunctionDeclaration: "function(task){this.abort(task)}", ObjectID: l.object,
		Arguments: []*runtime.CallArgument{{Value: jsonv2.Value(milliseconds(float64(task)))}},
	})
}

// ownFrames removes our own frames from a stack.
func ownFrames(stack string) string {
	lines := strings.Split(stack, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "at ") && strings.Contains(line, evaluatorURL+":") {
			return strings.Join(lines[:i], "\n")
		}
	}
	return stack
}
