package cdp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/cdp/policy"
	"takeover/control"
	"takeover/door/doortest"
	"takeover/limits"
	"takeover/session"
)

// writeParams are the parameters of writing commands that the door refuses without
// them. For the others it is enough that Chromium refuses them.
var writeParams = map[string]string{
	"DOM.setFileInputFiles":        `{"files":[]}`,
	"Input.dispatchKeyEvent":       `{"type":"keyDown","key":"a"}`,
	"Network.loadNetworkResource":  `{"url":"http://127.0.0.1:9/","options":{"disableCache":true,"includeCredentials":false}}`,
	"Page.handleJavaScriptDialog":  `{"accept":true}`,
	"Page.navigate":                `{"url":"about:blank"}`,
	"Runtime.evaluate":             `{"expression":"1"}`,
	"Target.createTarget":          `{"url":"about:blank"}`,
	"Target.disposeBrowserContext": `{"browserContextId":"none"}`,
}

// actionsSince returns the events of a program's actions, in order.
func actionsSince(t *testing.T, s *session.Session, since uint64, program string) []actionEvent {
	t.Helper()
	got, err := s.Journal().Events(t.Context(), since, 1000, capture.Filter{Types: []string{capture.TypeActionStarted, capture.TypeActionEnded}})
	if err != nil {
		t.Fatal(err)
	}
	var list []actionEvent
	for _, e := range got.Events {
		a := actionEvent{Type: e.Type}
		if err := json.Unmarshal(e.Data, &a); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(a.Actor, program) {
			list = append(list, a)
		}
	}
	return list
}

// actionEvent is an event of an action.
type actionEvent struct {
	Type             string `json:"-"`
	ID               string `json:"action_id"`
	Actor, Operation string
	OK               *bool
}

// TestEveryWritingCommandWaits sends every command that the table calls writing while
// a person is in control. None is answered or begins. When the person is done, all
// begin. Each ends with its answer, or with its client at the latest: several of these
// commands end the page or stop it, and Chromium answers no others then.
func TestEveryWritingCommandWaits(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	if _, err := s.StartCapture(t.Context(), capture.Config{Actions: true}); err != nil {
		t.Fatal(err)
	}
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	p.evaluate(page, "1") // from now on, settings are not part of setting up a new page
	leave := doortest.Person(t, s)
	began := s.Monitor().Ring().Last()
	sent := map[int]string{}
	for m := range policy.All() {
		if !m.Writes || m.Client == policy.Refused {
			continue
		}
		params := writeParams[m.Name]
		if params == "" {
			params = "{}"
		}
		sent[p.send(page, m.Name, params)] = m.Name
	}
	if len(sent) < 200 {
		t.Errorf("only %d commands write", len(sent))
	}
	p.call(page, "DOM.getDocument", "", nil) // the door has read all of them
	for _, m := range p.got {
		if m.ID != nil {
			t.Errorf("%s was answered while a person was in control: %s %+v", sent[*m.ID], m.Result, m.Error)
		}
	}
	for _, a := range actionsSince(t, s, began, "client:cdp_") {
		t.Errorf("%s of %s while a person was in control", a.Type, a.Operation)
	}
	leave()
	started, ended := map[string]string{}, map[string]string{}
	look := func() {
		clear(started)
		clear(ended)
		for _, a := range actionsSince(t, s, began, "client:cdp_") {
			switch {
			case a.Type == capture.TypeActionStarted && started[a.Operation] == "":
				started[a.Operation] = a.ID
			case a.Type == capture.TypeActionEnded && ended[a.Operation] == "" && started[a.Operation] == a.ID && a.OK != nil:
				ended[a.Operation] = a.ID
			default:
				t.Fatalf("%s of %s is not one of a pair", a.Type, a.Operation)
			}
		}
	}
	browsertest.Until(t, "the beginnings", func() bool { look(); return len(started) == len(sent) })
	_ = p.conn.CloseNow()
	browsertest.Until(t, "the ends", func() bool { look(); return len(ended) == len(sent) })
}

