package session

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"weak"

	"takeover/browser/browsertest"
	"takeover/control"
)

func (s *Session) pid(t *testing.T) int {
	t.Helper()
	eng, err := s.ready()
	if err != nil {
		t.Fatal(err)
	}
	return eng.proc.PID()
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// TestEndedSessionsHoldNoBrowser checks that nothing of a session that has ended holds
// the model of its browser, with all its pages, and that its events are not in memory.
func TestEndedSessionsHoldNoBrowser(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1, Store: openKept(t, t.TempDir())})
	s := create(t, m, CreateOptions{URL: site(t) + "/one", Capture: new(true)})
	v := join(t, s, RoleControl)
	v.titled("Page one")
	v.picture("the page")
	inPage(t, s, `document.body.innerHTML = '<select style="position:absolute;left:0;top:0;width:200px;height:40px"><option>a<option>b</select>' +
		'<a download="a.txt" href="data:text/plain,a" style="position:absolute;left:0;top:100px;width:200px;height:40px">a</a>'`)
	epoch := v.take()
	v.click(20, 20, epoch)
	picker := await(v, "the picker", func(m SelectMessage) bool { return !m.Closed })
	if err := v.Select(t.Context(), picker.ID, []string{"b"}); err != nil {
		t.Fatal(err)
	}
	v.click(20, 110, epoch)
	await(v, "the download", func(m DownloadMessage) bool { return m.State == DownloadDone })
	if err := v.Control("release"); err != nil {
		t.Fatal(err)
	}
	if got := resultOf[string](t, startRun(t, s, `return await page.title()`)); got != "Page one" {
		t.Fatalf("the page is %q", got)
	}
	program, err := OpenProgram(s, control.Client("c"), ProgramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := program.Client(t.Context()); err != nil {
		t.Fatal(err)
	}
	eng, err := s.ready()
	if err != nil {
		t.Fatal(err)
	}
	model := weak.Make(eng.model)
	eng = nil
	if err := s.Release("done"); err != nil {
		t.Fatal(err)
	}
	program.Close()
	if kept := s.Monitor().Ring().Stats(); kept.Events > 0 || kept.Written == 0 {
		t.Errorf("of %d events, %d are still in memory", kept.Written, kept.Events)
	}
	browsertest.Until(t, "nothing holds the browser's model", func() bool {
		runtime.GC()
		return model.Value() == nil
	})
	if tabs := s.Info().Tabs; len(tabs) != 1 || tabs[0].Title != "Page one" {
		t.Errorf("the tabs are %+v", tabs)
	}
}

func TestCrashAndRecover(t *testing.T) {
	base := site(t)
	began := time.Now()
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: base + "/one"})
	v := join(t, s, RoleControl)
	await(v, "first page", func(m TabsMessage) bool { return len(m.Tabs) == 1 && m.Tabs[0].Title == "Page one" })
	start := time.Since(began)
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	if err := v.Tab(t.Context(), "new", 0); err != nil {
		t.Fatal(err)
	}
	if err := v.Navigate(t.Context(), 0, "goto", " "); err == nil || !strings.Contains(err.Error(), "url: is required") {
		t.Errorf("going nowhere: %v", err)
	}
	if err := v.Navigate(t.Context(), 0, "goto", base+"/two"); err != nil {
		t.Fatal(err)
	}
	before := await(v, "second page", func(m TabsMessage) bool { return len(m.Tabs) == 2 && m.Tabs[1].Title == "Page two" })
	last := v.picture("a picture before the crash")

	killed := time.Now()
	kill(t, s.pid(t))
	await(v, "crashed", func(m StateMessage) bool { return m.Type == "crashed" })
	await(v, "recovered", func(m StateMessage) bool { return m.Type == "recovered" })
	// 5 s, or longer on a machine that was already slow to start.
	if took, limit := time.Since(killed), max(5*time.Second, 3*start); took > limit {
		t.Errorf("recovered after %v, want within %v", took, limit)
	}
	after := await(v, "tabs again", func(m TabsMessage) bool {
		return len(m.Tabs) == 2 && m.Tabs[0].Title == "Page one" && m.Tabs[1].Title == "Page two"
	})
	for i := range before.Tabs {
		if before.Tabs[i].Tab != after.Tabs[i].Tab || before.Tabs[i].URL != after.Tabs[i].URL {
			t.Errorf("tab %+v came back as %+v", before.Tabs[i], after.Tabs[i])
		}
	}
	if after.Active != before.Active {
		t.Errorf("tab %d is active, was %d", after.Active, before.Active)
	}
	browsertest.Until(t, "a picture after the crash", func() bool { return v.picture("picture").Seq > last.Seq })
	if info := s.Info(); info.Status != StatusLive {
		t.Errorf("status %s", info.Status)
	}
}

