package questions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"takeover/automation"
	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/cdp"
	"takeover/chromium"
	"takeover/invalid"
	"takeover/widget"
)

// rig is a Chromium whose pages ask the people in a room.
type rig struct {
	*room
	t      *testing.T
	proc   *chromium.Process
	model  *browser.Browser
	asked  *Questions
	url    string             // of a site whose pages ask questions, except for /quiet
	finish context.CancelFunc // ends the session

	mu    sync.Mutex // guards what follows
	shown *browser.Page
}

const askingPage = `<title>asks</title><style>*{margin:0}</style><select style="width:200px;height:30px"><option>one<option>two</select>
	<input type=file><script>document.querySelector('input').addEventListener('cancel', () => document.title = 'cancelled')</script>`

// start starts a Chromium that a person controls.
func start(t *testing.T) *rig {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/guarded":
			w.Header().Set("WWW-Authenticate", `Basic realm="vault"`)
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, "<title>refused</title>")
		case "/quiet":
			_, _ = fmt.Fprint(w, "<title>quiet</title>")
		default:
			_, _ = fmt.Fprint(w, askingPage)
		}
	}))
	t.Cleanup(srv.Close)
	r := &rig{room: newRoom(), t: t, proc: browsertest.Launch(t, chromium.LaunchOptions{}), url: srv.URL}
	r.control.Store(int32(Person))
	life, finish := context.WithCancel(context.WithoutCancel(t.Context()))
	r.finish = finish
	r.asked = New(life, Options{
		Host: r, Logger: slog.New(slog.DiscardHandler), Secret: func(...string) {}, Answered: func(*browser.Page) {},
		Shown: func() (*browser.Page, context.Context) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.shown, life
		},
	})
	t.Cleanup(r.asked.Close)
	t.Cleanup(finish)
	ctx := browsertest.Context(t, "start")
	var err error
	r.model, err = browser.Attach(ctx, r.proc.Conn(), nil)
	must(t, err)
	t.Cleanup(func() { must(t, r.model.Close()) })
	tracker, err := widget.New(ctx, r.model, widget.Options{
		Changed: func(*browser.Page, widget.Change) {}, Opened: r.asked.Pickers.Opened, Gone: r.asked.Pickers.Gone, Refused: r.asked.Permissions.Refused,
	})
	must(t, err)
	t.Cleanup(tracker.Close)
	scripts := automation.New(r.model, automation.Options{OnDialog: r.asked.Dialogs.ForPerson})
	t.Cleanup(scripts.Close)
	r.asked.Attach(Browser{Model: r.model, Tracker: tracker, Scripts: scripts})
	stop := r.model.Subscribe(func(ev browser.Event) {
		if ev, ok := ev.(browser.PageCreated); ok {
			r.asked.PageOpened(ev.Page)
		}
		r.asked.Handle(ev)
	})
	t.Cleanup(stop)
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asking opens a page in a browser context of its own and makes it ask.
func (r *rig) asking(ask func(*rig, *browser.Page)) (*browser.Page, told) {
	r.t.Helper()
	ctx := browsertest.Context(r.t, "open a page that asks")
	own, err := r.model.NewContext(ctx, browser.ContextOptions{})
	must(r.t, err)
	p, err := own.NewPage(ctx)
	must(r.t, err)
	_, err = p.MainFrame().Navigate(ctx, r.url+"/", browser.NavigateOptions{})
	must(r.t, err)
	must(r.t, p.Activate(ctx))
	r.mu.Lock()
	r.shown = p
	r.mu.Unlock()
	r.asked.Choosers.Intercept()
	r.forget()
	ask(r, p)
	return p, r.await("the question", func(m told) bool { return !m.Closed })
}

// told has the common fields of all messages about questions.
type told struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Closed bool   `json:"closed"`
}

