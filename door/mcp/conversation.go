package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"takeover/door/page"
	"takeover/session"
)

const (
	// settleTime is how long an action may take to show its effect before its answer
	// is written.
	settleTime = 2 * time.Second
	// settleStart is how long a page gets to react to an action at all, if it has drawn by
	// then.
	settleStart = 60 * time.Millisecond
	// settleDrawing is how long an answer waits for the page to draw: a page that scrolls
	// learns of it then.
	settleDrawing = time.Second
	// blockedTime is how long an action may go on after a dialog has interrupted it.
	blockedTime = time.Minute
	// maxWait bounds the time that a caller may give an operation, in milliseconds.
	maxWait = 600_000
)

// conversation is what a caller does in one session: the program that acts, and what the
// caller has seen. Its methods may be called from any goroutine.
type conversation struct {
	session *session.Session
	program *session.Program
	turn    chan struct{}  // held by the call that acts
	work    sync.WaitGroup // see start

	mu       sync.Mutex // guards what follows
	client   *session.Client
	seen     map[string]*seen   // the last snapshot of each page
	dialogs  map[string]*dialog // the open dialog of each page
	opened   chan struct{}      // closed and replaced when a dialog opens
	acting   int                // actions under way
	said     uint64             // where the caller stopped reading the background log
	tabs     int                // how many tabs the caller knows of
	attached map[string]string  // sessions of the protocol with pages
	routes   []*route           // newest last
	ready    bool               // the present client listens, and has the routes
	chooser  chan<- string      // gets the element of the next file chooser; nil if nobody waits for one
	closed   bool
}

// seen is what a caller has seen of a page.
type seen struct {
	tree  *node
	stale bool // the page has another document now
}

// dialog is a JavaScript dialog that waits for an answer.
type dialog struct {
	ID      string `json:"dialog"`
	Page    string `json:"page"`
	Type    string `json:"type"`
	Message string `json:"message"`
	Default string `json:"defaultValue"`
}

func newConversation(s *session.Session) *conversation {
	tabs := len(s.Info().Tabs)
	_, said, _ := s.Monitor().Log().Since(math.MaxUint64)
	return &conversation{session: s, turn: make(chan struct{}, 1), seen: map[string]*seen{}, dialogs: map[string]*dialog{}, attached: map[string]string{}, opened: make(chan struct{}), said: said, tabs: tabs}
}

// close ends the program and what it still does.
func (s *conversation) close() {
	s.program.Close()
	s.finish()
}

// start runs something for which close waits. It reports false if close has been
// called.
func (s *conversation) start(do func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Go(do)
	return true
}

// finish waits for what start has started. Nothing starts any more.
func (s *conversation) finish() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
}

// heard gets the events of the session's pages. It must not block.
func (s *conversation) heard(_ *session.Client, event string, params json.RawMessage) {
	switch event {
	case "dialog.opened":
		d := &dialog{}
		if json.Unmarshal(params, d) != nil {
			return // they are written by this server
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dialogs[d.Page] = d
		close(s.opened)
		s.opened = make(chan struct{})
	case "dialog.closed":
		var d dialog
		if json.Unmarshal(params, &d) == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.dialogs, d.Page)
		}
	case "frame.navigated":
		var n struct {
			Frame       string `json:"frame"`
			NewDocument bool   `json:"newDocument"`
		}
		if json.Unmarshal(params, &n) == nil && n.NewDocument {
			s.mu.Lock()
			defer s.mu.Unlock()
			if known := s.seen[n.Frame]; known != nil {
				known.stale = true
			}
		}
	case "route":
		s.requested(params)
	case "cdp.closed":
		var gone struct{ Session string }
		if json.Unmarshal(params, &gone) == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			maps.DeleteFunc(s.attached, func(_, session string) bool { return session == gone.Session })
		}
	case "filechooser":
		var f struct{ Element struct{ Handle string } }
		if json.Unmarshal(params, &f) == nil {
			s.chooserOpened(f.Element.Handle)
		}
	case "page.closed":
		var p struct{ Page string }
		if json.Unmarshal(params, &p) == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.dialogs, p.Page)
			delete(s.attached, p.Page)
		}
	}
}

// tab is the tab that people see, which is the one that a caller works with.
type tab struct {
	page.Page
	client *session.Client
	names  session.PageNames
}

// shown returns the tab to work with.
func (s *conversation) shown(ctx context.Context) (tab, error) {
	client, err := s.program.Client(ctx)
	if err != nil {
		return tab{}, err
	}
	s.mu.Lock()
	if s.client != client { // another Chromium, whose pages have other names
		s.client, s.seen, s.dialogs = client, map[string]*seen{}, map[string]*dialog{}
		s.attached, s.ready = map[string]string{}, false
	}
	ready, routes := s.ready, slices.Clone(s.routes)
	s.mu.Unlock()
	names, err := client.Page(0)
	t := tab{page.Page{Program: s.program, Tab: names.Tab}, client, names}
	if err != nil || ready {
		return t, err
	}
	err = t.run(ctx, "listen", params{"event": "dialog-alone", "on": true}, nil) // dialogs that open between two calls wait for the next
	if err == nil && len(routes) > 0 {
		err = t.setRoutes(ctx, routes)
	}
	if err == nil {
		s.mu.Lock()
		s.ready = s.client == client
		s.mu.Unlock()
	}
	return t, err
}

