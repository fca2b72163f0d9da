package session

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"takeover/control"
	"takeover/invalid"
)

// TestTakeoverOutcomes runs scripts that reach each outcome that a takeover can
// have.
func TestTakeoverOutcomes(t *testing.T) {
	base := site(t)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: base})
	v := join(t, s, RoleTakeover)
	const code = `
		try {
			const r = await requestTakeover('sign in'%s);
			return { ...r, url: page.url() };
		} catch (e) {
			return { name: e.name, message: e.message, reason: e.reason };
		}`
	type result struct {
		Outcome, Note, By, Name, Message, Reason, URL string
		DurationMS                                    int64 `json:"durationMs"`
		Changes                                       *Changes
	}
	for _, c := range []struct {
		name string
		end  func(t *testing.T, to *Takeover) error
		want func(result) bool
	}{
		{"done", func(t *testing.T, to *Takeover) error {
			if err := v.Takeover("claim", to.ID(), ""); err != nil {
				return err
			}
			if holder := s.control.Holder(); holder != v.holder() {
				t.Errorf("%q controls, want the one who claimed", holder)
			}
			if err := v.Navigate(t.Context(), 0, "goto", base+"/inside"); err != nil {
				return err
			}
			await(v, "the page", func(m TabsMessage) bool { return m.Tabs[0].Title == "Page inside" })
			return v.Takeover("done", to.ID(), "all set")
		}, func(r result) bool {
			return r.Outcome == "done" && r.Note == "all set" && r.By == v.holder().String() && r.URL == base+"/inside" &&
				r.Changes.URLAfter == base+"/inside" && r.Changes.TitleAfter == "Page inside" && r.DurationMS >= 0
		}},
		{"failed", func(_ *testing.T, to *Takeover) error { return v.Takeover("fail", to.ID(), "no phone") },
			func(r result) bool { return r.Name == "TakeoverFailedError" && r.Reason == "no phone" }},
		{"cancelled", func(_ *testing.T, to *Takeover) error { return to.Cancel("operator") },
			func(r result) bool { return r.Name == "TakeoverCancelledError" }},
		{"expired", func(_ *testing.T, to *Takeover) error { <-to.Ended(); return nil },
			func(r result) bool { return r.Name == "TakeoverTimeoutError" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := ""
			if c.name == "expired" {
				options = ", { timeout: 1000 }"
			}
			r := startRun(t, s, fmt.Sprintf(code, options))
			to := openTakeoverOf(t, r)
			if status := r.Status(); status != RunWaiting && !status.Ended() {
				// The status changes together with the takeover.
				t.Logf("status %s", status)
			}
			if err := c.end(t, to); err != nil {
				t.Fatal(err)
			}
			if got := resultOf[result](t, r); !c.want(got) {
				t.Errorf("the script got %+v", got)
			}
			if holder := s.control.Holder(); holder != control.Nobody {
				t.Errorf("%q controls after the run", holder)
			}
			if err := to.Done("late", ""); !errors.Is(err, ErrTakeoverState) {
				t.Errorf("a late answer gave %v", err)
			}
		})
	}
}

// TestScriptWaitsForThePerson checks that a script's actions wait while a
// person is in control, and that reading stays possible.
func TestScriptWaitsForThePerson(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t) + "/a"})
	v := join(t, s, RoleControl)
	v.picture("the page")
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	r := startRun(t, s, `
		console.log(await page.title());
		await page.mouse.click(20, 20);
		return page.evaluate(() => downs);`)
	for ev, err := range r.Stream(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if line, ok := ev.Data.(RunLog); ok {
			if line.Text != "Page a" {
				t.Errorf("the script read %q", line.Text)
			}
			break
		}
		if ev.Type == "end" {
			t.Fatalf("ended: %+v", ev.Data)
		}
	}
	if r.Status().Ended() {
		t.Fatal("the script did not wait")
	}
	if err := v.Control("release"); err != nil {
		t.Fatal(err)
	}
	if got := resultOf[int](t, r); got != 1 {
		t.Errorf("the page saw %d clicks, want 1", got)
	}
}

