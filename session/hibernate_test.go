package session

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/control"
)

// unuse makes a session look as if nobody had used it for a while.
func unuse(s *Session) {
	s.gestures.mu.Lock()
	defer s.gestures.mu.Unlock()
	s.gestures.used = time.Now().Add(-restAfter)
}

// TestHibernates lets memory become short. The warm browser goes, and a session that nobody
// uses hibernates. The next script finds it as it was.
func TestHibernates(t *testing.T) {
	var slow atomic.Bool
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slow.Load() { // the tab comes back later than the browser
			select {
			case <-time.After(300 * time.Millisecond):
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Shop</title>"))
	}))
	t.Cleanup(site.Close)
	m := startManager(t, Options{WarmBrowsers: 1, unwatched: true})
	browsertest.Until(t, "a browser is warm", func() bool { return m.browsers.Warm() == 1 })
	unused, used := create(t, m, CreateOptions{URL: site.URL}), create(t, m, CreateOptions{})
	join(t, used, RoleView)
	endOf(t, startRun(t, unused, `await page.evaluate(() => {
		document.cookie = 'basket=full';
		sessionStorage.setItem('step', '3');
		localStorage.setItem('theme', 'dark');
	});
	await (await page.context().newPage()).goto('about:blank');`))
	before := unused.Info()
	for _, s := range []*Session{unused, used} {
		unuse(s)
	}
	browsertest.Until(t, "a browser is warm again", func() bool { return m.browsers.Warm() == 1 })
	m.relieve(time.Now(), 700<<20, 8<<30)
	if n := m.browsers.Warm(); n != 0 || unused.Hibernates() {
		t.Errorf("while memory is scarce, %d browsers are warm", n)
	}
	m.relieve(time.Now(), 100<<20, 8<<30)
	browsertest.Until(t, "the session that nobody uses hibernates", unused.Hibernates)
	after := unused.Info()
	if !after.Hibernates || after.Status != StatusLive || len(after.Tabs) != len(before.Tabs) || after.URL != before.URL {
		t.Errorf("it hibernates as %+v, and was %+v", after, before)
	}
	if _, _, err := unused.Thumbnail(t.Context()); err != nil {
		t.Errorf("its picture: %v", err)
	}
	m.relieve(time.Now(), 100<<20, 8<<30)
	if !unused.Hibernates() || used.Hibernates() {
		t.Errorf("one that nobody uses hibernates: %t; one that somebody watches: %t", unused.Hibernates(), used.Hibernates())
	}
	slow.Store(true)
	got := resultOf[[]string](t, startRun(t, unused, `const shop = page.context().pages().find((p) => p.url().startsWith('http'));
	await shop.waitForLoadState();
	return shop.evaluate(() => [document.title, document.cookie, sessionStorage.getItem('step'), localStorage.getItem('theme')]);`))
	if len(got) != 4 || got[0] != "Shop" || got[1] != "basket=full" || got[2] != "3" || got[3] != "dark" {
		t.Errorf("after it woke up, it has %q", got)
	}
	if info := unused.Info(); info.Hibernates || info.Status != StatusLive || len(info.Tabs) != len(before.Tabs) {
		t.Errorf("it is awake as %+v", info)
	}
	m.relieve(time.Now(), 4<<30, 8<<30)
	browsertest.Until(t, "a browser is warm when memory is there again", func() bool { return m.browsers.Warm() == 1 })
}

// TestAPersonWakesASession joins a session that hibernates, and one that ends like this.
func TestAPersonWakesASession(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1, HibernateAfter: restAfter, unwatched: true})
	s := create(t, m, CreateOptions{URL: site(t)})
	unuse(s)
	m.relieve(time.Now(), 4<<30, 8<<30)
	browsertest.Until(t, "it hibernates", s.Hibernates)
	v := join(t, s, RoleControl)
	v.take()
	await(v, "that the browser is back", func(m StateMessage) bool { return m.Type == "recovered" })
	if _, err := s.activePage(); err != nil {
		t.Error(err)
	}
	v.Leave()
	unuse(s)
	browsertest.Until(t, "it may hibernate again", func() bool { unuse(s); return mayHibernate(s, time.Now()) })
	m.relieve(time.Now(), 4<<30, 8<<30)
	browsertest.Until(t, "it hibernates again", s.Hibernates)
	asked := make(chan error, 1)
	go func() { _, err := s.activePage(); asked <- err }()
	if err := s.Release(""); err != nil {
		t.Error(err)
	}
	if info := s.Info(); info.Hibernates {
		t.Error("the ended session hibernates")
	}
	if err := <-asked; err != nil && !errors.Is(err, ErrEnded) && !errors.Is(err, ErrNotReady) {
		t.Errorf("who came just before the end gets %v", err)
	}
}

// TestUseKeepsAwake tries what keeps a session from hibernating, and lets many calls wake one
// at the same time.
func TestUseKeepsAwake(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1, unwatched: true})
	s := create(t, m, CreateOptions{URL: site(t)})
	open := func(o ProgramOptions) func() {
		p, err := OpenProgram(s, control.Client("one"), o)
		if err != nil {
			t.Fatal(err)
		}
		return func() { p.Close() }
	}
	for name, use := range map[string]func() func(){
		"a reader of events":    func() func() { return Follow(s) },
		"a call under way":      s.gestures.call,
		"a program":             func() func() { return open(ProgramOptions{}) },
		"a recent use":          func() func() { s.Touch(); return func() {} },
		"a person who is asked": func() func() { return asks(t, s) },
	} {
		unuse(s)
		done := use()
		if name != "a recent use" {
			unuse(s)
		}
		if mayHibernate(s, time.Now()) {
			t.Errorf("with %s, it may hibernate", name)
		}
		done()
	}
	defer open(ProgramOptions{Lasting: true})()
	unuse(s)
	m.relieve(time.Now(), 0, 8<<30)
	browsertest.Until(t, "it hibernates, although a program of MCP is open", s.Hibernates)
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if _, err := s.activePage(); err != nil {
				t.Errorf("a call of several that wake it: %v", err)
			}
			if pages, err := ListPages(t.Context(), s); err != nil || len(pages) != 1 {
				t.Errorf("the pages are %v, %v", pages, err)
			}
		})
	}
	calls.Wait()
}

// asks asks for a person, and returns what ends that.
func asks(t *testing.T, s *Session) (done func()) {
	t.Helper()
	asked, err := s.RequestTakeover(TakeoverOptions{Reason: "help", RequestedBy: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := asked.Cancel("test"); err != nil {
			t.Error(err)
		}
	}
}