// TestRecoveryShowsThePage checks that viewers are told of the recovery only when
// the shown page is there again. Until then, what they click would be lost.
func TestRecoveryShowsThePage(t *testing.T) {
	recovered, loads := make(chan struct{}), atomic.Int32{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if loads.Add(1) > 1 { // a slow server
			select {
			case <-recovered:
			case <-time.After(time.Second):
			}
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>slow</title>")
	}))
	t.Cleanup(srv.Close)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: srv.URL + "/slow"})
	v := join(t, s, RoleView)
	await(v, "the page", func(m TabsMessage) bool { return len(m.Tabs) == 1 && m.Tabs[0].Title == "slow" })
	kill(t, s.pid(t))
	await(v, "recovered", func(m StateMessage) bool { return m.Type == "recovered" })
	close(recovered)
	if _, page, ok := s.tabs.active(); !ok || page.URL() != srv.URL+"/slow" {
		t.Error("recovered, but the page is not there")
	}
}

func TestThreeDeathsEndTheSession(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	v := join(t, s, RoleView)
	for range maxRestarts {
		kill(t, s.pid(t))
		await(v, "crashed", func(m StateMessage) bool { return m.Type == "crashed" })
		browsertest.Until(t, "the browser is back or the session over", func() bool {
			_, err := s.ready()
			return err == nil || errors.Is(err, ErrEnded)
		})
	}
	ended := await(v, "ended", anyMessage[EndedMessage])
	if !strings.Contains(ended.Reason, "3 times within a minute") {
		t.Errorf("reason %q", ended.Reason)
	}
	<-s.Ended()
	if s.Status() != StatusFailed {
		t.Errorf("status %s", s.Status())
	}
	if _, err := s.Join(ViewerOptions{Role: RoleView}); !errors.Is(err, ErrEnded) {
		t.Errorf("joining an ended session gave %v", err)
	}
	if err := s.Release(""); !errors.Is(err, ErrEnded) {
		t.Errorf("releasing it gave %v", err)
	}
}

// residentMB returns the process's resident memory.
func residentMB(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(raw))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}

// TestSessionsLeaveNothing opens and ends sessions one after the other. The
// soak test of package bench does that for longer.
func TestSessionsLeaveNothing(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1, MaxSessions: 2})
	base := site(t)
	var goroutines, memory int
	for i := range 12 {
		s := create(t, m, CreateOptions{URL: base})
		v, err := s.Join(ViewerOptions{Role: RoleView})
		if err != nil {
			t.Fatal(err)
		}
		p, err := v.NextPicture(browsertest.Context(t, "a picture"))
		if err != nil {
			t.Fatal(err)
		}
		p.Release()
		pid := s.pid(t)
		if err := s.Release(""); err != nil {
			t.Fatal(err)
		}
		v.Leave()
		if left := browsertest.Group(t, pid); len(left) > 0 {
			t.Fatalf("processes left: %v", left)
		}
		if i == 1 { // one-time allocations are done now
			http.DefaultClient.CloseIdleConnections()
			runtime.GC()
			goroutines, memory = runtime.NumGoroutine(), residentMB(t)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	browsertest.Until(t, "no goroutine is left over", func() bool { return runtime.NumGoroutine() <= goroutines+2 })
	runtime.GC()
	if grown := residentMB(t) - memory; grown > 25 { // the growth during ten sessions varies by some 10 MB
		t.Errorf("%d MB more than after the second session", grown)
	}
	if left, err := os.ReadDir(m.opts.Dir + "/chromium"); err != nil || len(left) > 0 {
		t.Errorf("folders left: %v, %v", left, err)
	}
}

func TestFullServer(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1, MaxSessions: 1, Queue: -1})
	s := create(t, m, CreateOptions{})
	if _, err := m.Create(t.Context(), CreateOptions{}); !errors.Is(err, ErrFull) {
		t.Errorf("a second create gave %v", err)
	}
	if err := m.Ready(); !errors.Is(err, ErrFull) {
		t.Errorf("ready gave %v", err)
	}
	if err := s.Release("enough"); err != nil {
		t.Fatal(err)
	}
	if info := s.Info(); info.Status != StatusReleased || info.EndReason != "enough" || info.EndedAt == nil {
		t.Errorf("info %+v", info)
	}
	if got, err := m.Get(s.ID()); err != nil || got != s {
		t.Errorf("an ended session cannot be read: %v", err)
	}
	create(t, m, CreateOptions{})
}

