package automation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"takeover/browser"
)

// initOperations are the operations of this file.
var initOperations = table{
	// {} → {browser:{name,version}, context:{id}, pages:[pageInit],
	// workers:[workerInit], activePage}; events are sent from then on.
	"init":       op(false, opInit),
	"activePage": op(false, opActivePage), // {} → {page} that people see, or empty
}

// pageInit describes a page to a client.
type pageInit struct {
	ID        string      `json:"id"`
	Context   string      `json:"context"`
	MainFrame frameInit   `json:"mainFrame"`
	Frames    []frameInit `json:"frames"` // all others, parents first
	Opener    string      `json:"opener,omitempty"`
	Viewport  *viewport   `json:"viewport,omitempty"`
}

// frameInit describes a frame to a client.
type frameInit struct {
	ID     string   `json:"id"`
	Parent string   `json:"parent,omitempty"`
	URL    string   `json:"url"`
	Name   string   `json:"name"`
	States []string `json:"loadStates"` // reached: commit domcontentloaded load networkidle
}

type viewport struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

type browserInit struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type contextInit struct {
	ID string `json:"id"`
}

type clientInit struct {
	Browser    browserInit  `json:"browser"`
	Context    contextInit  `json:"context"`
	Pages      []pageInit   `json:"pages"`
	Workers    []workerInit `json:"workers"`
	ActivePage string       `json:"activePage,omitempty"`
}

// opInit returns the present state. Events are sent from exactly that state on.
func opInit(ctx context.Context, c *Client, _ *struct{}) (any, error) {
	b := c.automation.browser
	init := clientInit{Browser: c.describeBrowser(), Pages: []pageInit{}}
	var seen []*browser.Page
	err := b.Do(ctx, func() {
		init.Context.ID = c.idOf("context", c.options.Context)
		for _, p := range b.Pages() {
			if c.sees(p) {
				init.Pages = append(init.Pages, c.describe(p))
				seen = append(seen, p)
			}
		}
		init.Workers = c.describeWorkers(seen)
		c.events.begin(b.HearConsole)
	})
	if err != nil {
		return nil, err
	}
	init.ActivePage = c.activePage()
	if init.ActivePage == "" && len(init.Pages) > 0 {
		init.ActivePage = init.Pages[len(init.Pages)-1].ID
	}
	return init, nil
}

// activePage returns the client's name for the page that people see, or empty if
// the client does not know that page.
func (c *Client) activePage() string {
	if c.options.ActivePage == nil {
		return ""
	}
	p := c.options.ActivePage()
	if p == nil || !c.sees(p) {
		return ""
	}
	return c.idOf("page", p)
}

// opActivePage returns the page that people see, after the event that announces
// the page.
func opActivePage(ctx context.Context, c *Client, _ *struct{}) (any, error) {
	id := c.activePage()
	if err := c.automation.browser.Do(ctx, func() {}); err != nil {
		return nil, err
	}
	return map[string]string{"page": id}, nil
}

func (c *Client) describeBrowser() browserInit {
	name, version, _ := strings.Cut(c.automation.browser.Version(), "/")
	if version == "" {
		version = name
	}
	return browserInit{Name: "chromium", Version: version}
}

func (c *Client) describe(p *browser.Page) pageInit {
	init := pageInit{
		ID:      c.idOf("page", p),
		Context: c.idOf("context", p.Context()),
		Frames:  []frameInit{},
	}
	if opener := p.Opener(); opener != nil && c.sees(opener) {
		init.Opener = c.idOf("page", opener)
	}
	if v := p.Viewport(); v.Width != 0 {
		init.Viewport = &viewport{Width: v.Width, Height: v.Height}
	}
	for _, f := range p.Frames() {
		if f == p.MainFrame() {
			init.MainFrame = c.describeFrame(f)
		} else {
			init.Frames = append(init.Frames, c.describeFrame(f))
		}
	}
	return init
}

func (c *Client) describeFrame(f *browser.Frame) frameInit {
	init := frameInit{ID: c.idOf("frame", f), URL: f.URL(), Name: f.Name(), States: stateNames(f.Lifecycle())}
	if parent := f.Parent(); parent != nil {
		init.Parent = c.idOf("frame", parent)
	}
	return init
}

// lifecycles maps Playwright's names to stages of a document.
var lifecycles = []struct {
	bit  browser.Lifecycle
	name string
}{
	{browser.LifecycleCommit, "commit"},
	{browser.LifecycleDOMContentLoaded, "domcontentloaded"},
	{browser.LifecycleLoad, "load"},
	{browser.LifecycleNetworkIdle, "networkidle"},
}

func stateNames(set browser.Lifecycle) []string {
	names := []string{}
	for _, l := range lifecycles {
		if set&l.bit != 0 {
			names = append(names, l.name)
		}
	}
	return names
}

// lifecycleOf parses a waitUntil or state option; empty means load.
func lifecycleOf(option, value string) (browser.Lifecycle, error) {
	if value == "" {
		value = "load"
	}
	if value == "networkidle0" { // Playwright accepts it, too
		value = "networkidle"
	}
	i := slices.IndexFunc(lifecycles, func(l struct {
		bit  browser.Lifecycle
		name string
	}) bool {
		return l.name == value
	})
	if i < 0 {
		return 0, errorf("%s: expected one of (load|domcontentloaded|networkidle|commit)", option)
	}
	return lifecycles[i].bit, nil
}

