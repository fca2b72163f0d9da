package browser

import (
	"context"
	"errors"
	"fmt"
	"sync"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
	"takeover/cdp/policy"
)

// Kind is the kind of a frame's world.
type Kind uint8

const (
	// WorldMain is the world of the page's own scripts.
	WorldMain Kind = iota

	// WorldUtility is our own isolated world: it has the same DOM, but globals
	// and prototypes that the page's scripts cannot touch.
	WorldUtility

	worldKinds = iota
)

// World is the execution context of one document or worker, and ends with it. All
// methods may be called from any goroutine.
type World struct {
	frame      *Frame  // nil for a worker's
	worker     *Worker // nil for a frame's
	kind       Kind
	attachment *attachment
	id         runtime.ExecutionContextID
	uniqueID   string
	generation uint64
	destroyed  chan struct{}

	mu     sync.Mutex // guards values
	values map[any]*worldValue
}

// worldValue is the value of one key in a world.
type worldValue struct {
	made chan struct{} // closed when the other fields are set
	v    any
	err  error
}

// World returns the execution context of the frame's current document. It waits
// if there is none, and while the frame navigates, because Chromium then holds
// back commands for the frame (RenderFrameDevToolsAgentHost suspends its
// sessions), and the document may be gone afterwards.
func (f *Frame) World(ctx context.Context, kind Kind) (*World, error) {
	var w *World
	err := f.page.browser.await(ctx, func() (bool, error) {
		if err := f.goneLocked(); err != nil {
			return false, err
		}
		w = f.worlds[kind]
		return w != nil && !f.attachment.suspendedLocked(), nil
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// CurrentWorld returns the execution context that World would return, or nil if
// World would wait.
func (f *Frame) CurrentWorld(kind Kind) *World {
	f.page.browser.lockTold()
	defer f.page.browser.mu.Unlock()
	if f.goneLocked() != nil || f.attachment.suspendedLocked() {
		return nil
	}
	return f.worlds[kind]
}

// suspendedLocked reports whether Chromium holds back the session's commands
// because its topmost frame navigates.
func (a *attachment) suspendedLocked() bool {
	root := a.page.frames[a.root]
	if root == nil {
		return false
	}
	at := root.newestAttemptLocked()
	return at != nil && !at.ended
}

// Page returns the world's page, or nil for a service worker's world.
func (w *World) Page() *Page {
	if w.frame != nil {
		return w.frame.page
	}
	return w.worker.page
}

// Frame returns the frame of the document, or nil for a worker's world.
func (w *World) Frame() *Frame { return w.frame }

// Kind returns whether this is the main or the utility world.
func (w *World) Kind() Kind { return w.kind }

// Session returns the session in which ContextID and the world's object ids are
// valid.
func (w *World) Session() *cdp.Session { return w.attachment.session }

// ContextID returns the id of the execution context within its session.
func (w *World) ContextID() runtime.ExecutionContextID { return w.id }

// UniqueID returns the id of the execution context, which is never reused.
func (w *World) UniqueID() string { return w.uniqueID }

// Generation returns a number that is higher for worlds that were made later.
func (w *World) Generation() uint64 { return w.generation }

// Destroyed returns a channel that is closed when the world is gone.
func (w *World) Destroyed() <-chan struct{} { return w.destroyed }

// CallOptions describe a call for World.Call.
type CallOptions struct {
	Function     string                  // a function's source, such as "(a, b) => a + b"
	Object       runtime.RemoteObjectID  // becomes this; default: the global object
	Args         []*runtime.CallArgument // object ids must be of the same world
	ByValue      bool                    // return JSON, not a reference
	AwaitPromise bool                    // wait for a returned promise and return its value
	UserGesture  bool                    // run with user activation
}

// Call calls a function in the world and returns its result. It costs one round
// trip, and returns after subscribers got everything that Chromium reported
// before the result. The error is a *ScriptError when the function threw,
// ErrContextDestroyed when the document is gone (with ErrPageClosed,
// ErrPageCrashed or ErrFrameDetached if that is the reason), a *cdp.Error when
// Chromium refused the call, or the cause of ctx.
func (w *World) Call(ctx context.Context, o CallOptions) (*runtime.RemoteObject, error) {
	params := w.functionCall(o)
	method := runtime.CallFunctionOn.Method
	raw, err := w.attachment.browser.callUnless(ctx, w.Session(), method, params, w.destroyed, ErrContextDestroyed)
	if err != nil {
		return nil, w.explain(ctx, err)
	}
	var res runtime.CallFunctionOnResult
	if err := jsonv2.Unmarshal(raw, &res, jsonv2.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("%s: decode result: %w", method, err)
	}
	if res.ExceptionDetails != nil {
		return nil, newScriptError(res.ExceptionDetails)
	}
	return res.Result, nil
}

// functionCall holds the parameters of Runtime.callFunctionOn. cdproto's type
// would lose empty arguments, because it omits values that are "", [], {} or
// null.
type functionCall struct {
	Function        string                 `json:"functionDeclaration"`
	ObjectID        runtime.RemoteObjectID `json:"objectId,omitzero"`
	UniqueContextID string                 `json:"uniqueContextId,omitzero"`
	Arguments       []functionArgument     `json:"arguments,omitzero"`
	ReturnByValue   bool                   `json:"returnByValue,omitzero"`
	AwaitPromise    bool                   `json:"awaitPromise,omitzero"`
	UserGesture     bool                   `json:"userGesture,omitzero"`
}

type functionArgument struct {
	Value               jsonv2.Value                `json:"value,omitzero"`
	UnserializableValue runtime.UnserializableValue `json:"unserializableValue,omitzero"`
	ObjectID            runtime.RemoteObjectID      `json:"objectId,omitzero"`
}

func (w *World) functionCall(o CallOptions) functionCall {
	c := functionCall{
		Function: o.Function, ObjectID: o.Object,
		ReturnByValue: o.ByValue, AwaitPromise: o.AwaitPromise, UserGesture: o.UserGesture,
	}
	if o.Object == "" {
		c.UniqueContextID = w.uniqueID
	}
	if len(o.Args) > 0 {
		c.Arguments = make([]functionArgument, len(o.Args))
		for i, a := range o.Args {
			c.Arguments[i] = functionArgument(*a)
		}
	}
	return c
}

// explain adds the reason why the world is gone to an error, if it is gone.
func (w *World) explain(ctx context.Context, err error) error {
	if !errors.Is(err, ErrContextDestroyed) {
		if !isContextGone(err) {
			return err
		}
		err = fmt.Errorf("%w: %w", ErrContextDestroyed, err)
		if w.frame != nil { // Chromium reports the frame's removal only after it has refused the call
			p := w.frame.page
			_, _ = Call(ctx, p.browser, p.Session(), page.Enable, page.EnableParams{}) // the code below reports what is gone
		}
	}
	if gone := w.gone(); gone != nil {
		return fmt.Errorf("%w: %w", gone, err)
	}
	return err
}

// Err returns why calls on the world fail: ErrContextDestroyed, or the reason why
// no other world will replace it. It is nil while the world exists.
func (w *World) Err() error {
	select {
	case <-w.destroyed:
	default:
		return nil
	}
	if gone := w.gone(); gone != nil {
		return gone
	}
	return ErrContextDestroyed
}

// gone returns why the frame or worker of the world is gone, or nil.
func (w *World) gone() error {
	if w.frame != nil {
		return w.frame.gone()
	}
	w.worker.browser.lockTold()
	defer w.worker.browser.mu.Unlock()
	if w.worker.gone {
		return ErrPageClosed
	}
	return nil
}

// Value returns the value that create makes for key in this world. The first
// caller creates it while others wait. An error is not remembered.
func (w *World) Value(key any, create func() (any, error)) (any, error) {
	w.mu.Lock()
	value := w.values[key]
	if value != nil {
		w.mu.Unlock()
		<-value.made
		return value.v, value.err
	}
	value = &worldValue{made: newSignal(), err: ErrContextDestroyed} // keep the error if create panics
	if w.values == nil {
		w.values = map[any]*worldValue{}
	}
	w.values[key] = value
	w.mu.Unlock()
	defer func() {
		if value.err != nil {
			w.mu.Lock()
			delete(w.values, key)
			w.mu.Unlock()
		}
		close(value.made)
	}()
	value.v, value.err = create()
	return value.v, value.err
}

func newSignal() chan struct{} { return make(chan struct{}) }

// contextData is the content of Chromium's auxData for an execution context.
type contextData struct {
	IsDefault bool          `json:"isDefault"`
	Type      string        `json:"type"` // "default", "isolated" or "worker"
	FrameID   proto.FrameID `json:"frameId"`
}

// worldCreatedLocked handles a new execution context, if it is a worker's or one
// of a frame's two worlds. Other clients create worlds, too.
func (a *attachment) worldCreatedLocked(e runtime.EventExecutionContextCreated) {
	if a.worker != nil {
		a.browser.generation++
		a.worker.worldLocked(&World{
			worker: a.worker, attachment: a, id: e.Context.ID, uniqueID: e.Context.UniqueID,
			generation: a.browser.generation, destroyed: newSignal(),
		})
		return
	}
	var data contextData
	if jsonv2.Unmarshal(e.Context.AuxData, &data) != nil {
		return
	}
	a.contexts[e.Context.UniqueID] = executionContext{e.Context.ID, e.Context.Name, data.Type == "isolated" && policy.ReservedName(e.Context.Name)}
	f := a.page.frames[data.FrameID]
	if f == nil {
		return
	}
	kind := WorldMain
	switch {
	case data.IsDefault:
	case data.Type == "isolated" && e.Context.Name == a.browser.utilityName:
		kind = WorldUtility
	default:
		return
	}
	a.browser.generation++
	w := &World{
		frame: f, kind: kind, attachment: a,
		id: e.Context.ID, uniqueID: e.Context.UniqueID, generation: a.browser.generation,
		destroyed: newSignal(),
	}
	a.worlds[w.uniqueID] = w
	f.worlds[kind] = w
	if f == f.page.main && f.lifecycle&LifecycleDOMContentLoaded != 0 {
		f.page.watchHeadLocked() // for a document that existed before the model
	}
}

func (a *attachment) worldDestroyedLocked(e runtime.EventExecutionContextDestroyed) {
	delete(a.contexts, e.ExecutionContextUniqueID)
	if w := a.worlds[e.ExecutionContextUniqueID]; w != nil {
		w.destroyLocked()
	}
}

func (a *attachment) worldsClearedLocked(runtime.EventExecutionContextsCleared) {
	a.destroyWorldsLocked()
}

func (a *attachment) destroyWorldsLocked() {
	clear(a.contexts)
	for _, w := range a.worlds {
		w.destroyLocked()
	}
}

func (f *Frame) destroyWorldsLocked() {
	for _, w := range f.worlds {
		if w != nil {
			w.destroyLocked()
		}
	}
}

func (w *World) destroyLocked() {
	if w.attachment.worlds[w.uniqueID] != w {
		return
	}
	delete(w.attachment.worlds, w.uniqueID)
	if w.frame != nil && w.frame.worlds[w.kind] == w {
		w.frame.worlds[w.kind] = nil
	}
	w.attachment.browser.signalLocked(w.destroyed)
}
