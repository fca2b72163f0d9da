package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"takeover/automation/recording"
	"takeover/browser"
	"takeover/fetch"
)

var errClientClosed = errors.New("automation client closed")

// maxKept bounds, in bytes, the parameters that operations keep until the client
// ends.
const maxKept = 128 << 20

// keepsParameters lists the operations that keep their parameters.
var keepsParameters = map[string]bool{
	"addInitScript": true, "expose": true, "selectors.register": true, "api.newContext": true, "browser.newContext": true,
	"page.addLocatorHandler": true,
}

// ClientOptions connect a client with its owner. The zero value of each field is
// its default.
type ClientOptions struct {
	// AwaitControl blocks until the client may change the page, and returns an error when
	// it will never be allowed to. It is called before each operation that
	// writes, before an operation that waited for its element changes anything,
	// and before each key and mouse movement. When the context has already ended,
	// it does not block but reports whether it would. caller is the operation's
	// Call.Caller, or nil.
	AwaitControl func(ctx context.Context, caller any) error

	// Waits reports whether what writes waits for a person now. Operations that look
	// for an element then outlive the crash of their page, which the person may load
	// again, and the client is told of the crash only if the person has left the page
	// crashed. Default: reports false.
	Waits func() bool

	// Alone reports whether no other program acts in the session, and no person.
	// Default: reports false.
	Alone func() bool

	// Veil blocks while a page shows something that must not appear in a picture.
	// It is called before each screenshot and PDF.
	Veil func(ctx context.Context, p *browser.Page) error

	// Hide removes what people typed into secret fields from the contents of a
	// file. JSON stays valid JSON. Default: removes nothing.
	Hide func([]byte) []byte

	// AwaitRest waits until a page has come to rest. Default: waits until ctx
	// ends, and returns its cause.
	AwaitRest func(ctx context.Context, p *browser.Page) error

	// Emit gets the client's events in order, each before the reply of the
	// operation that caused it. It is called on the model's goroutine, or for an
	// event of a CDP session on the connection's read loop, and must not block.
	// No events come before the init operation.
	Emit func(event string, params json.RawMessage)

	// Context is the context whose pages the client sees, besides the pages that
	// it opens. Default: the browser's default context.
	Context *browser.Context

	// ActivePage returns the page that people see, or nil; scripts get it as
	// their page. Default: the newest one. It is called on the goroutines of
	// operations.
	ActivePage func() *browser.Page
}

// Client is one user of the automation, for example a script's run. Its six parts
// are in separate files named client*.go. All methods may be called from any
// goroutine.
type Client struct {
	automation *Automation
	options    ClientOptions
	life       context.Context // ended by Close
	stop       context.CancelCauseFunc
	bindingKey string // only the client and its page side know it
	calls      sync.WaitGroup
	large      chan struct{} // held while a large reply is being made

	// Each part has its own lock. No lock is held while a part is called.
	handles    clientHandles         // names of objects and JavaScript values
	hands      clientHands           // keys and buttons that are down
	network    clientNetwork         // requests and routes
	recordings *recording.Recordings // HAR files and traces
	hooks      clientHooks           // scripts and functions added to pages
	events     clientEvents          // events for the client

	mu       sync.Mutex // guards what follows; never held across I/O
	closed   bool
	kept     int // bytes of kept parameters
	contexts map[*browser.Context]bool
	proxies  map[*browser.Context]*fetch.Proxy // of its contexts that have one
	own      []*browser.Context
	undos    undoList
	cdp      *ownSessions      // nil until first used
	tracing  *performanceTrace // nil while none is recorded
}

