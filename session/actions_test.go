package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/control"
)

// actionEvent is the data of action_started and action_ended.
type actionEvent struct {
	Actor, Operation, Target string
	OK                       *bool
	Error                    string
	Duration                 *float64 `json:"duration_ms"`
}

// actionsOf returns what is recorded of a session's actions: the events by type and
// operation, and all of them as one text.
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

// TestActionsAreTold has a script act while the capture asks for its actions.
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
		if *to.OK != (want == "") || !strings.Contains(to.Error, want) || want == "" && to.Error != "" {
			t.Errorf("%s ended as %v %q, want %q", operation, *to.OK, to.Error, want)
		}
	}
	if strings.Contains(all, "correct horse") {
		t.Errorf("a text that was entered is told:\n%s", all)
	}
}

// TestErrorsDoNotTellWhatWasEntered takes the content that an operation was given
// out of its error, however the error quotes it, but not the words of the error
// itself nor the operation's other parameters.
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

// TestSecretsAtTheCut has a secret stand where the description of an action is cut.
func TestSecretsAtTheCut(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	defer s.monitor.Redactor().AddSecret("correct-horse-battery")()
	got := s.brief(strings.Repeat("a", maxTarget-10) + "correct-horse-battery")
	if strings.Contains(got, "correct") || len(got) > maxTarget {
		t.Errorf("told is %q", got)
	}
}

// TestActionsAreToldOnlyWhenAsked has a script act while a capture asks for all
// but its actions.
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

	// The way in costs nothing then, and nothing after a capture that asked.
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
	direct := testing.AllocsPerRun(100, func() { _, _ = a.client.Call(ctx, "no such operation", params) })
	through := testing.AllocsPerRun(100, func() { _, _ = s.act(ctx, a, "no such operation", params) })
	if through > direct {
		t.Errorf("the way in allocates %v times, the operation itself %v times", through, direct)
	}
}

// TestProgramsActTogether has a client act beside a script, and neither beside a
// person.
func TestProgramsActTogether(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
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
		_, err := s.act(ctx, client, "frame.setContent", json.RawMessage(params))
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
		if err := s.gate(over, program); err == nil {
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