func TestTimeoutWaitsForThePerson(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "stay", RequestedBy: "test"})
	if err != nil {
		t.Fatal(err)
	}
	runOutOfTime(s)
	if left, _ := s.timeLeft(time.Now()); left != atWorkGrace {
		t.Errorf("with a takeover open %v is left, want %v", left, atWorkGrace)
	}
	if err := to.Done("test", ""); err != nil { // makes the session check the clock
		t.Fatal(err)
	}
	waitFor(t, "the session's end", s.Ended())
	if info := s.Info(); info.EndReason != "timeout" || info.Status != StatusReleased {
		t.Errorf("ended as %s: %s", info.Status, info.EndReason)
	}
}

// TestTimeoutWaitsForInput lets a person keep control beyond the session's time
// without doing anything.
func TestTimeoutWaitsForInput(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	v := join(t, s, RoleControl)
	v.take()
	runOutOfTime(s)
	if left, _ := s.timeLeft(time.Now()); left != atWorkGrace {
		t.Errorf("with a person at work %v is left, want %v", left, atWorkGrace)
	}
	if left, reason := s.timeLeft(time.Now().Add(atWorkWindow)); left != 0 || reason != "timeout" {
		t.Errorf("long after the person's last input %v is left, %q", left, reason)
	}
}

func TestControl(t *testing.T) {
	base := site(t)
	s := create(t, startManager(t, Options{WarmBrowsers: -1, AskTimeout: time.Hour}), CreateOptions{URL: base})
	a, b, watcher, helper := join(t, s, RoleControl), join(t, s, RoleControl), join(t, s, RoleView), join(t, s, RoleTakeover)
	await(a, "page", func(m TabsMessage) bool { return len(m.Tabs) == 1 && m.Tabs[0].URL == base+"/" })
	a.picture("the page")

	press := Mouse{Event: "down", X: 50, Y: 50, Button: "left", Buttons: 1, ClickCount: 1}
	if err := a.Mouse(press, Stamp{Epoch: 1}); !errors.Is(err, ErrNotController) {
		t.Errorf("input without control gave %v", err)
	}
	if err := watcher.Control("take"); !errors.Is(err, ErrRole) {
		t.Errorf("a watcher's take gave %v", err)
	}
	if err := helper.Control("take"); !errors.Is(err, ErrTakeoverState) {
		t.Errorf("a helper's take without takeover gave %v", err)
	}
	if err := a.Control("take"); err != nil {
		t.Fatal(err)
	}
	mine := await(a, "control", func(m ControlMessage) bool { return m.Mine })
	theirs := await(b, "control", func(m ControlMessage) bool { return m.Epoch == mine.Epoch })
	if theirs.Mine || theirs.Holder != mine.Holder {
		t.Errorf("the other viewer was told %+v", theirs)
	}
	if err := b.Control("take"); err != nil { // asks for control
		t.Error(err)
	}
	if err := a.Control("keep"); err != nil {
		t.Error(err)
	}
	if err := b.Mouse(press, Stamp{Epoch: mine.Epoch}); !errors.Is(err, ErrNotController) {
		t.Errorf("the other's input gave %v", err)
	}
	if err := b.Navigate(t.Context(), 0, "reload", ""); !errors.Is(err, ErrNotController) {
		t.Errorf("the other's reload gave %v", err)
	}
	if err := a.Mouse(press, Stamp{Epoch: mine.Epoch - 1}); err != nil {
		t.Errorf("old epoch: %v", err)
	}
	if got := s.services.stats.staleInput.Load(); got != 1 {
		t.Errorf("%d stale inputs counted", got)
	}
	if err := a.Mouse(press, Stamp{Epoch: mine.Epoch}); err != nil {
		t.Fatal(err)
	}
	a.Leave() // the button is still down
	await(b, "free", func(m ControlMessage) bool { return m.Holder == control.Nobody && m.Epoch > mine.Epoch })
	browsertest.Until(t, "what was held down is released", func() bool {
		got := resultOf[[2]int](t, startRun(t, s, `return page.evaluate(() => [downs, ups])`))
		if got[0] > 1 || got[1] > got[0] {
			t.Fatalf("the page saw %d downs and %d ups", got[0], got[1])
		}
		return got == [2]int{1, 1}
	})
}