// NewClient makes a client. End it with Close.
func (a *Automation) NewClient(o ClientOptions) *Client {
	if o.AwaitRest == nil {
		o.AwaitRest = func(ctx context.Context, _ *browser.Page) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
	}
	if o.Hide == nil {
		o.Hide = func(b []byte) []byte { return b }
	}
	if o.Veil == nil {
		o.Veil = func(context.Context, *browser.Page) error { return nil }
	}
	if o.AwaitControl == nil {
		o.AwaitControl = func(context.Context, any) error { return nil }
	}
	if o.Waits == nil {
		o.Waits = func() bool { return false }
	}
	if o.Alone == nil {
		o.Alone = func() bool { return false }
	}
	if o.Emit == nil {
		o.Emit = func(string, json.RawMessage) {}
	}
	if o.Context == nil {
		o.Context = a.browser.DefaultContext()
	}
	c := &Client{
		automation: a, options: o, bindingKey: newBindingKey(), large: make(chan struct{}, 1),
		handles: newClientHandles(), hands: newClientHands(), network: newClientNetwork(), hooks: newClientHooks(), events: newClientEvents(),
		contexts: map[*browser.Context]bool{o.Context: true}, proxies: map[*browser.Context]*fetch.Proxy{},
	}
	c.recordings = recording.New(recordingHost{c})
	c.life, c.stop = context.WithCancelCause(a.life)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		c.closed = true
		c.stop(errClientClosed)
		return c
	}
	a.clients[c] = struct{}{}
	return c
}

// Call is one operation to run.
type Call struct {
	Name   string
	Params json.RawMessage

	// Started is called when the operation begins. One that writes begins after it has
	// passed AwaitControl; one that is refused before that does not begin. Default: nothing.
	Started func() error

	// Caller is what AwaitControl gets. Default: nil.
	Caller any
}

// running is what the context of an operation that runs carries.
type running struct {
	caller   any
	progress *progress // its newest; nil until it begins
}

// runningKey finds the operation that runs.
type runningKey struct{}

// runningIn returns the operation that a context belongs to, or nil.
func runningIn(ctx context.Context) *running {
	r, _ := ctx.Value(runningKey{}).(*running)
	return r
}

// awaitControl waits until the operation that a context belongs to may change the page.
func (c *Client) awaitControl(ctx context.Context) error {
	if r := runningIn(ctx); r != nil {
		return c.options.AwaitControl(ctx, r.caller)
	}
	return c.options.AwaitControl(ctx, nil)
}

// Do runs one operation. The error is an *Error; its name is "TimeoutError" if
// the operation's own timeout ended it.
func (c *Client) Do(ctx context.Context, call Call) (json.RawMessage, error) {
	name, params := call.Name, call.Params
	o, ok := c.automation.operations[name]
	if !ok {
		return nil, errorf("unknown operation %q", name)
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, explain(errClientClosed, nil)
	}
	if keepsParameters[name] {
		c.kept += len(params)
	}
	full := c.kept > maxKept
	if !full {
		c.calls.Add(1)
	}
	c.mu.Unlock()
	if full {
		return nil, errorf("the init scripts, functions and contexts of this run take more than %d bytes", maxKept)
	}
	defer c.calls.Done()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })()
	now := &running{caller: call.Caller}
	ctx = context.WithValue(ctx, runningKey{}, now)
	params, traced := c.traceCall(params)
	if traced != nil {
		defer func() { traced(now.progress) }()
	}
	if o.waits(params) {
		if err := c.awaitControl(ctx); err != nil {
			return nil, explain(err, nil)
		}
	}
	if call.Started != nil {
		if err := call.Started(); err != nil {
			return nil, explain(err, nil)
		}
	}
	value, err := c.carryOut(ctx, name, o, params)
	if err != nil {
		return nil, explain(err, nil)
	}
	if raw, ok := value.(json.RawMessage); ok {
		return raw, nil
	}
	out, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("%s: encode result: %w", name, err)
	}
	return out, nil
}

// carryOut runs an operation. A panic, which unexpected parameters may cause,
// fails the operation but not the server.
func (c *Client) carryOut(ctx context.Context, name string, o operation, params json.RawMessage) (value any, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			c.automation.log.Error("an operation panicked", "operation", name, "fault", fault, "stack", string(debug.Stack()))
			value, err = nil, errorf("internal error in %s", name)
		}
	}()
	return o.do(ctx, c, params)
}