func TestTakeoverUntil(t *testing.T) {
	base := site(t)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: base + "/start"})
	v := join(t, s, RoleControl)
	await(v, "the page", func(m TabsMessage) bool { return m.Tabs[0].Title == "Page start" })
	v.picture("the page")
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "go in", Until: "**/inside", RequestedBy: "api"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RequestTakeover(TakeoverOptions{Reason: "again"}); !errors.Is(err, ErrTakeoverOpen) {
		t.Errorf("a second one gave %v", err)
	}
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	if state := to.Info().State; state != TakeoverClaimed {
		t.Errorf("taking control left it %s", state)
	}
	if err := v.Navigate(t.Context(), 0, "goto", base+"/inside"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the condition to be noticed", to.Ended())
	if info := to.Info(); info.State != TakeoverDone || info.Changes.URLBefore != base+"/start" {
		t.Errorf("ended as %+v", info)
	}
	to, err = s.RequestTakeover(TakeoverOptions{Reason: "see it", Until: "text=/inside", RequestedBy: "api"})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the selector to be noticed", to.Ended())
}

func TestTakeoverInput(t *testing.T) {
	s := borrow(t, "")
	for field, o := range map[string]TakeoverOptions{
		"reason":  {Reason: " "},
		"note":    {Reason: "x", Note: strings.Repeat("n", maxNote+1)},
		"timeout": {Reason: "x", Timeout: time.Millisecond},
		"until":   {Reason: "x", Until: "div:nope("},
	} {
		_, err := s.RequestTakeover(o)
		if bad := (*invalid.Error)(nil); !errors.As(err, &bad) || bad.Fields[0].Field != field {
			t.Errorf("bad %s gave %v", field, err)
		}
	}
}

// TestUntilIsCheckedAtOnce requests takeovers with invalid conditions, and some
// with valid ones that look odd.
func TestUntilIsCheckedAtOnce(t *testing.T) {
	s := borrow(t, site(t))
	for until, words := range map[string]string{
		"[":               "is not a selector: ",
		"nope=x":          `Unknown engine "nope"`,
		"xpath=//[":       "is not a selector: ",
		"p >> css=:bad((": "is not a selector: ",
		"**/{in,out":      "is not a URL glob",
	} {
		_, err := s.RequestTakeover(TakeoverOptions{Reason: "x", Until: until})
		if bad := (*invalid.Error)(nil); !errors.As(err, &bad) || bad.Fields[0].Field != "until" || !strings.Contains(bad.Fields[0].Error, words) {
			t.Errorf("until %q gave %v", until, err)
		}
	}
	for _, until := range []string{"text=not there", "//main", "#none", "body >> internal:control=enter-frame >> p", "**/{in,out}"} {
		to, err := s.RequestTakeover(TakeoverOptions{Reason: "x", Until: until})
		if err != nil {
			t.Errorf("until %q gave %v", until, err)
			continue
		}
		if err := to.Cancel("test"); err != nil {
			t.Errorf("until %q: %v", until, err)
		}
	}
	got := resultOf[[]string](t, startRun(t, s, `
		const wrong = [];
		for (const until of ['[', 5, null])
			await requestTakeover('x', { until }).catch(e => wrong.push(e.message.split('\n')[0]));
		return wrong;`))
	for i, want := range []string{"until: is not a selector: ", "until: expected a string", "until: expected a string"} {
		if i >= len(got) || !strings.HasPrefix(got[i], "requestTakeover: "+want) {
			t.Errorf("the script got %q", got)
		}
	}
}

// TestRunAfterRun checks that a caller who reads that a run has ended can start the next.
func TestRunAfterRun(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	for range 20 {
		r := startRun(t, s, `return 1`)
		for !r.Info().Status.Ended() {
			runtime.Gosched()
		}
		next, err := s.StartRun(RunOptions{Code: "return 2"})
		if err != nil {
			t.Fatal(err)
		}
		endOf(t, next)
	}
}

