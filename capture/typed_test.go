package capture_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/cdp"
)

// typing presses keys in a page whose field has the focus.
type typing struct {
	*browsertest.TestPage
	t *testing.T
}

func (p typing) key(name string) {
	p.t.Helper()
	for _, event := range []input.DispatchKeyEventType{"keyDown", "keyUp"} {
		if err := cdp.Send(p.Session, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: event, Key: name}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// busy keeps the page's main thread busy for a second, and returns when that has
// begun.
func (p typing) busy() {
	p.t.Helper()
	if _, err := cdp.Call(p.t.Context(), p.Session, runtime.AddBinding, runtime.AddBindingParams{Name: "began"}); err != nil {
		p.t.Fatal(err)
	}
	defer p.Await(runtime.BindingCalled.Method)
	if err := cdp.Send(p.Session, runtime.Evaluate, runtime.EvaluateParams{Expression: "busy(1000)"}); err != nil {
		p.t.Fatal(err)
	}
}

// keys returns the recorded events of a key.
func (r *recording) keys(name string) (found []string) {
	page := r.Ring().Snapshot(0, 1000, capture.Filter{Types: []string{capture.TypeInteractionKey}})
	for _, e := range page.Events {
		if strings.Contains(string(e.Data), `"key":"`+name+`"`) {
			found = append(found, string(e.Data))
		}
	}
	return found
}

// TestKeysOfPeople tries the different orders in which control changes, captures
// start and keys are reported, and checks that no key of a person is ever
// recorded.
func TestKeysOfPeople(t *testing.T) {
	const page = `<input id=q autofocus><script>
		window.busy = (ms) => { began(""); for (const end = Date.now() + ms; Date.now() < end;); };
		window.heard = []; addEventListener("keydown", (e) => window.heard.push(e.key));
	</script>`
	for name, steps := range map[string]func(r *recording, p typing){
		"control is taken again": func(r *recording, p typing) {
			r.PersonControls(true)
			r.PersonControls(true) // by another person
			p.key("x")
			r.PersonControls(false)
		},
		"control is given back twice": func(r *recording, p typing) {
			r.PersonControls(true)
			p.key("x")
			r.PersonControls(false)
			r.PersonControls(false)
		},
		"the page reports the key after control was given back": func(r *recording, p typing) {
			r.PersonControls(true)
			p.busy()
			p.key("x")
			r.PersonControls(false)
		},
		"a capture starts while the person types": func(r *recording, p typing) {
			r.Stop()
			r.PersonControls(true)
			p.key("x")
			if _, err := r.Start(capture.Config{Interactions: true}); err != nil {
				r.t.Error(err)
			}
			p.key("x")
			r.PersonControls(false)
		},
		"an event says that a script has control": func(r *recording, p typing) {
			r.PersonControls(true)
			e, err := capture.NewEvent(capture.TypeControlChanged, map[string]any{"holder": "script", "epoch": 7})
			if err == nil {
				_, err = r.Add(e)
			}
			if err != nil {
				r.t.Error(err)
			}
			p.key("x")
			r.PersonControls(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, capture.Config{Interactions: true})
			base := site{pages: map[string]string{"/": page}}.start(t)
			p := typing{browsertest.Page(t), t}
			p.Open(base + "/")
			p.Eval(`document.querySelector("#q").focus(); 0`, nil)
			steps(r, p)
			browsertest.Until(t, "the person's key in the page", func() (heard bool) {
				p.Eval(`window.heard.includes("x")`, &heard)
				return heard
			})
			// A program's key is recorded soon afterwards. By then, everything
			// that the page reported before it has arrived.
			looks := 0
			browsertest.Until(t, "a program's key", func() bool {
				if looks++; looks%20 == 1 { // more than 20 keys a second are not recorded
					p.key("y")
				}
				return len(r.keys("y")) > 0
			})
			if keys := r.keys("x"); len(keys) > 0 {
				t.Errorf("recorded %s", keys)
			}
		})
	}
}