// lockLarge waits until no other large reply of the client is being made. unlock
// lets the next one proceed.
func (c *Client) lockLarge(ctx context.Context) (unlock func(), err error) {
	select {
	case c.large <- struct{}{}:
		return func() { <-c.large }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ended is a context that has ended.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// mayWrite reports whether the operation that a context belongs to may change the page
// now. If it cannot tell, it returns false.
func (c *Client) mayWrite(ctx context.Context) bool {
	var caller any
	if r := runningIn(ctx); r != nil {
		caller = r.caller
	}
	return c.options.AwaitControl(ended, caller) == nil
}

// Close cancels running operations and waits for them, releases keys and buttons,
// and releases the client's handles and contexts.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop(errClientClosed)
	c.calls.Wait()

	a := c.automation
	a.mu.Lock()
	_, open := a.clients[c]
	delete(a.clients, c)
	if open {
		a.work.Add(1)
	}
	a.mu.Unlock()
	if !open {
		return
	}
	defer a.work.Done()

	objects := c.handles.close()
	if unhear := c.events.close(); unhear != nil {
		unhear()
	}
	if api := c.network.close(); api != nil {
		api.client.Close()
	}
	for _, s := range c.hands.close() {
		s.releaseAll()
	}
	var sessions []*ownSession
	for _, o := range objects {
		switch o := o.(type) {
		case *handle:
			o.release()
		case *ownSession:
			sessions = append(sessions, o)
		}
	}
	c.mu.Lock()
	own, undos, cdp := c.own, c.undos, c.cdp
	c.own, c.undos, c.cdp = nil, undoList{}, nil
	c.mu.Unlock()
	if cdp != nil {
		cdp.close(a, sessions)
	}
	c.dropTrace(a.life, nil)
	undos.undoAll(a)
	for _, bc := range own {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.life), closeTimeout)
		if err := bc.Close(ctx); err != nil && !errors.Is(err, browser.ErrBrowserClosed) && !errors.Is(err, browser.ErrContextClosed) {
			a.log.Warn("close a client's context", "error", err)
		}
		cancel()
	}
	a.grants.forget(c)
}

// idOf returns the client's name for an object of the browser model. An object
// without a name gets one.
func (c *Client) idOf(kind string, object any) string { return c.handles.idOf(kind, object) }

// forget drops an object's name. Operations with the name fail from then on.
func (c *Client) forget(object any) { c.handles.forget(object) }

func lookup[T any](c *Client, kind, id string) (T, error) {
	object, closed := c.handles.find(id)
	o, ok := object.(T)
	if ok {
		return o, nil
	}
	switch kind {
	case "page", "context", "handle":
		return o, &Error{Name: nameTargetClosed, Message: textTargetClosed}
	case "frame":
		if closed {
			return o, &Error{Name: nameTargetClosed, Message: textTargetClosed}
		}
		return o, errorf(textDetached)
	case "traffic":
		return o, errorf(textCollected)
	}
	return o, errorf("no such %s: %q", kind, id)
}

func (c *Client) page(id string) (*browser.Page, error) { return lookup[*browser.Page](c, "page", id) }
func (c *Client) frame(id string) (*browser.Frame, error) {
	return lookup[*browser.Frame](c, "frame", id)
}
func (c *Client) handle(id string) (*handle, error) { return lookup[*handle](c, "handle", id) }

// sees reports whether a page is in one of the client's contexts.
func (c *Client) sees(p *browser.Page) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed && c.contexts[p.Context()]
}

// drives reports whether the client has begun to work with a page.
func (c *Client) drives(p *browser.Page) bool {
	return c.events.begun() && c.sees(p)
}

// PageID returns the client's name for a page, for operations.
func (c *Client) PageID(p *browser.Page) string { return c.idOf("page", p) }

// FrameID returns the client's name for a frame, for operations.
func (c *Client) FrameID(f *browser.Frame) string { return c.idOf("frame", f) }
