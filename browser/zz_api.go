package browser

import (
	"context"
	"log/slog"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/cdp"
)

// Options says how the model sets up every page. A nil Options and the zero
// value of each field mean its default.
type Options struct {
	Viewport     *Viewport         // of every page; default: what the window has
	UserAgent    string            // default: Chromium's own
	Locale       string            // BCP 47, such as "de-DE"; default: Chromium's own
	Timezone     string            // IANA name; default: the machine's
	ExtraHeaders map[string]string // sent with every request of every page
	Logger       *slog.Logger      // default: discard
}

// Viewport is the size of a page, in CSS pixels.
type Viewport struct {
	Width, Height     int
	DeviceScaleFactor float64 // default 1
	IsMobile          bool    // meta viewport tag, overlay scrollbars
	HasTouch          bool
}

// Browser is the model of one Chromium. All methods may be called from any
// goroutine.
type Browser struct{}

// Attach attaches a client of its own to the browser, picks up the pages that
// exist, and keeps the model until Close or the connection's end. ctx bounds the
// attaching only.
func Attach(ctx context.Context, conn *cdp.Conn, o *Options) (*Browser, error) { panic("soon") }

// Version is the product and its version, such as "Chrome/156.0.7900.0".
func (b *Browser) Version() string { panic("soon") }

// UserAgent is Chromium's own user agent.
func (b *Browser) UserAgent() string { panic("soon") }

// Contexts are the open contexts, the default one first.
func (b *Browser) Contexts() []*Context { panic("soon") }

// DefaultContext is the context of the profile folder.
func (b *Browser) DefaultContext() *Context { panic("soon") }

// ContextOptions are a new context's own settings. A zero field takes the
// browser's.
type ContextOptions struct {
	Viewport     *Viewport
	UserAgent    string
	Locale       string
	Timezone     string
	ExtraHeaders map[string]string
	ProxyServer  string // such as "http://127.0.0.1:3128"; default: the browser's
}

// NewContext opens an incognito context, which shares no cookies or storage
// with others.
func (b *Browser) NewContext(ctx context.Context, o ContextOptions) (*Context, error) { panic("soon") }

// Pages are the open pages of all contexts, the oldest first.
func (b *Browser) Pages() []*Page { panic("soon") }

// Page is the open page of a target, or nil.
func (b *Browser) Page(id target.ID) *Page { panic("soon") }

// Done is closed when the model has ended and its goroutine with it.
func (b *Browser) Done() <-chan struct{} { panic("soon") }

// Close ends the model and detaches its client. The browser and its pages live on.
func (b *Browser) Close() error { panic("soon") }

// Subscribe calls fn for every event from now on, one after the other, on the
// model's goroutine: fn must not wait for anything of the model. cancel may be
// called by anybody; fn is not called after it returned, except when it is
// called within fn or while fn runs.
func (b *Browser) Subscribe(fn func(Event)) (cancel func()) { panic("soon") }

// Do runs fn on the model's goroutine, between two events, and returns when it
// has run: within fn the model does not change. It also is the way to know that
// everything received so far was told to the subscribers. fn must not wait for
// anything of the model. It returns ErrBrowserClosed or ctx's cause when fn will
// not run.
func (b *Browser) Do(ctx context.Context, fn func()) error { panic("soon") }

// Call is cdp.Call for a session of the model, but returns only when the model
// has taken in, and told its subscribers, everything that Chromium sent before
// the reply. A navigation that the command caused and that Chromium told first
// is then known.
func Call[P, R any](ctx context.Context, b *Browser, s *cdp.Session, c proto.Command[P, R], params P) (R, error) {
	panic("soon")
}

// Context is a browser context: cookies, storage and permissions of its own.
type Context struct{}

// ID is Chromium's id of the context.
func (c *Context) ID() string { panic("soon") }

// Browser is the browser the context belongs to.
func (c *Context) Browser() *Browser { panic("soon") }

// Pages are the context's open pages, the oldest first.
func (c *Context) Pages() []*Page { panic("soon") }

// NewPage opens a page at about:blank and returns when it is set up.
func (c *Context) NewPage(ctx context.Context) (*Page, error) { panic("soon") }

// Close closes the context and its pages, without asking their beforeunload
// handlers. The default context cannot go; only its pages are closed.
func (c *Context) Close(ctx context.Context) error { panic("soon") }

// Page is a tab. All methods may be called from any goroutine.
type Page struct{}

// ID is the id of the page's target.
func (p *Page) ID() target.ID { panic("soon") }

// Browser is the browser the page belongs to.
func (p *Page) Browser() *Browser { panic("soon") }

// Context is the context the page belongs to.
func (p *Page) Context() *Context { panic("soon") }

// Opener is the page that opened this one, or nil. It may be closed.
func (p *Page) Opener() *Page { panic("soon") }

// MainFrame is the page's top frame, the same one for all of the page's life.
func (p *Page) MainFrame() *Frame { panic("soon") }

// Frames are all frames, parents before their children, the main frame first.
func (p *Page) Frames() []*Frame { panic("soon") }