// messages returns what viewers were told since the last forget.
func (r *rig) messages() ([]told, <-chan struct{}) {
	r.t.Helper()
	said, more := r.said()
	list := make([]told, len(said))
	for i, m := range said {
		raw, err := json.Marshal(m)
		must(r.t, err)
		must(r.t, json.Unmarshal(raw, &list[i]))
	}
	return list, more
}

func (r *rig) forget() {
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	r.told = nil
}

func (r *rig) await(what string, match func(told) bool) told {
	r.t.Helper()
	ctx := browsertest.Context(r.t, what)
	for {
		list, more := r.messages()
		for _, m := range list {
			if match(m) {
				return m
			}
		}
		select {
		case <-more:
		case <-ctx.Done():
			r.t.Fatalf("%v; viewers were told %+v", context.Cause(ctx), list)
		}
	}
}

// ended waits until a question was withdrawn, and checks that viewers were told
// exactly once.
func (r *rig) ended(asked told) {
	r.t.Helper()
	r.await("the end of "+asked.Type, func(m told) bool { return m.Closed && m.ID == asked.ID })
	list, _ := r.messages()
	n := 0
	for _, m := range list {
		if m.ID == asked.ID && m.Closed {
			n++
		}
	}
	if n != 1 {
		r.t.Errorf("the end of %s was told %d times", asked.Type, n)
	}
	if r.isOpen(asked) {
		r.t.Errorf("%s is open after its end", asked.Type)
	}
}

func (r *rig) isOpen(asked told) bool {
	return r.asked.open.find(func(q *question) bool { return q.id == asked.ID }) != nil
}

// run runs an expression in a page with user activation, and does not wait.
func run(r *rig, p *browser.Page, expression string) {
	r.t.Helper()
	params := runtime.EvaluateParams{Expression: "void (" + expression + ")", UserGesture: new(true)}
	must(r.t, cdp.Send(p.Session(), runtime.Evaluate, params))
}

// kinds lists all kinds of questions: how a page asks, and how a person answers.
var kinds = map[string]struct {
	ask    func(*rig, *browser.Page)
	answer func(ctx context.Context, q *Questions, id string) error
	waits  bool // until there is an answer, the page is blocked or its element waits
	own    bool // belongs to the person in control
}{
	"dialog": {
		ask: func(r *rig, p *browser.Page) {
			run(r, p, "setTimeout(() => { document.title = 'said ' + confirm('sure?') })")
		},
		answer: func(_ context.Context, q *Questions, id string) error { return q.Dialogs.Answer(id, true, "") },
		waits:  true,
	},
	"chooser": {
		ask:    func(r *rig, p *browser.Page) { run(r, p, "document.querySelector('input').click()") },
		answer: func(ctx context.Context, q *Questions, id string) error { return q.Choosers.Answer(ctx, id, nil) },
		waits:  true,
	},
	"auth": {
		ask: func(r *rig, p *browser.Page) {
			_, err := p.MainFrame().Navigate(browsertest.Context(r.t, "navigate"), r.url+"/guarded", browser.NavigateOptions{NoWait: true})
			must(r.t, err)
		},
		answer: func(ctx context.Context, q *Questions, id string) error {
			return q.SignIns.Answer(ctx, id, false, "", "")
		},
	},
	"permission": {
		ask: func(r *rig, p *browser.Page) {
			run(r, p, "navigator.geolocation.getCurrentPosition(() => {}, () => {})")
		},
		answer: func(ctx context.Context, q *Questions, id string) error {
			return q.Permissions.Answer(ctx, id, false, nil)
		},
	},
	"select": {
		ask: func(r *rig, p *browser.Page) {
			for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
				params := input.DispatchMouseEventParams{Type: kind, X: 50, Y: 15, Button: input.MouseButtonLeft, ClickCount: 1}
				must(r.t, cdp.Send(p.Session(), input.DispatchMouseEvent, params))
			}
		},
		answer: func(ctx context.Context, q *Questions, id string) error { return q.Pickers.Answer(ctx, id, nil) },
		own:    true,
	},
}

