package session

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/control"
	"takeover/links"
)

// joinForTakeover joins with the link of a takeover.
func (s *Session) joinForTakeover(t *testing.T, id string) *Viewer {
	t.Helper()
	v, err := s.Join(ViewerOptions{Role: RoleTakeover, Link: &links.Grant{Takeover: id}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Leave)
	return v
}

// TestTakeoverLinkEndsWithItsTakeover checks that a visitor with a takeover's
// link has control only while that takeover is open, whoever ends it, and has no
// rights in other takeovers.
func TestTakeoverLinkEndsWithItsTakeover(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	first, err := s.RequestTakeover(TakeoverOptions{Reason: "first", RequestedBy: "api"})
	if err != nil {
		t.Fatal(err)
	}
	if _, secret, ok := strings.Cut(first.Info().URL, "#"); !ok {
		t.Error("the takeover's address carries no secret")
	} else if g, err := s.services.links.Redeem(secret, ""); err != nil || g.Takeover != first.ID() || g.Role != RoleTakeover {
		t.Errorf("redeeming gave %+v, %v", g, err)
	}
	v := s.joinForTakeover(t, first.ID())
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	if err := first.Done("api", ""); err != nil { // ended by somebody else
		t.Fatal(err)
	}
	if holder := s.control.Holder(); holder != control.Nobody {
		t.Errorf("%q controls after the end", holder)
	}
	if err := v.Control("take"); !errors.Is(err, ErrTakeoverState) {
		t.Errorf("taking control after the end gave %v", err)
	}
	second, err := s.RequestTakeover(TakeoverOptions{Reason: "second", RequestedBy: "api"})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Control("take"); !errors.Is(err, ErrTakeoverState) {
		t.Errorf("taking control for another takeover gave %v", err)
	}
	if err := v.Takeover("done", second.ID(), ""); err == nil {
		t.Error("another takeover was ended")
	}
	if m := s.takeoverMessage(v); m.Takeover != nil {
		t.Errorf("told of another takeover: %+v", m.Takeover)
	}
	if v.maySee() {
		t.Error("still sees the session")
	}
	if m := s.tabsFor(v); len(m.Tabs) > 0 || m.Tabs == nil {
		t.Errorf("told of the tabs: %+v", m)
	}
	for range 3 { // failed attempts leave no link behind
		if _, err := s.RequestTakeover(TakeoverOptions{Reason: "third"}); !errors.Is(err, ErrTakeoverOpen) {
			t.Fatal(err)
		}
	}
	if got := len(s.Links()); got != 2 {
		t.Errorf("%d links, want one for each takeover", got)
	}
}

func TestClaims(t *testing.T) {
	s := borrow(t, "")
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "help", RequestedBy: "api"})
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.joinForTakeover(t, to.ID()), s.joinForTakeover(t, to.ID())
	if err := a.Takeover("claim", to.ID(), ""); err != nil {
		t.Fatal(err)
	}
	if err := to.Claim(b.holder().String()); !errors.Is(err, ErrClaimed) {
		t.Errorf("claiming another one's gave %v", err)
	}
	a.Leave()
	if err := b.Takeover("claim", to.ID(), ""); err != nil {
		t.Errorf("claiming what somebody left gave %v", err)
	}
	if err := to.Cancel("api"); err != nil {
		t.Fatal(err)
	}
	if by := to.Info().ClaimedBy; by != b.holder().String() {
		t.Errorf("claimed by %q", by)
	}
}

// TestRefusedScript checks that a script that cannot run becomes a failed run,
// and that the next script runs.
func TestRefusedScript(t *testing.T) {
	s := borrow(t, "")
	deep := "return " + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000)
	r := startRun(t, s, deep)
	info := endOf(t, r)
	if info.Status != RunFailed || info.Error == nil || info.EndedAt == nil {
		t.Errorf("run %+v", info)
	}
	r.Cancel() // has no effect
	for ev, err := range r.Stream(t.Context()) {
		if err != nil || ev.Type != "end" {
			t.Errorf("stream gave %+v, %v", ev, err)
		}
	}
	if got := resultOf[int](t, startRun(t, s, "return 7")); got != 7 {
		t.Errorf("the next run gave %d", got)
	}
	if _, err := s.StartRun(RunOptions{Code: strings.Repeat("x", maxScriptSize+1)}); !errors.Is(err, ErrScriptTooLarge) {
		t.Errorf("a huge script gave %v", err)
	}
}

