package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"takeover/automation"
	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/control"
)

// actionEvent is the data of action_started and action_ended.
type actionEvent struct {
	ID                       string `json:"action_id"`
	Actor, Operation, Target string
	OK                       *bool
	Error                    string
	Duration                 *float64 `json:"duration_ms"`
}

// actionsOf returns what is recorded about a session's actions: the events by
// type and operation, and all of them as one text.
func actionsOf(t *testing.T, s *Session) (started, ended map[string]actionEvent, all string) {
	t.Helper()
	page, err := s.Journal().Events(t.Context(), 0, 1000, capture.Filter{Types: []string{capture.TypeActionStarted, capture.TypeActionEnded}})
	if err != nil {
		t.Fatal(err)
	}
	started, ended = map[string]actionEvent{}, map[string]actionEvent{}
	for _, e := range page.Events {
		var a actionEvent
		if err := json.Unmarshal(e.Data, &a); err != nil {
			t.Fatal(err)
		}
		all += string(e.Data) + "\n"
		if e.Category != capture.CategoryControl {
			t.Errorf("category %q", e.Category)
		}
		if key := a.Operation + " " + a.Target; e.Type == capture.TypeActionStarted {
			started[key] = a
		} else {
			ended[key] = a
		}
	}
	return started, ended, all
}

const actionsCode = `
	await page.setContent('<input id=pw type=password><button id=go>Go</button>');
	await page.fill('#pw', 'correct horse');
	await page.click('#go');
	await page.fill('#go', 'correct horse').catch(() => {});
	await page.selectOption('#pw', 'correct horse').catch(() => {});
	await page.click('#none', { timeout: 50 }).catch(() => {});`

// TestActionsAreTold lets a script act while the capture includes actions.
func TestActionsAreTold(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	if _, err := s.StartCapture(browsertest.Context(t, "start capture"), capture.Config{Actions: true}); err != nil {
		t.Fatal(err)
	}
	endOf(t, startRun(t, s, actionsCode))
	started, ended, all := actionsOf(t, s)
	for operation, want := range map[string]string{
		"frame.fill #pw": "", "frame.click #go": "",
		"frame.fill #go": "Element is not an <input>", "frame.selectOption #pw": "Element is not a <select>", "frame.click #none": "Timeout 50ms exceeded",
	} {
		from, to := started[operation], ended[operation]
		if from.Actor != "script" || from.OK != nil || from.Duration != nil {
			t.Errorf("%s began as %+v", operation, from)
		}
		if to.Actor != "script" || to.OK == nil || to.Duration == nil || *to.Duration < 0 {
			t.Errorf("%s ended as %+v", operation, to)
			continue
		}
		if from.ID == "" || to.ID != from.ID {
			t.Errorf("%s began as %q and ended as %q", operation, from.ID, to.ID)
		}
		if *to.OK != (want == "") || !strings.Contains(to.Error, want) || want == "" && to.Error != "" {
			t.Errorf("%s ended as %v %q, want %q", operation, *to.OK, to.Error, want)
		}
	}
	if strings.Contains(all, "correct horse") {
		t.Errorf("a text that was entered is told:\n%s", all)
	}
}

// TestErrorsDoNotTellWhatWasEntered checks that an operation's content is removed
// from its error, however the error quotes it, but that the rest of the error and
// the operation's other parameters stay.
func TestErrorsDoNotTellWhatWasEntered(t *testing.T) {
	for _, c := range []struct{ params, err, want string }{
		{`{"selector":"#a","value":"hunter2"}`, `cannot enter "hunter2" in #a`, `cannot enter "[REDACTED]" in #a`},
		{`{"options":[{"label":"hunter2"}]}`, `no hunter2`, `no [REDACTED]`},
		{`{"value":"a"}`, `a fault`, `a fault`},
		{`not JSON`, `bad parameters`, `bad parameters`},
		{`{"value":"pass","text":"pass-word","key":"pass-word-long"}`, `no pass-word-long, pass`, `no [REDACTED], [REDACTED]`},

		{`{"url":"http://a/","waitUntil":"load","state":"visible"}`, `Download is starting; not visible`, `Download is starting; not visible`},
		{`{"name":"value","type":"click","button":"left"}`, `no value to click, left`, `no value to click, left`},
		{`{"value":"say \"hi\"\n<b>"}`, `invalid: {"got":"say \"hi\"\n<b>"}`, `invalid: {"got":"[REDACTED]"}`},
		{`{"value":"a b&c=d"}`, `no http://x/?q=a%20b%26c%3Dd and a+b%26c%3Dd`, `no http://x/?q=[REDACTED] and [REDACTED]`},
		{`{"value":"say \"hi\""}`, `<input value="say &#34;hi&#34;">`, `<input value="[REDACTED]">`},
		{`{"arg":{"value":{"o":[{"k":"name","v":{"s":"hunter2"}},{"k":"none","v":{"v":"undefined"}}],"id":1}}}`,
			`hunter2: name is undefined`, `[REDACTED]: name is undefined`},
		{`{"files":[{"name":"a.txt","mimeType":"text/plain","buffer":"aHVudGVyMg=="}]}`,
			`a.txt (text/plain): hunter2 or aHVudGVyMg==`, `a.txt (text/plain): [REDACTED] or [REDACTED]`},
		{`{"data":{"text/plain":"hunter2"}}`, `no text/plain hunter2`, `no text/plain [REDACTED]`},
	} {
		if got := failureOf(errors.New(c.err), json.RawMessage(c.params)); got != c.want {
			t.Errorf("%s of %s is told as %s, want %s", c.err, c.params, got, c.want)
		}
	}
}