// TestTwentyClients lets twenty programs work in one session. One of them asks for
// much and reads nothing: it is cut, and the others get every answer.
func TestTwentyClients(t *testing.T) {
	const clients, rounds = 20, 50
	s := doortest.Borrow(t, "")
	hits := limits.New()
	address := serveLittle(t, s, hits)
	stalled := dial(t, address)
	page := stalled.open()
	pages := make([]string, clients)
	peers := make([]*peer, clients)
	for i := 1; i < clients; i++ {
		peers[i] = dial(t, address)
		pages[i] = peers[i].open()
	}
	stalled.overfill(page)
	ended := stalled.cut(hits)
	errs := make(chan error, clients)
	for i := 1; i < clients; i++ {
		go func() {
			var err error
			for begun := false; err == nil && (!begun || len(ended) == 0); begun = true {
				err = workOn(t, peers[i], pages[i], i, rounds)
			}
			errs <- err
		}()
	}
	for i := 1; i < clients; i++ {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := <-ended; !strings.HasPrefix(got, "4008 ") {
		t.Errorf("the stalled client ended with %q", got)
	}
	for i := 1; i < clients; i++ { // it took nothing with it
		if err := workOn(t, peers[i], pages[i], i, 1); err != nil {
			t.Error(err)
		}
	}
}

// workOn evaluates in a page for some rounds, and checks each answer. It runs beside
// the test's goroutine.
func workOn(t *testing.T, p *peer, page string, number, rounds int) error {
	ctx := browsertest.Context(t, fmt.Sprintf("the answers of client %d", number))
	for round := range rounds {
		p.last++
		command := fmt.Sprintf(`{"id":%d,"sessionId":%q,"method":"Runtime.evaluate","params":{"expression":"'%d of %d'"}}`, p.last, page, round, number)
		if err := p.conn.Write(ctx, websocket.MessageText, []byte(command)); err != nil {
			return fmt.Errorf("client %d: %w", number, err)
		}
		for {
			_, raw, err := p.conn.Read(ctx)
			if err != nil {
				return fmt.Errorf("client %d: %w", number, err)
			}
			var m wire
			if err := json.Unmarshal(raw, &m); err != nil {
				return fmt.Errorf("client %d: %w", number, err)
			}
			if m.ID == nil {
				continue
			}
			if *m.ID != p.last || !strings.Contains(string(m.Result), fmt.Sprintf("%d of %d", round, number)) {
				return fmt.Errorf("client %d got %s for %s", number, raw, command)
			}
			break
		}
	}
	return nil
}

// TestHold holds programs: of the commands that write, one passes at a time, in order, and
// one is refused. What reads is answered.
func TestHold(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	p.evaluate(page, "window.all = ''; 0")
	v, err := s.Join(session.ViewerOptions{Role: session.RoleControl})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Leave)
	next := func() uint64 { // waits for the action that is shown
		ctx := browsertest.Context(t, "an action that waits")
		for {
			m, err := v.NextMessage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if c, ok := m.(session.ControlMessage); ok && c.Held != nil && len(c.Held.Waiting) > 0 {
				return c.Held.Waiting[0].Number
			}
		}
	}
	hold := func(action string, number uint64) {
		t.Helper()
		if err := v.Hold(action, number); err != nil {
			t.Fatal(err)
		}
	}
	hold("hold", 0)
	var sent []int
	for _, letter := range []string{"a", "b", "c"} {
		sent = append(sent, p.send(page, "Runtime.evaluate", fmt.Sprintf(`{"expression":"all += '%s'"}`, letter)))
	}
	p.call(page, "DOM.getDocument", "", nil)
	answered := func(id int) bool {
		return slices.ContainsFunc(p.got, func(m wire) bool { return m.ID != nil && *m.ID == id })
	}
	if slices.ContainsFunc(sent, answered) {
		t.Error("a command that writes was answered while programs are held")
	}
	first := next()
	hold("pass", first)
	if m := p.reply(sent[0]); m.Error != nil {
		t.Errorf("the command that passed: %+v", m.Error)
	}
	second := next()
	for second == first {
		second = next()
	}
	if answered(sent[1]) {
		t.Error("the next command passed, too")
	}
	hold("end", second)
	if m := p.reply(sent[1]); m.Error == nil || m.Error.Message != control.ErrRefused.Error() {
		t.Errorf("the command that was ended: %+v", m.Error)
	}
	hold("go_on", 0)
	if m := p.reply(sent[2]); m.Error != nil {
		t.Errorf("the command that went on: %+v", m.Error)
	}
	if all := p.evaluate(page, "all"); all != "ac" {
		t.Errorf("the page has %s", all)
	}
}
