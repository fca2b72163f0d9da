package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"takeover/automation"
	"takeover/browser"
	"takeover/control"
	"takeover/limits"
)

// maxPrograms bounds the programs that are open in a session at once.
const maxPrograms = 200

// ErrProgramClosed is returned by methods of a Program after its Close.
var ErrProgramClosed = errors.New("the program has left the session")

// ProgramOptions are the options of a Program. The zero value of each field is
// its default.
type ProgramOptions struct {
	// Emit gets the events of the program's pages, in order, each before the reply
	// of the operation that caused it. The client is the one to which the names
	// in the event belong. Emit must not block. Default: drops events.
	Emit func(c *Client, event string, params json.RawMessage)

	// Lasting says that the program stays open although it may never call again, as
	// one of MCP: between its calls, the session may hibernate.
	Lasting bool

	late bool // the owner calls init itself, when it can take events
}

// Program is a program that acts in a session from outside, beside the session's
// script and other programs. Its operations go through Session.do: those that
// write wait, in order, while a person is in control. It outlives the session's
// Chromium: after a crash, Client returns a client of the next one. All methods
// may be called from any goroutine.
type Program struct {
	session *Session
	holder  control.Holder
	opts    ProgramOptions
	queue   control.Queue
	ctx     context.Context // ended by Close
	close   context.CancelCauseFunc
	calls   sync.WaitGroup

	attaching chan struct{} // held while a client is made
	hears     atomic.Bool   // its CDP client hears what pages ask people
	let       func()        // releases what its CDP client holds down; nil for a program without one

	mu     sync.Mutex // guards what follows; never held across I/O
	client *Client    // of the newest Chromium; nil until first used
	closed bool
}

// programs are a session's open programs.
type programs struct {
	resuming resuming // after a person has taken control

	mu   sync.Mutex // guards open
	open map[control.Holder]*Program
}

// OpenProgram lets a program act in a session under a name, which is unique in the
// session and not that of a person or of the script. Close ends it.
func OpenProgram(s *Session, name control.Holder, o ProgramOptions) (*Program, error) {
	return openProgram(s, name, o, nil)
}

// openProgram does the same for a program whose CDP client releases what it holds
// down when let is called. let may be nil, and must not block.
func openProgram(s *Session, name control.Holder, o ProgramOptions, let func()) (*Program, error) {
	if name.Kind != control.KindClient || name.ID == "" {
		return nil, fmt.Errorf("%q is not the name of a client", name)
	}
	if o.Emit == nil {
		o.Emit = func(*Client, string, json.RawMessage) {}
	}
	p := &Program{session: s, holder: name, opts: o, let: let, attaching: make(chan struct{}, 1)}
	p.ctx, p.close = context.WithCancelCause(s.ctx)
	if err := s.programs.add(p); err != nil {
		p.close(nil)
		return nil, err
	}
	s.Touch()
	return p, nil
}

func (l *programs) add(p *Program) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := p.session.life.alive(); err != nil {
		return err
	}
	if l.open[p.holder] != nil {
		return fmt.Errorf("a program named %s is already open", p.holder)
	}
	if len(l.open) >= maxPrograms {
		p.session.hit(limits.Programs)
		return fmt.Errorf("%w programs: a session has at most %d", ErrTooMany, maxPrograms)
	}
	if l.open == nil {
		l.open = map[control.Holder]*Program{}
	}
	l.open[p.holder] = p
	return nil
}

func (l *programs) remove(p *Program) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, p.holder)
}

// need reports whether a program is open that needs the browser also between its calls.
func (l *programs) need() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.open {
		if !p.opts.Lasting {
			return true
		}
	}
	return false
}

// has reports whether the program with a name is open.
func (l *programs) has(name control.Holder) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[name] != nil
}

// hearing reports whether a program's CDP client hears what pages ask people.
func (l *programs) hearing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.open {
		if p.hears.Load() {
			return true
		}
	}
	return false
}

// releaseInput releases what programs hold down, because a person takes control.
func (l *programs) releaseInput() {
	l.mu.Lock()
	var clients []*Client
	var raw []func()
	for _, p := range l.open {
		if c := p.current(); c != nil {
			clients = append(clients, c)
		}
		if p.let != nil {
			raw = append(raw, p.let)
		}
	}
	l.mu.Unlock()
	for _, let := range raw {
		let()
	}
	for _, c := range clients {
		c.actor.client.ReleaseInput()
	}
}

// Session returns the session in which the program acts.
func (p *Program) Session() *Session { return p.session }

