package session

import (
	"context"
	"errors"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"

	"takeover/browser"
	"takeover/browser/browsertest"
)

// lent is what tests borrow: to start a Chromium costs more than what most tests do
// with it.
var lent browsertest.Lent[*lending]

// lending is a manager and its session, nil if the next borrower needs a new one.
type lending struct {
	manager *Manager
	session *Session
}

// borrow gives a test a session of default options until its end, with one tab at
// a URL; the empty one is for an empty tab. A borrower leaves no tab, cookie, cached
// file, permission or hold of control. What a session keeps is still there: events, runs,
// takeovers, files, and what people typed in secret; numbers of tabs go on. A test
// that counts these, changes options, or ends its session creates one of its own.
func borrow(t *testing.T, url string) *Session {
	t.Helper()
	l := lent.Borrow(t, func(dir string) (*lending, func() error, error) {
		m, err := NewManager(managerOptions(Options{Dir: dir, WarmBrowsers: -1}))
		return &lending{manager: m}, func() error { return m.Close(context.Background()) }, err
	})
	if l.session == nil {
		l.session = create(t, l.manager, CreateOptions{Timeout: MaxTimeout}) // other tests may run for long in between
	}
	s := l.session
	t.Cleanup(func() { // before the session is given back
		ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
		defer cancel()
		if err := clean(ctx, s); err != nil || t.Failed() {
			t.Log("the session is not lent again; cleaning it said:", err)
			l.session = nil
			_ = s.Release("not as it was") // it may have ended
		}
	})
	if url != "" {
		eng, err := s.ready()
		if err != nil {
			t.Fatal(err)
		}
		ctx := browsertest.Context(t, "the first page")
		if _, err := eng.model.Pages()[0].MainFrame().Navigate(ctx, url, browser.NavigateOptions{WaitUntil: browser.LifecycleCommit}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// clean makes a session as if it were new, except for what borrow says is still there.
func clean(ctx context.Context, s *Session) error {
	status, viewers := s.statusAndViewers()
	held, _ := s.control.Held()
	if status != StatusLive || viewers > 0 || held || s.control.Standing().Holder.IsPerson() || s.openTakeover() != nil || s.runs.current() != nil {
		return errors.New("it is in use, or has ended")
	}
	eng, err := s.ready()
	if err != nil {
		return err
	}
	old := eng.model.Pages()
	first, err := eng.model.DefaultContext().NewPage(ctx)
	if err != nil {
		return err
	}
	for _, p := range old {
		err = errors.Join(err, p.Close(ctx))
	}
	return errors.Join(
		err,
		eng.model.Session().Call(ctx, cdpbrowser.CommandResetPermissions, nil, nil),
		eng.model.Session().Call(ctx, storage.CommandClearCookies, nil, nil),
		first.Session().Call(ctx, network.CommandClearBrowserCache, nil, nil),
		browsertest.Await(ctx, func() bool { return len(s.Info().Tabs) == 1 }),
	)
}
