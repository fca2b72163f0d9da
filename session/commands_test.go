package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/control"
)

// openCommands opens a program of commands that ends with the test.
func openCommands(t *testing.T, s *Session) *Commands {
	t.Helper()
	c, err := OpenCommands(s, control.Client(t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// begin begins a command with one call, and returns its end.
func (c *Commands) begin(t *testing.T, method string, args ...any) <-chan error {
	t.Helper()
	chain, err := json.Marshal([]map[string]any{{"method": method, "args": args}})
	if err != nil {
		t.Fatal(err)
	}
	wait, err := c.Begin(browsertest.Context(t, method), 0, chain)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := wait(t.Context())
		done <- err
	}()
	return done
}

// TestCommandsTimeOut lets commands wait longer than they may. They are not
// carried out later.
func TestCommandsTimeOut(t *testing.T) {
	s := borrow(t, site(t))
	c := openCommands(t, s)
	if err := <-c.begin(t, "setContent", "<title>before</title><input>"); err != nil {
		t.Fatal(err)
	}
	c.timeout = 2 * time.Second
	err := <-c.begin(t, "click", "#none")
	if err == nil || !strings.Contains(err.Error(), "the command took too long") || !strings.Contains(err.Error(), "waiting for locator('#none')") {
		t.Errorf("a long command ended with %v", err)
	}
	v := join(t, s, RoleControl)
	v.take()
	c.timeout = 5 * time.Second // so that they come to wait, also on a busy machine
	first, second := c.begin(t, "setContent", "<title>first</title>"), c.begin(t, "setContent", "<title>second</title>")
	for _, done := range []<-chan error{first, second} {
		if err := <-done; err == nil || !strings.Contains(err.Error(), control.ErrWaited.Error()) {
			t.Errorf("beside a person it ended with %v", err)
		}
	}
	if n := c.program.queue.Len(); n != 0 {
		t.Errorf("%d operations still wait", n)
	}
	c.timeout = CommandTimeout
	v.Leave()
	chain := json.RawMessage(`[{"method":"title"}]`)
	wait, err := c.Begin(t.Context(), 0, chain)
	if err != nil {
		t.Fatal(err)
	}
	if title, err := wait(t.Context()); err != nil || string(title) != `"before"` {
		t.Errorf("the title is %s, %v", title, err)
	}
}

// TestCommandsOutliveCrashes kills Chromium and then the worker. The next command
// runs in each case.
func TestCommandsOutliveCrashes(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	c := openCommands(t, s)
	if err := <-c.begin(t, "title"); err != nil {
		t.Fatal(err)
	}
	waiting := c.begin(t, "waitForFunction", "window.never")
	kill(t, s.pid(t))
	if err := <-waiting; err == nil {
		t.Error("what ran in the dead Chromium succeeded")
	}
	if err := <-c.begin(t, "title"); err != nil {
		t.Errorf("after the crash: %v", err)
	}

	waiting = c.begin(t, "waitForFunction", "window.never")
	c.mu.Lock()
	w := c.worker
	c.mu.Unlock()
	w.run.Cancel(errors.New("killed by the test"))
	if err := <-waiting; err == nil || !strings.Contains(err.Error(), "killed by the test") {
		t.Errorf("what ran in the dead worker gave %v", err)
	}
	if err := <-c.begin(t, "title"); err != nil {
		t.Errorf("after the worker's death: %v", err)
	}
}

// TestCommandsStartTheirWorkerOnce lets a command wait for the start of a worker while
// Chromium crashes. It gets a worker for the Chromium that there is.
func TestCommandsStartTheirWorkerOnce(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	c := openCommands(t, s)
	if err := <-c.begin(t, "title"); err != nil {
		t.Fatal(err)
	}
	c.starting <- struct{}{} // as if a worker were being started
	started := make(chan *commandWorker, 1)
	go func() {
		w, err := c.start(t.Context())
		if err != nil {
			t.Error(err)
		}
		started <- w
	}()
	v := join(t, s, RoleView)
	kill(t, s.pid(t))
	await(v, "recovered", func(m StateMessage) bool { return m.Type == "recovered" })
	<-c.starting
	w := <-started
	if w == nil {
		t.FailNow()
	}
	if isClosed(w.client.Gone()) {
		t.Error("the worker acts in the Chromium that has crashed")
	}
	// What the start took is part of the command's time.
	c.timeout = time.Hour
	if _, err := c.await(browsertest.Context(t, "the end of its time"), w, time.Now().Add(-c.timeout), nil); !errors.Is(err, errCommandTimeout) {
		t.Errorf("a command whose worker took all of its time to start: %v", err)
	}
}

// TestCommandsAreInOrder sends commands that wait for a person, without waiting for
// their answers.
func TestCommandsAreInOrder(t *testing.T) {
	s := borrow(t, site(t))
	c := openCommands(t, s)
	if err := <-c.begin(t, "evaluate", "window.order = []; void 0"); err != nil {
		t.Fatal(err)
	}
	v := join(t, s, RoleControl)
	v.take()
	var all []<-chan error
	const most = 50
	var want []int
	for i := range most {
		want = append(want, i)
		all = append(all, c.begin(t, "evaluate", fmt.Sprintf("void order.push(%d)", i)))
	}
	browsertest.Until(t, "all in the line", func() bool { return c.program.queue.Len() == most })
	v.Leave()
	for _, done := range all {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	wait, err := c.Begin(t.Context(), 0, json.RawMessage(`[{"method":"evaluate","args":["order"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	if err := json.Unmarshal(raw, &got); err != nil || !slices.Equal(got, want) {
		t.Errorf("the page got %s, %v", raw, err)
	}
}