// TestNextRunAfterARefusedOne delays a refused run between its end and the
// announcement of that end. The next run may already start.
func TestNextRunAfterARefusedOne(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	s.takeovers.mu.Lock() // announcing the end needs this lock, because it names the run's takeovers
	refused := make(chan error)
	go func() {
		_, err := s.StartRun(RunOptions{Code: "return " + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000)})
		refused <- err
	}()
	browsertest.Until(t, "the refused run", func() bool { return len(s.Runs()) == 1 && s.Runs()[0].Status().Ended() })
	if r := s.runs.current(); r != nil {
		t.Errorf("the run that has ended keeps others from starting: %s", r.ID())
	}
	s.takeovers.mu.Unlock()
	if err := <-refused; err != nil {
		t.Fatal(err)
	}
}

// TestEndDuringRestart checks that no files of a profile are left when a session
// ends while its browser is being restarted.
func TestEndDuringRestart(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1})
	s := create(t, m, CreateOptions{})
	v := join(t, s, RoleView)
	kill(t, s.pid(t))
	await(v, "crashed", func(m StateMessage) bool { return m.Type == "crashed" })
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(m.opts.Dir, "chromium"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestDialogs checks that a dialog goes to somebody who may answer it, and never
// blocks a page when nobody can.
func TestDialogs(t *testing.T) {
	scriptGone := make(chan struct{}, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/later" { // responds once the script is gone
			select {
			case <-scriptGone:
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(srv.Close)
	s := borrow(t, srv.URL)
	watcher := join(t, s, RoleView)
	watcher.picture("the page")
	if got := resultOf[bool](t, startRun(t, s, `return page.evaluate(() => confirm('really?'))`)); got {
		t.Error("a script's dialog was accepted")
	}
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	ask := func() {
		runLater := startRun(t, s, `await page.evaluate(() => { fetch('/later').then(() => { document.title = 'said ' + confirm('now?') }) })`)
		if info := endOf(t, runLater); info.Status != RunSucceeded {
			t.Fatalf("run %+v", info.Error)
		}
		scriptGone <- struct{}{}
	}
	ask() // only a watcher is present
	browsertest.Until(t, "the dialog is dismissed", func() bool { return p.Title() == "said false" })

	person := join(t, s, RoleControl)
	ask()
	d := await(person, "dialog", func(m DialogMessage) bool { return !m.Closed })
	if d.Kind != "confirm" || d.Message != "now?" {
		t.Errorf("asked %+v", d)
	}
	if err := watcher.Dialog(d.ID, true, ""); !errors.Is(err, ErrRole) {
		t.Errorf("a watcher's answer gave %v", err)
	}
	if err := person.Dialog(d.ID, true, ""); err != nil {
		t.Fatal(err)
	}
	await(person, "dialog closed", func(m DialogMessage) bool { return m.Closed && m.ID == d.ID })
	browsertest.Until(t, "the answer arrives", func() bool { return p.Title() == "said true" })
}

func TestReady(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1, ChromiumPath: "/nonexistent/chromium"})
	if err := m.Ready(); !errors.Is(err, ErrNotReady) {
		t.Errorf("ready gave %v", err)
	}
	start := time.Now()
	_, err := m.Create(t.Context(), CreateOptions{})
	if !errors.Is(err, ErrNotReady) || strings.Contains(err.Error(), "/nonexistent") {
		t.Errorf("create gave %v after %v", err, time.Since(start))
	}
}

// TestGuestsLeaveRoom checks that a leaked link cannot lock out people who have a
// key.
func TestGuestsLeaveRoom(t *testing.T) {
	s := borrow(t, "")
	join := func(guest bool) error {
		o := ViewerOptions{Role: RoleView}
		if guest {
			o.Link = &links.Grant{}
		}
		v, err := s.Join(o)
		if err == nil {
			t.Cleanup(v.Leave)
		}
		return err
	}
	for range maxGuests {
		if err := join(true); err != nil {
			t.Fatal(err)
		}
	}
	if err := join(true); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more guest: %v", err)
	}
	if err := join(false); err != nil {
		t.Errorf("an operator: %v", err)
	}
}