// TestRunsStartedTogether starts several runs at the same moment. One of them
// runs; the others are refused, or run after it.
func TestRunsStartedTogether(t *testing.T) {
	s := borrow(t, site(t))
	for range 5 {
		var ran atomic.Int32
		var work sync.WaitGroup
		for range 8 {
			work.Go(func() {
				r, err := s.StartRun(RunOptions{Code: "return 1"})
				if errors.Is(err, ErrRunning) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				<-r.Done()
				ran.Add(1)
			})
		}
		work.Wait()
		if ran.Load() == 0 {
			t.Error("all runs were refused")
		}
	}
}

// TestEndOfRun checks that cancelling a run inside requestTakeover ends its
// takeover, and that the session's end ends both.
func TestEndOfRun(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	r := startRun(t, s, `await requestTakeover('wait')`)
	to := openTakeoverOf(t, r)
	if _, err := s.StartRun(RunOptions{Code: "1"}); !errors.Is(err, ErrRunning) {
		t.Errorf("a second run gave %v", err)
	}
	r.Cancel()
	if info := endOf(t, r); info.Status != RunCancelled {
		t.Errorf("run %s: %+v", info.Status, info.Error)
	}
	<-to.Ended()
	if state := to.Info().State; state != TakeoverCancelled {
		t.Errorf("takeover %s", state)
	}

	r = startRun(t, s, `await requestTakeover('wait')`)
	to = openTakeoverOf(t, r)
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	if info := endOf(t, r); info.Status != RunCancelled {
		t.Errorf("run %s: %+v", info.Status, info.Error)
	}
	if state := to.Info().State; state != TakeoverCancelled {
		t.Errorf("takeover %s", state)
	}
}

// TestMoreTime extends a takeover in two ways: a person asks for more time, and
// the API sets a new deadline.
func TestMoreTime(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	v := join(t, s, RoleTakeover)
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "look", Timeout: time.Hour, RequestedBy: "test"})
	if err != nil {
		t.Fatal(err)
	}
	left := func() time.Duration { return time.Until(to.Info().Deadline) }
	if err := to.Extend(time.Minute); err != nil || left() > time.Minute {
		t.Fatalf("%v left, %v", left(), err)
	}
	if err := v.Takeover("extend", to.ID(), ""); err != nil || left() < 59*time.Minute {
		t.Errorf("after asking for more time: %v left, %v", left(), err)
	}
	await(v, "the new deadline", func(m TakeoverMessage) bool {
		return m.Takeover != nil && m.Takeover.Deadline.Equal(to.Info().Deadline)
	})
	if err := to.Extend(MaxTakeoverTimeout + time.Second); err == nil {
		t.Error("more than there is was given")
	}
	if err := to.Extend(MaxTakeoverTimeout); err != nil || to.Info().Deadline.After(to.Info().CreatedAt.Add(MaxTakeoverTimeout)) {
		t.Errorf("a takeover lives to %v, %v", to.Info().Deadline, err)
	}
	if err := to.Extend(time.Second); err != nil { // the newest deadline counts
		t.Fatal(err)
	}
	waitFor(t, "the end", to.Ended())
	if err := to.Extend(time.Minute); !errors.Is(err, ErrTakeoverState) {
		t.Errorf("after the end: %v", err)
	}
}

// TestClaimsAtOnce lets two people claim a takeover at the same moment, after the
// claimer has left. One of them must get it.
func TestClaimsAtOnce(t *testing.T) {
	s := borrow(t, "")
	first, second := join(t, s, RoleControl), join(t, s, RoleControl)
	for range 20 {
		to, err := s.newTakeover(TakeoverOptions{Reason: "sign in"})
		if err != nil {
			t.Fatal(err)
		}
		if err := to.Claim(control.Person("v_gone").String()); err != nil {
			t.Fatal(err)
		}
		var claims sync.WaitGroup
		var got [2]error
		s.mu.Lock() // both have to wait when they look whether the claimer is present
		for i, v := range []*viewer{first, second} {
			claims.Go(func() { got[i] = to.Claim(v.holder().String()) })
		}
		for range 100 {
			runtime.Gosched()
		}
		s.mu.Unlock()
		claims.Wait()
		if (got[0] == nil) == (got[1] == nil) || !errors.Is(errors.Join(got[:]...), ErrClaimed) {
			t.Fatalf("the claims gave %v and %v", got[0], got[1])
		}
	}
}