// Frame is the frame with an id, or nil.
func (p *Page) Frame(id proto.FrameID) *Frame { panic("soon") }

// Session is the session of the page's own target.
func (p *Page) Session() *cdp.Session { panic("soon") }

// URL is the main frame's URL, with its fragment.
func (p *Page) URL() string { panic("soon") }

// Title is the title as the tab shows it: a page without one has its URL.
func (p *Page) Title() string { panic("soon") }

// Favicon is the URL of the icon that the document names, or empty.
func (p *Page) Favicon() string { panic("soon") }

// Loading says whether the main frame or one of its children is loading.
func (p *Page) Loading() bool { panic("soon") }

// Crashed says whether the page's renderer is dead.
func (p *Page) Crashed() bool { panic("soon") }

// Closed is closed when the page is gone.
func (p *Page) Closed() <-chan struct{} { panic("soon") }

// Dialog is the JavaScript dialog that halts the page, or nil.
func (p *Page) Dialog() *Dialog { panic("soon") }

// Viewport is the viewport that was set, or the zero value when none was.
func (p *Page) Viewport() Viewport { panic("soon") }

// SetViewport changes the page's size and returns when Chromium has done it.
func (p *Page) SetViewport(ctx context.Context, v Viewport) error { panic("soon") }

// Close closes the page without asking its beforeunload handlers and returns
// when it is gone. Closing a closed page is no error.
func (p *Page) Close(ctx context.Context) error { panic("soon") }

// RequestClose closes the page as a person would: beforeunload handlers run and
// may open a dialog. It does not wait for the page to be gone; see Closed.
func (p *Page) RequestClose(ctx context.Context) error { panic("soon") }

// Activate brings the page to the front of its window.
func (p *Page) Activate(ctx context.Context) error { panic("soon") }

// StopLoading stops what the page is loading.
func (p *Page) StopLoading(ctx context.Context) error { panic("soon") }

// Reload loads the main frame's document again and waits as Frame.Navigate does.
func (p *Page) Reload(ctx context.Context, o NavigateOptions) (*Navigation, error) { panic("soon") }

// GoBack goes to the previous entry of the page's history and waits as
// Frame.Navigate does. It returns nil without an error when there is none.
func (p *Page) GoBack(ctx context.Context, o NavigateOptions) (*Navigation, error) { panic("soon") }

// GoForward is GoBack in the other direction.
func (p *Page) GoForward(ctx context.Context, o NavigateOptions) (*Navigation, error) { panic("soon") }

// WatchNavigations begins to note what an action sets off: navigations of the
// page's frames, and popups.
//
//	watch := page.WatchNavigations()
//	defer watch.Close()
//	… click …
//	err := watch.Wait(ctx)
func (p *Page) WatchNavigations() *NavigationWatch { panic("soon") }

// NavigationWatch is what an action set off since Page.WatchNavigations.
type NavigationWatch struct{}

// Wait waits until every navigation that began since the watch did has
// committed, has failed, gave way to another, or lost its frame, and every popup
// is set up. It returns nil then, whatever became of them, and at once when
// nothing began, or when a dialog halts the page. One round trip to the page
// makes sure that what the action had set off is known. The error is
// ErrPageClosed, ErrPageCrashed or ctx's cause.
func (w *NavigationWatch) Wait(ctx context.Context) error { panic("soon") }

// Close ends the watch.
func (w *NavigationWatch) Close() { panic("soon") }

// Frame is a DOM frame. It stays the same when its document moves to another
// process. All methods may be called from any goroutine.
type Frame struct{}

// ID is Chromium's id of the frame.
func (f *Frame) ID() proto.FrameID { panic("soon") }

// Page is the page the frame belongs to.
func (f *Frame) Page() *Page { panic("soon") }

// Parent is the frame that contains this one, or nil for the main frame.
func (f *Frame) Parent() *Frame { panic("soon") }

// Children are the frames directly within, in the order they were attached.
func (f *Frame) Children() []*Frame { panic("soon") }

// URL is the current document's URL with its fragment; empty for a frame whose
// first document has not been told of yet.
func (f *Frame) URL() string { panic("soon") }

// Name is the frame's name: its element's name or id attribute, or window.name.
func (f *Frame) Name() string { panic("soon") }

// LoaderID is the id of the load that brought the current document.
func (f *Frame) LoaderID() proto.LoaderID { panic("soon") }

// Session is the session of the process that has the frame at the moment.
// Commands about the frame go there.
func (f *Frame) Session() *cdp.Session { panic("soon") }

// Detached says whether the frame is gone, or its page.
func (f *Frame) Detached() bool { panic("soon") }

// Lifecycle is the set that the current document has reached.
func (f *Frame) Lifecycle() Lifecycle { panic("soon") }

// WaitForLifecycle waits until the current document, or the one that takes its
// place meanwhile, has reached l. LifecycleCommit is reached by every document.
func (f *Frame) WaitForLifecycle(ctx context.Context, l Lifecycle) error { panic("soon") }