// within returns the tab with a bound on the time of an operation, in milliseconds,
// unless the caller gives none.
func (t tab) within(ms float64) tab {
	if ms > 0 {
		t.Timeout = time.Duration(min(ms, maxWait) * float64(time.Millisecond))
	}
	return t
}

// params are the parameters of an operation.
type params = map[string]any

// run runs an operation of package automation, and decodes its result unless into is
// nil.
func (t tab) run(ctx context.Context, operation string, in params, into any) error {
	return t.do(ctx, session.Operation{Name: operation}, in, into)
}

// runRaw does the same for an operation whose result has bytes, which are base64. The
// caller removes from them what people typed into secret fields.
func (t tab) runRaw(ctx context.Context, operation string, in params, into any) error {
	return t.do(ctx, session.Operation{Name: operation, Raw: true}, in, into)
}

func (t tab) do(ctx context.Context, op session.Operation, in params, into any) (err error) {
	op.Params, err = json.Marshal(in)
	if err != nil {
		return fmt.Errorf("%s: %w", op.Name, err)
	}
	out, err := t.client.Do(ctx, op)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// errDialog is returned for a call that cannot go on while a dialog is open.
var errDialog = errors.New("a dialog is open: answer it with browser_handle_dialog")

// openDialog returns the open dialog of a page, or nil.
func (s *conversation) openDialog(page string) *dialog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialogs[page]
}

// anyDialog returns the open dialog of a tab, or else that of another one, or nil.
func (s *conversation) anyDialog(t tab) *dialog {
	if d := s.openDialog(t.names.Page); d != nil {
		return d
	}
	if open := s.openDialogs(); len(open) > 0 {
		return open[0]
	}
	return nil
}

// openDialogs returns the open dialogs of all pages, always in the same order.
func (s *conversation) openDialogs() []*dialog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.dialogs), func(a, b *dialog) int { return strings.Compare(a.ID, b.ID) })
}

// dialogOpens returns a channel that is closed when the next dialog opens.
func (s *conversation) dialogOpens() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// doing runs what a call does to a page. A dialog interrupts it: then doing returns
// errDialog, and the rest happens when the dialog is answered. The page's dialogs
// belong to the program meanwhile; at other times only while nobody else acts, who may
// have opened them.
func (s *conversation) doing(c *call, t tab, do func(ctx context.Context) error) error {
	if s.openDialog(t.names.Page) != nil {
		return errDialog
	}
	opens := s.dialogOpens()
	if err := s.hearDialogs(c.ctx, t, true); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.ctx))
	follow := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	done := make(chan error, 1)
	s.count(1)
	started := s.start(func() {
		err := c.attempt(func() error { return do(ctx) })
		cancel(nil)
		s.count(-1)
		s.leaveDialogs(ctx, t)
		done <- err
	})
	if !started {
		s.count(-1)
		follow()
		cancel(nil)
		return session.ErrProgramClosed
	}
	select {
	case err := <-done:
		follow()
		if err == nil && s.openDialog(t.names.Page) != nil {
			return errDialog
		}
		return err
	case <-opens:
		if follow() { // the call's end no longer ends the action
			time.AfterFunc(blockedTime, func() { cancel(context.DeadlineExceeded) })
		}
		return errDialog
	}
}

// untilDialog returns a context that also ends when a dialog opens: a page with a
// dialog answers nothing.
func (s *conversation) untilDialog(ctx context.Context) (context.Context, context.CancelFunc) {
	opens := s.dialogOpens()
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-opens:
			cancel(errDialog)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// hearDialogs makes dialogs wait for the program, or not. It does so even if the call
// has ended.
func (s *conversation) hearDialogs(ctx context.Context, t tab, on bool) error {
	return t.run(context.WithoutCancel(ctx), "listen", params{"event": "dialog", "on": on}, nil)
}

// leaveDialogs leaves later dialogs to others, unless an action is under way or a dialog
// is open.
func (s *conversation) leaveDialogs(ctx context.Context, t tab) {
	s.mu.Lock()
	busy := s.acting > 0 || len(s.dialogs) > 0
	s.mu.Unlock()
	if !busy {
		_ = s.hearDialogs(ctx, t, false) // fails only if the browser is gone
	}
}

// count counts the actions that are under way.
func (s *conversation) count(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acting += by
}

// settle waits until a page shows the effect of an action: until it is at rest, but not
// for long.
func (s *conversation) settle(c *call) {
	start := time.NewTimer(settleStart)
	defer start.Stop()
	s.awaitDrawing(c)
	select {
	case <-start.C:
	case <-c.ctx.Done():
		return
	}
	t, err := s.shown(c.ctx)
	if err != nil || s.openDialog(t.names.Page) != nil {
		return
	}
	t.Timeout = settleTime
	_ = t.Settle(c.ctx) // otherwise the answer shows the page as it is
}

// awaitDrawing waits until the shown page has drawn, if it can: a page that is hidden or
// has a dialog does not.
func (s *conversation) awaitDrawing(c *call) {
	ctx, cancel := s.untilDialog(c.ctx)
	defer cancel()
	t, err := s.shown(ctx)
	if err != nil || s.openDialog(t.names.Page) != nil {
		return
	}
	t.Timeout = settleDrawing
	_ = t.WaitForDrawing(ctx) // otherwise the answer shows the page as it is
}