// gatedActor returns a client of a session, the id of the shown page's frame, and
// a channel that gets a value each time the client has to wait for control.
func gatedActor(t *testing.T, s *Session) (by actor, frame string, asked <-chan struct{}) {
	t.Helper()
	eng, err := s.ready()
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	asks := make(chan struct{}, 100)
	holder := control.Client("c")
	by = actor{holder, eng.auto.NewClient(automation.ClientOptions{AwaitControl: func(ctx context.Context, caller any) error {
		if ctx.Err() == nil {
			asks <- struct{}{}
		}
		return s.admit(ctx, holder, caller)
	}})}
	t.Cleanup(func() { s.leave(by) })
	return by, by.client.FrameID(p.MainFrame()), asks
}

// actLater runs an operation in the background.
func actLater(s *Session, by actor, operation, params string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.do(context.Background(), by, Operation{Name: operation, Params: json.RawMessage(params)})
		done <- err
	}()
	return done
}

// TestActionsBeginBehindTheGate lets a client act while a person is in control.
// The action starts when the person has given control back.
func TestActionsBeginBehindTheGate(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	if _, err := s.StartCapture(browsertest.Context(t, "start capture"), capture.Config{Actions: true}); err != nil {
		t.Fatal(err)
	}
	v := join(t, s, RoleControl)
	v.take()
	by, frame, asked := gatedActor(t, s)
	acted := actLater(s, by, "frame.setContent", fmt.Sprintf(`{"frame":%q,"html":"x"}`, frame))
	waitFor(t, "a wait for control", asked)
	if started, _, _ := actionsOf(t, s); len(started) > 0 {
		t.Errorf("it began while a person was in control: %v", started)
	}
	s.control.GiveUp(v.holder())
	if err := <-acted; err != nil {
		t.Fatal(err)
	}
	if started, ended, _ := actionsOf(t, s); len(started) != 1 || len(ended) != 1 {
		t.Errorf("it began as %v and ended as %v", started, ended)
	}

	// An action that never started has no end event.
	v.take()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.do(ctx, by, Operation{Name: "frame.setContent", Params: json.RawMessage(fmt.Sprintf(`{"frame":%q,"html":"y"}`, frame))}); err == nil {
		t.Error("it was carried out beside a person")
	}
	if _, ended, _ := actionsOf(t, s); len(ended) != 1 {
		t.Errorf("what did not begin ended as %v", ended)
	}
}

// TestActionsDoNotCountPeople lets a person take control while an action waits
// for its element. That time does not count towards the action's duration.
func TestActionsDoNotCountPeople(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	if _, err := s.StartCapture(browsertest.Context(t, "start capture"), capture.Config{Actions: true}); err != nil {
		t.Fatal(err)
	}
	v := join(t, s, RoleControl)
	by, frame, asked := gatedActor(t, s)
	began := time.Now()
	acted := actLater(s, by, "frame.click", fmt.Sprintf(`{"frame":%q,"selector":"#late"}`, frame))
	waitFor(t, "a wait at the beginning", asked)
	browsertest.Until(t, "the action's beginning", func() bool { started, _, _ := actionsOf(t, s); return len(started) == 1 })
	v.take()
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	runIn(t, p, `document.body.innerHTML = '<button id=late>x</button>'`)
	waitFor(t, "a wait before the click", asked)
	waits := time.Now()
	for range 100 { // the person works
		runIn(t, p, `document.title += '.'`)
	}
	held := time.Since(waits)
	s.control.GiveUp(v.holder())
	if err := <-acted; err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	_, ended, _ := actionsOf(t, s)
	if got := ended["frame.click #late"].Duration; got == nil || *got > float64(msOf(whole-held)) {
		t.Errorf("duration %v ms, of %v in all with %v of a person", *got, whole, held)
	}
}