// Name returns the name under which the program holds control.
func (p *Program) Name() control.Holder { return p.holder }

// Close ends the program: it cancels its operations, waits for them, cancels its
// takeover, and ends its share of control. Closing it again has no effect.
func (p *Program) Close() {
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.mu.Unlock()
	if closed {
		return
	}
	p.close(ErrProgramClosed)
	p.session.programs.remove(p)
	p.calls.Wait() // also for a RequestTakeover that opens one just now
	if t := p.session.openTakeover(); t != nil && t.program == p.holder {
		_ = t.Cancel(p.holder.String()) // it may have just ended
	}
	if c := p.current(); c != nil {
		c.actor.client.Close()
		p.mu.Lock()
		p.client = nil // it holds all that the browser's model knows
		p.mu.Unlock()
	}
	p.session.control.Release(p.holder)
}

// current returns the newest client, or nil.
func (p *Program) current() *Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.client
}

// begin registers work for which Close waits. It returns a context that Close also
// ends.
func (p *Program) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, ErrProgramClosed
	}
	p.calls.Add(1)
	called := p.session.gestures.call()
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.ctx, func() { cancel(context.Cause(p.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
		called()
		p.calls.Done()
	}, nil
}

// Client returns the program's client of the session's present Chromium. After a
// crash, it waits for the next Chromium. The error is an *EndedError if the
// session is over.
func (p *Program) Client(ctx context.Context) (*Client, error) {
	ctx, done, err := p.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s := p.session
	for {
		if err := s.life.alive(); err != nil {
			return nil, err
		}
		wake(s)
		eng, changed := s.tabs.serving()
		if eng != nil && !isClosed(eng.proc.Done()) && eng.proc.Conn().Err() == nil {
			c, err := p.attach(ctx, eng)
			if err == nil || ctx.Err() != nil || eng.proc.Conn().Err() == nil {
				return c, err
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if err := s.life.alive(); err != nil {
				return nil, err
			}
			return nil, context.Cause(ctx)
		}
	}
}

// attach returns the client of a Chromium, and makes it at the first call.
func (p *Program) attach(ctx context.Context, eng *engine) (*Client, error) {
	select {
	case p.attaching <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-p.attaching }()
	last := p.current()
	if last != nil && last.engine == eng {
		return last, nil
	}
	if last != nil {
		last.actor.client.Close()
	}
	c := &Client{program: p, engine: eng}
	c.actor = p.session.newActor(eng, p.holder, func(event string, params json.RawMessage) { p.opts.Emit(c, event, params) })
	if !p.opts.late {
		if err := c.begin(ctx); err != nil {
			c.actor.client.Close()
			return nil, err
		}
	}
	p.mu.Lock()
	p.client = c
	p.mu.Unlock()
	return c, nil
}

// begin makes the client drive the pages, so that dialogs do not wait for people
// who are not there, and sends events from then on.
func (c *Client) begin(ctx context.Context) error {
	_, err := c.program.session.do(ctx, actor{client: c.actor.client}, Operation{Name: "init", Raw: true})
	return err
}

// AwaitTurn waits until no person is in control, or asked for. It is for callers
// that choose what to act on only then, such as the tab that people see: a person may
// have closed the one before.
func (p *Program) AwaitTurn(ctx context.Context) error {
	ctx, done, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return p.session.control.Explain(p.session.control.AwaitNobody(ctx))
}

// RequestTakeover asks for a person. Until the takeover ends, operations of
// programs that write wait. Its Info then says how it ended. The caller may
// withdraw it with Cancel.
func (p *Program) RequestTakeover(o TakeoverOptions) (*Takeover, error) {
	_, done, err := p.begin(context.Background())
	if err != nil {
		return nil, err
	}
	defer done()
	if o.RequestedBy == "" {
		o.RequestedBy = p.holder.String()
	}
	o.RunID, o.program = "", p.holder
	return p.session.RequestTakeover(o)
}

// Hide removes what people typed into secret fields from a text that a door answers. The
// results of Do do not have it.
func (p *Program) Hide(text string) string { return p.session.monitor.Redactor().Values(text) }

// Tabs returns the session's tabs, and the number of the one that people see, or
// 0.
func (p *Program) Tabs() (tabs []Tab, shown uint32) {
	tabs, shown = p.session.tabs.list()
	tabs = slices.Clone(tabs)
	hide := p.session.monitor.Redactor().Text
	for i := range tabs {
		tabs[i].URL, tabs[i].Title = hide(tabs[i].URL), hide(tabs[i].Title)
	}
	return tabs, shown
}

// Client is a program's client of one Chromium. The names of pages, frames and
// handles in its operations are valid for this client only. All methods may be
// called from any goroutine.
type Client struct {
	program *Program
	engine  *engine
	actor   actor
}

// Gone returns a channel that is closed when the client's Chromium has ended.
func (c *Client) Gone() <-chan struct{} { return c.engine.proc.Done() }

// answersRoute begins the names of operations that answer a page's requests, which is no
// work of the program's.
const answersRoute = "route."

// Do runs an operation. One that writes waits until the program may act, for as long as
// ctx allows, in the order of the calls.
func (c *Client) Do(ctx context.Context, op Operation) (json.RawMessage, error) {
	p := c.program
	if op.ticket == nil {
		op.ticket = p.queue.Ticket(len(op.Params))
	}
	defer op.ticket.Leave()
	op.ticket.Begin()
	ctx, done, err := p.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if !strings.HasPrefix(op.Name, answersRoute) {
		p.session.gestures.work()
	}
	return p.session.do(ctx, c.actor, op)
}

// PageNames are the names of a tab's page and of its main frame in operations.
type PageNames struct {
	Tab         uint32
	Page, Frame string
}

// Page returns the names of a tab's page. Tab 0 stands for the one that people
// see. The error is ErrNotFound if there is no such tab.
func (c *Client) Page(tab uint32) (PageNames, error) {
	g := c.program.session.tabs
	if tab == 0 {
		shown, _, ok := g.active()
		if !ok {
			return PageNames{}, fmt.Errorf("%w: the session has no tab", ErrNotFound)
		}
		tab = shown.Tab
	}
	page, _ := g.page(tab)
	if page == nil || g.browser() != c.engine {
		return PageNames{}, fmt.Errorf("%w: there is no tab %d", ErrNotFound, tab)
	}
	return PageNames{Tab: tab, Page: c.actor.client.PageID(page), Frame: c.actor.client.FrameID(page.MainFrame())}, nil
}

// Show makes a tab the one that people see, and the meaning of tab 0.
func (c *Client) Show(ctx context.Context, tab uint32) error {
	names, err := c.Page(tab)
	if err != nil {
		return err
	}
	return c.call(ctx, "page.bringToFront", map[string]string{"page": names.Page}, nil)
}

// OpenTab opens an empty tab, and shows it.
func (c *Client) OpenTab(ctx context.Context) (PageNames, error) {
	var opened struct{ Page string }
	if err := c.call(ctx, "context.newPage", map[string]string{}, &opened); err != nil {
		return PageNames{}, err
	}
	if err := c.engine.model.Do(ctx, func() {}); err != nil { // until the page has its tab
		return PageNames{}, err
	}
	tabs, _ := c.program.session.tabs.list()
	for _, t := range tabs {
		if names, err := c.Page(t.Tab); err == nil && names.Page == opened.Page {
			return names, c.Show(ctx, names.Tab)
		}
	}
	return PageNames{}, fmt.Errorf("%w: the tab has closed", ErrNotFound)
}

// CloseTab closes a tab. The last one is replaced by an empty tab, because people
// would see nothing in a browser without tabs.
func (c *Client) CloseTab(ctx context.Context, tab uint32) error {
	names, err := c.Page(tab)
	if err != nil {
		return err
	}
	if _, only := c.program.session.tabs.page(names.Tab); only {
		if _, err := c.OpenTab(ctx); err != nil {
			return err
		}
	}
	return c.call(ctx, "page.close", map[string]string{"page": names.Page}, nil)
}

// call runs an operation with parameters that are not yet JSON, and decodes its
// result unless into is nil.
func (c *Client) call(ctx context.Context, operation string, params, into any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	result, err := c.Do(ctx, Operation{Name: operation, Params: raw})
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(result, into)
}

// Transient reports whether an operation failed because its time was up, or because
// its page or frame went away meanwhile, so that it may succeed if it is tried
// again. It returns false if the page may have received a press or a key of the
// operation: another try could do it twice.
func Transient(err error) bool {
	if e, ok := errors.AsType[*automation.Error](err); ok && e.Acted {
		return false
	}
	var named interface{ ErrorName() string }
	if errors.As(err, &named) && (named.ErrorName() == "TimeoutError" || named.ErrorName() == "TargetClosedError") {
		return true
	}
	return errors.Is(err, browser.ErrFrameDetached) || errors.Is(err, browser.ErrContextDestroyed) || errors.Is(err, browser.ErrPageClosed)
}