// tellOfCrash tells the client that a page's renderer has died. A client that waits for
// a person is told when it does not wait any more, if the page is still crashed then.
func (c *Client) tellOfCrash(p *browser.Page) {
	tell := func() { c.emit("page.crashed", map[string]any{"page": c.idOf("page", p)}) }
	if !c.options.Waits() {
		tell()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.calls.Go(func() {
		if c.options.AwaitControl(c.life, nil) == nil && p.Crashed() {
			tell()
		}
	})
}

// mayRevive reports whether an operation failed because a frame's page has crashed, and
// a person may load it again or has done so.
func (c *Client) mayRevive(err error, frame string) bool {
	if !errors.Is(err, browser.ErrPageCrashed) {
		return false
	}
	f, gone := c.frame(frame)
	return gone == nil && (!f.Page().Crashed() || c.options.Waits())
}

// observe reports events to the client. It runs on the model's goroutine.
func (c *Client) observe(ev browser.Event) {
	c.recordings.Observe(ev)
	switch ev := ev.(type) {
	case browser.PageCreated:
		if c.drives(ev.Page) {
			c.emit("page.created", c.describe(ev.Page))
		}
	case browser.PageClosed:
		if c.drives(ev.Page) {
			c.emit("page.closed", map[string]any{"page": c.idOf("page", ev.Page), "reason": ev.Page.Reason()})
		}
		c.dropPage(ev.Page)
	case browser.PageCrashed:
		if c.drives(ev.Page) {
			c.tellOfCrash(ev.Page)
		}
	case browser.FrameAttached:
		f := ev.Frame
		if c.drives(f.Page()) {
			attached := map[string]any{"page": c.idOf("page", f.Page()), "frame": c.idOf("frame", f), "name": f.Name(), "url": f.URL()}
			if parent := f.Parent(); parent != nil {
				attached["parent"] = c.idOf("frame", parent)
			}
			c.emit("frame.attached", attached)
		}
	case browser.FrameDetached:
		if c.drives(ev.Frame.Page()) {
			c.emit("frame.detached", map[string]any{"frame": c.idOf("frame", ev.Frame)})
		}
		c.forget(ev.Frame)
	case browser.FrameNavigated:
		c.navigated(ev)
	case browser.LifecycleChanged:
		if c.drives(ev.Frame.Page()) {
			for _, name := range stateNames(ev.Removed) {
				c.emit("frame.loadstate", map[string]any{"frame": c.idOf("frame", ev.Frame), "remove": name})
			}
			for _, name := range stateNames(ev.Added) {
				c.emit("frame.loadstate", map[string]any{"frame": c.idOf("frame", ev.Frame), "add": name})
			}
		}
	case browser.DialogClosed:
		if p := ev.Dialog.Page(); c.drives(p) && (c.hears(p, eventDialog) || c.hears(p, eventDialogAlone)) {
			c.emit("dialog.closed", map[string]any{"page": c.idOf("page", p)})
		}
		c.forget(ev.Dialog)
	case browser.WebSocketOpened, browser.WebSocketFrame, browser.WebSocketFailed, browser.WebSocketClosed:
		c.observeSocket(ev)
	case browser.RequestSent:
		c.observeNetwork(eventRequest, ev.Request)
	case browser.ResponseReceived:
		c.observeNetwork(eventResponse, ev.Response.Request)
	case browser.RequestFinished:
		c.observeNetwork(eventRequestFinished, ev.Request)
	case browser.RequestFailed:
		c.observeNetwork(eventRequestFailed, ev.Request)
	default:
		c.observePage(ev)
	}
}

func (c *Client) navigated(ev browser.FrameNavigated) {
	if !c.drives(ev.Frame.Page()) {
		return
	}
	navigated := map[string]any{"frame": c.idOf("frame", ev.Frame), "url": ev.URL, "name": ev.Name, "newDocument": !ev.SameDocument}
	if ev.Err != nil {
		navigated["error"] = ev.Err.Error()
		if n, ok := errors.AsType[*browser.NavigationError](ev.Err); ok {
			navigated["error"] = failedMessage(n)
		}
	}
	if ev.Response != nil {
		navigated["request"] = c.describeRequest(ev.Response.Request)
	}
	c.emit("frame.navigated", navigated)
	if !ev.SameDocument && ev.Err == nil && ev.Frame == ev.Frame.Page().MainFrame() {
		c.events.navigated(ev.Frame.Page())
	}
}

// dropPage forgets a closed page, its frames and the handles in it.
func (c *Client) dropPage(p *browser.Page) {
	c.hands.drop(p)
	c.events.drop(p)
	c.hooks.drop(p)
	c.network.takeRoutes(p)
	c.handles.dropPage(p)
}

func (c *Client) emit(event string, params any) {
	raw, err := json.Marshal(params)
	if err != nil {
		c.automation.log.Error("encode event", "event", event, "error", err)
		return
	}
	c.options.Emit(event, raw)
}

// offerDialog reports a dialog to a listening client, and returns whether it
// listens.
func (c *Client) offerDialog(d *browser.Dialog) bool {
	listens := c.hears(d.Page(), eventDialog) || c.hears(d.Page(), eventDialogAlone) && c.options.Alone()
	if listens {
		c.emit("dialog.opened", map[string]any{
			"dialog": c.idOf("dialog", d), "page": c.idOf("page", d.Page()),
			"type": d.Type(), "message": d.Message(), "defaultValue": d.DefaultValue(),
		})
	}
	return listens
}