// TestOneRule combines every kind of question with everything that may end it.
func TestOneRule(t *testing.T) {
	r := start(t)
	for name, kind := range kinds {
		for _, c := range []struct {
			name string
			act  func(p *browser.Page, asked told)
			ends bool
		}{
			{"the page shows another document", func(p *browser.Page, _ told) {
				_, err := p.MainFrame().Navigate(browsertest.Context(t, "leave"), "about:blank", browser.NavigateOptions{NoWait: true})
				must(t, err)
			}, true},
			{"the page closes", func(p *browser.Page, _ told) { must(t, p.Close(browsertest.Context(t, "close"))) }, true},
			{"the renderer crashes", func(p *browser.Page, _ told) { must(t, cdp.Send(p.Session(), page.Crash, proto.Empty{})) }, true},
			{"another person gets control", func(*browser.Page, told) { r.asked.ControlChanged(true) }, kind.own},
			{"a script gets control", func(*browser.Page, told) {
				r.control.Store(int32(Program))
				r.asked.ControlChanged(false)
			}, kind.own},
			{"nobody is left", func(*browser.Page, told) {
				r.deserted.Store(true)
				r.asked.Abandoned()
			}, kind.waits},
			{"another page goes", func(*browser.Page, told) { r.asked.Handle(browser.PageCrashed{Page: new(browser.Page)}) }, false},
			{"answered", func(_ *browser.Page, asked told) {
				must(t, kind.answer(browsertest.Context(t, "answer"), r.asked, asked.ID))
				again := kind.answer(browsertest.Context(t, "answer again"), r.asked, asked.ID)
				if wrong, ok := errors.AsType[*invalid.Error](again); !ok || wrong.Fields[0].Field != "id" {
					t.Errorf("answered again: %v", again)
				}
			}, true},
		} {
			t.Run(name+": "+c.name, func(t *testing.T) {
				r.t = t
				p, asked := r.asking(kind.ask)
				if asked.Type != name {
					t.Fatalf("asked %+v", asked)
				}
				c.act(p, asked)
				if c.ends {
					r.ended(asked)
				} else if !r.isOpen(asked) {
					t.Error("the question ended")
				}
				r.deserted.Store(false)
				r.control.Store(int32(Person))
				must(t, p.Context().Close(browsertest.Context(t, "close")))
				if !c.ends {
					r.ended(asked)
				}
			})
		}
	}
}

// TestBrowserDies lets the browser die while a question of every kind is open.
func TestBrowserDies(t *testing.T) {
	r := start(t)
	all := r.askAll()
	must(t, syscall.Kill(r.proc.PID(), syscall.SIGKILL))
	browsertest.WaitGone(t, r.proc.PID())
	<-r.model.Done()
	r.asked.BrowserDied()
	for _, asked := range all {
		r.ended(asked)
	}
	if left := r.asked.Messages(true); len(left) > 0 {
		t.Errorf("open is %+v", left)
	}
}

// TestSessionEnds ends the session while a question of every kind is open. The
// viewers are told only that the session has ended, and no question after that.
func TestSessionEnds(t *testing.T) {
	r := start(t)
	all := r.askAll()
	r.forget()
	r.finish()
	r.asked.Close()
	for _, asked := range all {
		if r.isOpen(asked) {
			t.Errorf("%s is open after the end", asked.Type)
		}
		err := kinds[asked.Type].answer(browsertest.Context(t, "answer"), r.asked, asked.ID)
		if _, ok := errors.AsType[*invalid.Error](err); !ok {
			t.Errorf("%s answered after the end: %v", asked.Type, err)
		}
	}
	if list, _ := r.messages(); len(list) > 0 {
		t.Errorf("viewers were told %+v", list)
	}
}

// askAll makes one page ask each kind of question.
func (r *rig) askAll() []told {
	r.t.Helper()
	var all []told
	for _, kind := range kinds {
		_, asked := r.asking(kind.ask)
		all = append(all, asked)
	}
	return all
}