// TestActionsHaveBothEnds starts and stops captures while an action runs. A
// capture has the action's end only if it has its start.
func TestActionsHaveBothEnds(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	start := func(c capture.Config) {
		t.Helper()
		if _, err := s.StartCapture(browsertest.Context(t, "start capture"), c); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	by, frame, asked := gatedActor(t, s)
	for _, c := range []struct {
		name         string
		before       bool // whether a capture includes actions when the action starts
		meanwhile    func()
		begins, ends int
	}{
		{"a capture that stays", true, func() {}, 1, 1},
		{"a capture that asks later", false, func() { start(capture.Config{Actions: true}) }, 0, 0},
		{"another capture", true, func() { s.Monitor().Stop(); start(capture.Config{Actions: true}) }, 1, 0},
		{"a capture that asks no more", true, func() { start(capture.Config{}) }, 1, 0},
	} {
		s.Monitor().Stop()
		start(capture.Config{Actions: c.before})
		runIn(t, p, `document.body.innerHTML = ''`)
		_, _, already := actionsOf(t, s)
		acted := actLater(s, by, "frame.click", fmt.Sprintf(`{"frame":%q,"selector":"#late"}`, frame))
		waitFor(t, "a wait for control", asked)
		if c.before {
			browsertest.Until(t, "the beginning", func() bool { _, _, all := actionsOf(t, s); return all != already })
		}
		c.meanwhile()
		runIn(t, p, `document.body.innerHTML = '<button id=late>x</button>'`)
		if err := <-acted; err != nil {
			t.Fatal(err)
		}
		_, _, all := actionsOf(t, s)
		told := strings.TrimPrefix(all, already)
		if begins, ends := strings.Count(told, "{")-strings.Count(told, `"ok"`), strings.Count(told, `"ok"`); begins != c.begins || ends != c.ends {
			t.Errorf("%s: %d beginnings, %d ends, want %d and %d:\n%s", c.name, begins, ends, c.begins, c.ends, told)
		}
		for len(asked) > 0 {
			<-asked
		}
	}
}

// TestSecretsAtTheCut cuts the description of an action in the middle of a
// secret.
func TestSecretsAtTheCut(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	defer s.monitor.Redactor().AddSecret("correct-horse-battery")()
	got := s.brief(strings.Repeat("a", maxTarget-10) + "correct-horse-battery")
	if strings.Contains(got, "correct") || len(got) > maxTarget {
		t.Errorf("told is %q", got)
	}
}

// TestActionsAreToldOnlyWhenAsked lets a script act while a capture includes
// everything except actions.
func TestActionsAreToldOnlyWhenAsked(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	config := capture.PanelConfig()
	if _, err := s.StartCapture(browsertest.Context(t, "start capture"), config); err != nil {
		t.Fatal(err)
	}
	endOf(t, startRun(t, s, actionsCode))
	if _, _, all := actionsOf(t, s); all != "" {
		t.Errorf("told unasked:\n%s", all)
	}

	// Operations cost nothing extra after a capture with actions has ended, but for what the
	// lease knows them by.
	config.Actions = true
	if _, err := s.StartCapture(browsertest.Context(t, "start capture"), config); err != nil {
		t.Fatal(err)
	}
	s.Monitor().Stop()
	eng, err := s.ready()
	if err != nil {
		t.Fatal(err)
	}
	a := s.newActor(eng, control.Client("c"), nil)
	defer s.leave(a)
	ctx, params := t.Context(), json.RawMessage(`{}`)
	direct := fewestAllocs(func() { _, _ = a.client.Do(ctx, automation.Call{Name: "no such operation", Params: params}) })
	through := fewestAllocs(func() { _, _ = s.do(ctx, a, Operation{Name: "no such operation", Params: params}) })
	if through > direct+1 {
		t.Errorf("the way in allocates %v times, the operation itself %v times", through, direct)
	}
}

// fewestAllocs returns how often f allocates. The counter is of the whole process, in which a
// browser may say something meanwhile, so the lowest of some counts is f's own.
func fewestAllocs(f func()) float64 {
	fewest := math.Inf(1)
	for range 20 {
		fewest = min(fewest, testing.AllocsPerRun(20, f))
	}
	return fewest
}

// TestProgramsActTogether checks that a client may act beside a script, and
// neither of them beside a person.
func TestProgramsActTogether(t *testing.T) {
	s := borrow(t, site(t))
	v := join(t, s, RoleControl)
	eng, err := s.ready()
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	client := s.newActor(eng, control.Client("c"), nil)
	defer s.leave(client)
	title := func(ctx context.Context, to string) error {
		params := fmt.Sprintf(`{"frame":%q,"html":"<title>%s</title>"}`, client.client.FrameID(p.MainFrame()), to)
		_, err := s.do(ctx, client, Operation{Name: "frame.setContent", Params: json.RawMessage(params)})
		return err
	}
	run := startRun(t, s, `await page.bringToFront(); console.log('there'); await page.waitForTimeout(600_000)`)
	logged(t, run)
	if err := title(t.Context(), "beside a script"); err != nil {
		t.Fatal(err)
	}
	if holder := s.control.Holder(); holder != control.Script {
		t.Errorf("beside the client the holder is %q", holder)
	}
	run.Cancel()
	endOf(t, run)
	if holder := s.control.Holder(); holder != control.Client("c") {
		t.Errorf("after the script the holder is %q", holder)
	}

	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, program := range []control.Holder{control.Script, control.Client("c")} {
		if err := s.control.AwaitWrite(over, control.By(program)); err == nil {
			t.Errorf("%s acts beside a person", program)
		}
	}
	acted := make(chan error, 1)
	go func() { acted <- title(t.Context(), "after a person") }()
	s.control.GiveUp(v.holder())
	if err := <-acted; err != nil {
		t.Errorf("after the person: %v", err)
	}
}