// Navigate navigates the frame and waits until the new document has reached
// o.WaitUntil. A navigation within the document (another fragment) returns as
// soon as it is done. The error is a *NavigationError, ErrFrameDetached,
// ErrPageClosed, ErrPageCrashed, or ctx's cause.
func (f *Frame) Navigate(ctx context.Context, url string, o NavigateOptions) (*Navigation, error) {
	panic("soon")
}

// NavigateOptions says how to navigate.
type NavigateOptions struct {
	Referrer  string    // default: none; Reload, GoBack and GoForward do not use it
	WaitUntil Lifecycle // one of the four; default LifecycleLoad
}

// Navigation is a navigation that brought its document.
type Navigation struct {
	LoaderID     proto.LoaderID // unchanged when SameDocument
	URL          string         // after redirects, with fragment
	SameDocument bool
	Response     *Response // nil when nothing was fetched (about:blank, same document, …)
}

// Response is the answer that brought a document.
type Response struct {
	URL        string // after redirects, without fragment
	Status     int    // such as 200
	StatusText string
	Headers    map[string]string // names in lower case; several values of one are separated by newlines
	MimeType   string
	FromCache  bool     // from disk cache or a service worker, not the network
	Redirects  []string // the URLs that led here, the first one first
	RequestID  string   // for Network.getResponseBody on the frame's session
	RemoteIP   string
	RemotePort int
	Protocol   string // such as "http/1.1" or "h2"
}

// Lifecycle is a set of the points that a document reaches.
type Lifecycle uint8

const (
	// LifecycleCommit is reached when the response has begun and the document is
	// the frame's current one.
	LifecycleCommit Lifecycle = 1 << iota

	// LifecycleDOMContentLoaded is reached when the document is parsed.
	LifecycleDOMContentLoaded

	// LifecycleLoad is reached when the document and everything it named in its
	// markup, child frames included, has loaded.
	LifecycleLoad

	// LifecycleNetworkIdle is reached when the frame and the frames within it
	// have had no request under way for NetworkIdleTime.
	LifecycleNetworkIdle
)

// Kind says which of a frame's worlds is meant.
type Kind uint8

const (
	// WorldMain is the one in which the page's own scripts run.
	WorldMain Kind = iota

	// WorldUtility is an isolated one of ours: the same DOM, but globals and
	// prototypes that the page's scripts cannot touch.
	WorldUtility
)

// World returns the execution context of the frame's current document; it waits
// for it when there is none at the moment.
func (f *Frame) World(ctx context.Context, kind Kind) (*World, error) { panic("soon") }

// World is the execution context of one document. It is gone with its document.
type World struct{}

// Frame is the frame whose document it is.
func (w *World) Frame() *Frame { panic("soon") }

// Kind says whether it is the main or the utility world.
func (w *World) Kind() Kind { panic("soon") }

// Session is the session that ContextID and object ids of the world belong to.
func (w *World) Session() *cdp.Session { panic("soon") }

// ContextID is the execution context's id within its session.
func (w *World) ContextID() runtime.ExecutionContextID { panic("soon") }

// UniqueID is the execution context's id, which is never used again.
func (w *World) UniqueID() string { panic("soon") }

// Generation counts the worlds of the browser: a later one has a greater number.
func (w *World) Generation() uint64 { panic("soon") }

// Destroyed is closed when the world is gone.
func (w *World) Destroyed() <-chan struct{} { panic("soon") }

// CallOptions are what World.Call calls.
type CallOptions struct {
	Function     string                  // a function's source, such as "(a, b) => a + b"
	Object       runtime.RemoteObjectID  // becomes this; default: the global object
	Args         []*runtime.CallArgument // object ids must be of the same world
	ByValue      bool                    // return JSON, not a reference
	AwaitPromise bool                    // wait for a returned promise and return its value
	UserGesture  bool                    // run as if a person had caused it
}

// Call calls a function in the world and returns its result. It costs one round
// trip. The error is a *ScriptError when the function threw, ErrContextDestroyed
// when the document is gone, a *cdp.Error for a refusal, or ctx's cause.
func (w *World) Call(ctx context.Context, o CallOptions) (*runtime.RemoteObject, error) {
	panic("soon")
}

// Value returns what make made for key in this world; it is made once for each
// world, by the first who asks, while the others wait. An error is not kept.
func (w *World) Value(key any, make func() (any, error)) (any, error) { panic("soon") }

// Dialog is an open JavaScript dialog. All methods may be called from any
// goroutine.
type Dialog struct{}

// Page is the page that the dialog halts.
func (d *Dialog) Page() *Page { panic("soon") }

// Type is "alert", "confirm", "prompt" or "beforeunload".
func (d *Dialog) Type() string { panic("soon") }

// Message is the text of the dialog; hostile, as all that comes from a page.
func (d *Dialog) Message() string { panic("soon") }

// DefaultValue is what a prompt offers.
func (d *Dialog) DefaultValue() string { panic("soon") }

// Accept answers with OK; text is what a prompt returns. It returns
// ErrDialogClosed when somebody was faster.
func (d *Dialog) Accept(ctx context.Context, text string) error { panic("soon") }

// Dismiss answers with Cancel. It returns ErrDialogClosed when somebody was faster.
func (d *Dialog) Dismiss(ctx context.Context) error { panic("soon") }
