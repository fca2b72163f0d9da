package web

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/control"
	"takeover/door/actions"
	"takeover/session"
)

// TestHandBackPlaywrightConnect lets a person sign in while playwright-core is connected
// by its own protocol.
func TestHandBackPlaywrightConnect(t *testing.T) {
	s := startPlaywright(t)
	handBackNode(s, "cdp", "handback-playwright.mjs", func(one *session.Session) []string {
		return []string{"connect", "ws" + strings.TrimPrefix(s.base, "http") + "/v1/sessions/" + one.ID() + "/playwright?apiKey=" + testKey}
	})
}

// TestHandBackAgentBrowser lets a person sign in while agent-browser is connected.
func TestHandBackAgentBrowser(t *testing.T) {
	foreignPackages(t)
	s := startServer(t, nil)
	handBackNode(s, "foreign", "handback-agent-browser.mjs", func(one *session.Session) []string {
		return []string{s.cdpAddress(one.ID())}
	})
}

// TestHandBackCommands lets a person sign in while a program sends commands. These have no
// handles: a chain finds its element anew. What the program has put into a document shows
// that it is still the same.
func TestHandBackCommands(t *testing.T) {
	s := startServer(t, nil)
	handBack(s, func(one *session.Session, turn turn) error {
		conn := s.socket("/v1/sessions/" + one.ID() + "/commands")
		last := 0
		send := func(tab int, links []link) func() (string, error) {
			last++
			id := fmt.Sprint(last)
			answer, err := conn.send(map[string]any{"type": "command", "commandId": id, "tab": tab, "method": links}, id)
			return func() (string, error) {
				if err != nil {
					return "", err
				}
				a, err := answer()
				if err == nil && a["error"] != nil {
					err = fmt.Errorf("%v: %v", links, a["error"])
				}
				return fmt.Sprint(a["result"]), err
			}
		}
		expect := func(want string, tab int, links []link) error {
			if got, err := send(tab, links)(); err != nil || got != want {
				return fmt.Errorf("%v gave %q, want %q: %w", links, got, want, err)
			}
			return nil
		}
		const none = "<nil>"
		for _, step := range []struct {
			tab  int
			do   []link
			want string
		}{
			{1, chain("goto", args{s.base + "/demo/account"}, "ok", nil), "true"},
			{1, chain("context", nil, "newPage", nil, "goto", args{s.base + "/demo/login"}, "ok", nil), "true"},
			{1, element("who", "evaluate", fn("e => { e.onclick = () => { e.title += 'clicked: ' + e.textContent } }")), none},
		} {
			if err := expect(step.want, step.tab, step.do); err != nil {
				return err
			}
		}
		turn.ready()
		turn.taken()
		var writes []func() (string, error)
		for _, w := range []struct {
			tab int
			do  []link
		}{{1, element("who", "click")}, {2, chain("getByText", args{"Sign out"}, "click", nil)}, {2, element("email", "fill", "after")}} {
			writes = append(writes, send(w.tab, w.do))
		}
		ended := make(chan error, len(writes))
		for _, answer := range writes {
			go func() {
				_, err := answer()
				turn.written()
				ended <- err
			}()
		}
		reads := errors.Join(
			expect("You are not signed in.", 1, element("who", "textContent")),
			expect(s.base+"/demo/login", 2, chain("url", nil)),
		)
		turn.sent()
		for range writes {
			reads = errors.Join(reads, <-ended)
		}
		return errors.Join(reads,
			expect("clicked: Signed in as Ada", 1, element("who", "getAttribute", "title")), // once, and after the person
			expect("after", 2, element("email", "inputValue")),
			expect(s.base+"/demo/login", 2, chain("url", nil)),
		)
	})
}

// TestHandBackActions lets a person sign in while a program sends debug actions. These have
// neither handles nor tabs: an action is for the tab that people saw when it began to wait.
func TestHandBackActions(t *testing.T) {
	s := startServer(t, nil)
	handBack(s, func(one *session.Session, turn turn) error {
		act := func(kind, body string) (actions.Response, error) {
			r, answer := s.do(request{method: "POST", path: "/v1/sessions/" + one.ID() + "/actions", body: body, header: map[string]string{"Content-Type": kind}}), actions.Response{}
			if r.status != 200 {
				return answer, fmt.Errorf("%s: %d %s", body, r.status, r.body)
			}
			r.decode(&answer)
			if i := slices.IndexFunc(answer.Results, func(d actions.Data) bool { return !d.Success }); i >= 0 {
				return answer, fmt.Errorf("%s: %s (%s)", body, answer.Results[i].Error, answer.Results[i].Hint)
			}
			return answer, nil
		}
		if _, err := act("application/json", `{"type":"navigate","url":"`+s.base+`/demo/account"}`); err != nil {
			return err
		}
		if err := openTab(s, one); err != nil {
			return err
		}
		if _, err := act("application/json", `{"type":"navigate","url":"`+s.base+`/demo/login"}`); err != nil {
			return err
		}
		turn.ready()
		turn.taken()
		picture, err := act("application/json", `{"type":"screenshot"}`)
		if err != nil || picture.Data.Screenshot == "" {
			return fmt.Errorf("a picture while a person is in control: %w", err)
		}
		if short, err := act("application/xml", `<browser_action action="type" selector="#email" text="early" personTimeout="1" timeout="1"/>`); err == nil || !strings.Contains(short.Data.Hint, "A person is in control") {
			return fmt.Errorf("an action that waits 1 ms: %+v", short.Data)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := act("application/xml", `<browser_action action="click" selector="text=Sign out" waitForNavigation="true" personTimeout="60000"/>
				<browser_action action="type" selector="#email" text="after" delay="0"/>`)
			turn.written()
			ended <- err
		}()
		turn.sent()
		if err := <-ended; err != nil {
			return err
		}
		var shown []string
		for _, tab := range one.Info().Tabs {
			shown = append(shown, fmt.Sprint(tab.Tab, " ", strings.TrimPrefix(tab.URL, s.base)))
		}
		if want := []string{"1 /demo/account", "2 /demo/login"}; !slices.Equal(shown, want) {
			return fmt.Errorf("the tabs are %q, want %q", shown, want)
		}
		_, err = act("application/json", `{"actions":[{"type":"type","selector":"#password","text":"x"},{"type":"click","selector":"text=Sign in >> nth=1"}]}`)
		return err
	})
}

// openTab opens a tab, which people then see.
func openTab(s *testServer, one *session.Session) error {
	program, err := session.OpenProgram(one, control.Client("opens"), session.ProgramOptions{})
	if err != nil {
		return err
	}
	defer program.Close()
	ctx := browsertest.Context(s.t, "a tab")
	client, err := program.Client(ctx)
	if err != nil {
		return err
	}
	_, err = client.OpenTab(ctx)
	return err
}
