package doortest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"

	"takeover/browser/browsertest"
	"takeover/cdp"
	"takeover/control"
	"takeover/session"
)

// lent is what tests borrow: to start a Chromium costs more than what most tests do
// with it.
var lent browsertest.Lent[*lending]

// leaving is how long the contexts of a client that has left may stay.
const leaving = 2 * time.Second

// lending is a manager and its session, nil if the next borrower needs a new one.
type lending struct {
	manager *session.Manager
	session *session.Session
}

// Borrow gives a test a session of default options until its end, with one tab at a
// URL; the empty one is for an empty tab. A borrower leaves no tab, context, cookie,
// permission, viewer or hold of control. What a session keeps is still there:
// events, runs, takeovers, files, and what people typed in secret; numbers of tabs go
// on. A test that counts these, changes options, or ends its session uses Session.
// Main ends the session.
func Borrow(t testing.TB, url string) *session.Session {
	t.Helper()
	l := lent.Borrow(t, func(dir string) (*lending, func() error, error) {
		m, err := session.NewManager(options(dir))
		return &lending{manager: m}, func() error { return m.Close(context.Background()) }, err
	})
	if l.session == nil {
		s, err := l.manager.Create(browsertest.Context(t, "a session to borrow"), session.CreateOptions{Timeout: session.MaxTimeout}) // other tests may run for long in between
		if err != nil {
			t.Fatal(err)
		}
		l.session = s
	}
	s := l.session
	t.Cleanup(func() { // before the session is given back
		if !Clean(t, s) {
			l.session = nil
		}
	})
	Open(t, s, url)
	return s
}

// Open opens a URL in the shown tab of a session, unless it is empty.
func Open(t testing.TB, s *session.Session, url string) {
	t.Helper()
	if url == "" {
		return
	}
	ctx := browsertest.Context(t, url)
	p, err := session.OpenProgram(s, control.Client("lender"), session.ProgramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.Client(ctx)
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.Page(0)
	if err != nil {
		t.Fatal(err)
	}
	params, err := json.Marshal(map[string]any{"frame": page.Frame, "url": url, "waitUntil": "commit"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(ctx, session.Operation{Name: "frame.goto", Params: params}); err != nil {
		t.Fatal(err)
	}
}

// Clean makes a session, at the end of a test, as if it had just started, except for
// what Borrow says is still there. If it cannot, or if the test has failed, it ends the
// session and returns false.
func Clean(t testing.TB, s *session.Session) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
	defer cancel()
	if err := clean(ctx, s); err != nil || t.Failed() {
		t.Log("the session is not lent again; cleaning it said:", err)
		_ = s.Release("not as it was") // it may have ended
		return false
	}
	return true
}

func clean(ctx context.Context, s *session.Session) error {
	if err := browsertest.Await(ctx, func() bool { return s.Info().Viewers == 0 }); err != nil { // a socket is closed a little later
		return err
	}
	runs := slices.ContainsFunc(s.Runs(), func(r *session.Run) bool { return !r.Status().Ended() })
	info := s.Info()
	if info.Status != session.StatusLive || info.Controller.IsPerson() || info.Takeover != nil || info.Held || runs {
		return errors.New("it is in use, or has ended")
	}
	p, err := session.OpenProgram(s, control.Client("lender"), session.ProgramOptions{})
	if err != nil {
		return err
	}
	defer p.Close()
	c, err := p.Client(ctx)
	if err != nil {
		return err
	}
	first, err := c.OpenTab(ctx)
	if err != nil {
		return err
	}
	tabs, _ := p.Tabs()
	for _, tab := range tabs {
		if tab.Tab != first.Tab {
			err = errors.Join(err, c.CloseTab(ctx, tab.Tab))
		}
	}
	return errors.Join(err, forget(ctx, s), browsertest.Await(ctx, func() bool { return len(s.Info().Tabs) == 1 }))
}

// forget removes the cookies and permissions of a session's browser. It waits until
// contexts have gone with their clients.
func forget(ctx context.Context, s *session.Session) error {
	raw, err := session.OpenRawClient(ctx, s, "", cdp.SinkFunc(func(ev cdp.Event) { ev.Release() }))
	if err != nil {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, leaving)
	defer cancel()
	gone := browsertest.Await(soon, func() bool {
		var contexts struct {
			BrowserContextIDs []string `json:"browserContextIds"`
		}
		err = raw.Call(soon, target.CommandGetBrowserContexts, nil, &contexts)
		return err != nil || len(contexts.BrowserContextIDs) == 0
	})
	return errors.Join(
		err,
		gone,
		raw.Call(ctx, storage.CommandClearCookies, nil, nil),
		raw.Call(ctx, cdpbrowser.CommandResetPermissions, nil, nil),
		raw.Close(),
	)
}
