package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/control"
	"takeover/limits"
)

// program opens a program that ends with the test.
func program(t *testing.T, s *Session, id string, o ProgramOptions) *Program {
	t.Helper()
	p, err := OpenProgram(s, control.Client(id), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// clientOf returns a program's client of the present Chromium.
func clientOf(t *testing.T, p *Program) *Client {
	t.Helper()
	c, err := p.Client(browsertest.Context(t, "the client"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// act runs an operation on the shown page's main frame, and returns the value of
// its answer.
func (c *Client) act(ctx context.Context, operation string, params map[string]any) (string, error) {
	names, err := c.Page(0)
	if err != nil {
		return "", err
	}
	params["frame"] = names.Frame
	var answer struct{ Value json.RawMessage }
	err = c.call(ctx, operation, params, &answer)
	return string(answer.Value), err
}

// evaluate evaluates an expression in the shown page.
func (c *Client) evaluate(ctx context.Context, expression string) (string, error) {
	return c.act(ctx, "frame.evaluate", map[string]any{"expression": expression})
}

// actLater fills the field of the page with a text, in the background.
func (c *Client) actLater(ctx context.Context, text string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := c.act(ctx, "frame.fill", map[string]any{"selector": "input", "value": text})
		done <- err
	}()
	return done
}

// TestProgramActsBesideARun lets two programs act while a script runs.
func TestProgramActsBesideARun(t *testing.T) {
	s := borrow(t, site(t))
	run := startRun(t, s, `console.log('there'); await page.waitForFunction(() => window.a && window.b); return await page.evaluate(() => a + b)`)
	logged(t, run)
	for _, id := range []string{"a", "b"} {
		c := clientOf(t, program(t, s, id, ProgramOptions{}))
		if _, err := c.evaluate(t.Context(), fmt.Sprintf("window.%s = '%s'", id, id)); err != nil {
			t.Fatal(err)
		}
	}
	if got := resultOf[string](t, run); got != "ab" {
		t.Errorf("the script saw %q", got)
	}
	if _, err := OpenProgram(s, control.Client("a"), ProgramOptions{}); err == nil {
		t.Error("two programs have one name")
	}
	for _, name := range []control.Holder{control.Nobody, control.Script, control.Person("p"), control.Client("")} {
		if _, err := OpenProgram(s, name, ProgramOptions{}); err == nil {
			t.Errorf("a program may be %q", name)
		}
	}
}

// TestProgramWaitsForAPerson lets a program act while a person is in control.
func TestProgramWaitsForAPerson(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	if _, err := s.StartCapture(browsertest.Context(t, "start capture"), capture.Config{Actions: true}); err != nil {
		t.Fatal(err)
	}
	v := join(t, s, RoleControl)
	p := program(t, s, "c", ProgramOptions{})
	c := clientOf(t, p)
	if _, err := c.act(t.Context(), "frame.setContent", map[string]any{"html": "<input>"}); err != nil {
		t.Fatal(err)
	}
	v.take()
	const most = 20
	p.queue.Backlog.Most = most - 1 // besides the one at the head
	var all []<-chan error
	for i := range most {
		selector := fmt.Sprintf("input >> nth=0 >> css=:scope:not(#x%d)", i) // so that its event says which one it was
		done := make(chan error, 1)
		go func() {
			_, err := c.act(t.Context(), "frame.fill", map[string]any{"selector": selector, "value": "x"})
			done <- err
		}()
		all = append(all, done)
		browsertest.Until(t, "the operation in the line", func() bool { return p.queue.Len() == i+1 })
	}
	if _, err := c.act(t.Context(), "frame.fill", map[string]any{"selector": "input", "value": "one too many"}); !errors.Is(err, control.ErrFull) {
		t.Errorf("one too many gave %v", err)
	}
	if n := s.services.settings.limits.Count(limits.Waiting); n != 1 {
		t.Errorf("the limit was counted %d times", n)
	}
	// What only reads does not wait.
	if title, err := c.act(t.Context(), "frame.title", map[string]any{}); err != nil || title != `""` {
		t.Errorf("the title is %s, %v", title, err)
	}
	// Operations whose time is up leave the line, at its head and behind it.
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	other := clientOf(t, program(t, s, "other", ProgramOptions{}))
	for range 2 {
		if err := <-other.actLater(short, "late"); !errors.Is(err, control.ErrWaited) {
			t.Errorf("waiting too long gave %v", err)
		}
	}
	if n := other.program.queue.Len(); n != 0 {
		t.Errorf("%d operations wait after their time", n)
	}

	s.control.GiveUp(v.holder())
	for _, done := range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	page, err := s.Journal().Events(t.Context(), 0, 1000, capture.Filter{Types: []string{capture.TypeActionStarted}})
	if err != nil {
		t.Fatal(err)
	}
	var began []string
	for _, e := range page.Events {
		var a actionEvent
		if err := json.Unmarshal(e.Data, &a); err != nil {
			t.Fatal(err)
		}
		if _, number, ok := strings.Cut(a.Target, "#x"); ok {
			began = append(began, strings.TrimSuffix(number, ")"))
		}
	}
	want := make([]string, most)
	for i := range want {
		want[i] = fmt.Sprint(i)
	}
	if !slices.Equal(began, want) {
		t.Errorf("they began in the order %v", began)
	}
	if n := p.queue.Len(); n != 0 {
		t.Errorf("%d operations are still in the line", n)
	}
}

// TestProgramLeavesTheLine closes a program whose operations wait.
func TestProgramLeavesTheLine(t *testing.T) {
	s := borrow(t, site(t))
	v := join(t, s, RoleControl)
	v.take()
	p := program(t, s, "c", ProgramOptions{})
	c := clientOf(t, p)
	first, second := c.actLater(t.Context(), "a"), c.actLater(t.Context(), "b")
	browsertest.Until(t, "both in the line", func() bool { return p.queue.Len() == 2 })
	p.Close()
	for _, done := range []<-chan error{first, second} {
		if err := <-done; !errors.Is(err, ErrProgramClosed) {
			t.Errorf("it ended with %v", err)
		}
	}
	if _, err := p.Client(t.Context()); !errors.Is(err, ErrProgramClosed) {
		t.Errorf("a closed program gave %v", err)
	}
	if _, err := p.RequestTakeover(TakeoverOptions{Reason: "x"}); !errors.Is(err, ErrProgramClosed) {
		t.Errorf("a closed program asked: %v", err)
	}
	program(t, s, "c", ProgramOptions{}) // its name is free
}

// TestProgramOutlivesACrash kills Chromium. The program's operation fails, and its
// next one runs in the new Chromium.
func TestProgramOutlivesACrash(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t) + "/first"})
	p := program(t, s, "c", ProgramOptions{})
	c := clientOf(t, p)
	waiting := make(chan error, 1)
	go func() {
		_, err := c.act(t.Context(), "frame.waitForFunction", map[string]any{"expression": "window.never", "isFunction": false})
		waiting <- err
	}()
	if _, err := c.evaluate(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	kill(t, s.pid(t))
	if err := <-waiting; err == nil {
		t.Error("what ran in the dead Chromium succeeded")
	}
	waitFor(t, "the end of the client's Chromium", c.Gone())
	next := clientOf(t, p)
	if next == c {
		t.Fatal("the client of the dead Chromium was returned")
	}
	if path, err := next.evaluate(t.Context(), "location.pathname"); err != nil || path != `{"s":"/first"}` {
		t.Errorf("the page is %s, %v", path, err)
	}
	if _, err := c.evaluate(t.Context(), "1"); err == nil {
		t.Error("the client of the dead Chromium still works")
	}
	if holder := s.control.Holder(); holder != p.Name() {
		t.Errorf("%q is in control", holder)
	}
	if err := s.Release("test"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Client(t.Context()); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

// TestProgramsTabs lets a program work with tabs.
func TestProgramsTabs(t *testing.T) {
	s := borrow(t, site(t)+"/first")
	events := make(chan string, 1000)
	p := program(t, s, "c", ProgramOptions{Emit: func(c *Client, event string, _ json.RawMessage) {
		if c.program == nil {
			t.Error("an event came without its client")
		}
		events <- event
	}})
	c := clientOf(t, p)
	opened, err := c.OpenTab(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tabs, shown := p.Tabs()
	if len(tabs) != 2 || shown != opened.Tab || opened.Tab == tabs[0].Tab {
		t.Errorf("tabs %+v, shown %d, opened %+v", tabs, shown, opened)
	}
	if !slices.Contains(drain(events), "page.created") {
		t.Error("the new page was not reported")
	}
	if at, err := c.evaluate(t.Context(), "location.href"); err != nil || at != `{"s":"about:blank"}` {
		t.Errorf("the program is at %s, %v", at, err)
	}
	if err := c.Show(t.Context(), tabs[0].Tab); err != nil {
		t.Fatal(err)
	}
	if at, err := c.evaluate(t.Context(), "location.pathname"); err != nil || at != `{"s":"/first"}` {
		t.Errorf("the program is at %s, %v", at, err)
	}
	if f := s.shown(); f == nil || f.tab != tabs[0].Tab {
		t.Error("people see another tab")
	}
	for _, tab := range []uint32{tabs[0].Tab, opened.Tab} {
		if err := c.CloseTab(t.Context(), tab); err != nil {
			t.Fatal(err)
		}
	}
	if tabs, shown := p.Tabs(); len(tabs) != 1 || shown != tabs[0].Tab || tabs[0].URL != "about:blank" {
		t.Errorf("after closing all: %+v, %d", tabs, shown)
	}
	if _, err := c.Page(1_000_000); !errors.Is(err, ErrNotFound) {
		t.Errorf("a tab that is not there gave %v", err)
	}

	// What a program holds down is released when a person takes control.
	if _, err := c.evaluate(t.Context(), `addEventListener('keyup', e => document.title = e.key)`); err != nil {
		t.Fatal(err)
	}
	names, err := c.Page(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.call(t.Context(), "keyboard.down", map[string]string{"page": names.Page, "key": "Shift"}, nil); err != nil {
		t.Fatal(err)
	}
	join(t, s, RoleControl).take()
	browsertest.Until(t, "the key's release", func() bool {
		title, err := c.act(t.Context(), "frame.title", map[string]any{})
		return err == nil && title == `"Shift"`
	})
}

func drain(events <-chan string) (all []string) {
	for {
		select {
		case e := <-events:
			all = append(all, e)
		default:
			return all
		}
	}
}

// TestProgramRequestsATakeover lets a program ask for a person. Other programs
// wait meanwhile, and afterwards the program has control.
func TestProgramRequestsATakeover(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	p := program(t, s, "asks", ProgramOptions{})
	other := program(t, s, "other", ProgramOptions{})
	c := clientOf(t, other)
	if _, err := c.act(t.Context(), "frame.setContent", map[string]any{"html": "<input>"}); err != nil {
		t.Fatal(err)
	}
	to, err := p.RequestTakeover(TakeoverOptions{Reason: "the code, please"})
	if err != nil {
		t.Fatal(err)
	}
	if by := to.Info().RequestedBy; by != "client:asks" {
		t.Errorf("requested by %q", by)
	}
	acted := c.actLater(t.Context(), "after the takeover")
	browsertest.Until(t, "the wait", func() bool { return other.queue.Len() == 1 })
	v := s.joinForTakeover(t, to.ID())
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-acted:
		t.Fatalf("it acted during the takeover: %v", err)
	default:
	}
	if err := v.Takeover("done", to.ID(), "123"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the takeover's end", to.Ended())
	if info := to.Info(); info.State != TakeoverDone || info.Note != "123" {
		t.Errorf("it ended as %+v", info)
	}
	if holder := s.control.Holder(); holder != p.Name() {
		t.Errorf("%q is in control", holder)
	}
	if err := <-acted; err != nil {
		t.Error(err)
	}

	// A program that leaves withdraws its request.
	to, err = p.RequestTakeover(TakeoverOptions{Reason: "again"})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	waitFor(t, "the takeover's end", to.Ended())
	if info := to.Info(); info.State != TakeoverCancelled {
		t.Errorf("it ended as %+v", info)
	}
	if holder := s.control.Holder(); holder == p.Name() {
		t.Error("a program that has left is in control")
	}
}

// TestProgramsWaitForAnybodysTakeover lets an operator ask for a person: programs and
// scripts wait before somebody comes, too.
func TestProgramsWaitForAnybodysTakeover(t *testing.T) {
	s := borrow(t, site(t))
	run := startRun(t, s, `await page.evaluate(() => { window.go = false }); console.log('there'); await page.waitForFunction(() => window.go);`)
	logged(t, run)
	c := clientOf(t, program(t, s, "a", ProgramOptions{}))
	if _, err := c.evaluate(t.Context(), "0"); err != nil {
		t.Fatal(err)
	}
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "help", RequestedBy: "operator"})
	if err != nil {
		t.Fatal(err)
	}
	if holder := s.control.Holder(); holder != control.Nobody {
		t.Errorf("%v is in control, want nobody", holder)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.evaluate(short, "window.go = true"); !errors.Is(err, control.ErrWaited) {
		t.Errorf("a program beside a takeover: %v", err)
	}
	wrote := make(chan error, 1)
	go func() { _, err := c.evaluate(t.Context(), "window.go = true"); wrote <- err }()
	if err := to.Cancel("operator"); err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	endOf(t, run)
}

// TestProgramLeavesWhileItAsks closes a program while its request for a person is on
// its way: the takeover does not stay open.
func TestProgramLeavesWhileItAsks(t *testing.T) {
	s := borrow(t, "")
	p := program(t, s, "asks", ProgramOptions{})
	_, done, err := p.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() { defer close(closed); p.Close() }()
	browsertest.Until(t, "the program's end", func() bool { return !s.programs.has(p.Name()) })
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "the code, please", program: p.Name()})
	done()
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the program's end", closed)
	if state := to.Info().State; state != TakeoverCancelled {
		t.Errorf("the takeover of a program that has left is %s", state)
	}
}

// TestProgramsAreBounded opens as many programs as a session may have.
func TestProgramsAreBounded(t *testing.T) {
	s := borrow(t, "")
	for i := range maxPrograms {
		program(t, s, fmt.Sprint(i), ProgramOptions{})
	}
	if _, err := OpenProgram(s, control.Client("more"), ProgramOptions{}); !errors.Is(err, ErrTooMany) {
		t.Errorf("one too many gave %v", err)
	}
}
