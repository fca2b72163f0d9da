package automation_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"takeover/automation"
	"takeover/browser"
	"takeover/browser/browsertest"
)

func TestMain(m *testing.M) {
	browsertest.Main(m)
}

func model(t testing.TB) *browser.Browser {
	t.Helper()
	b, err := browser.Attach(t.Context(), browsertest.Start(t).Conn(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// rig is a client with a page of its own.
type rig struct {
	testing.TB
	browser    *browser.Browser
	automation *automation.Automation
	client     *automation.Client
	context    *browser.Context
	page       string
	frame      string

	mu     sync.Mutex
	events []string
	read   int           // events that next has passed
	told   chan struct{} // one token: a new event has arrived
}

func newRig(t testing.TB, options ...func(*automation.Options)) *rig {
	t.Helper()
	r := &rig{TB: t, browser: model(t), told: make(chan struct{}, 1)}
	var o automation.Options
	for _, option := range options {
		option(&o)
	}
	r.automation = automation.New(r.browser, o)
	t.Cleanup(r.automation.Close)
	bc, err := r.browser.NewContext(t.Context(), browser.ContextOptions{Viewport: &browser.Viewport{Width: 1280, Height: 720}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
		defer cancel()
		if err := bc.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	r.context = bc
	r.client = r.automation.NewClient(clientOptions(r))
	t.Cleanup(r.client.Close)
	r.do("init", nil, nil)
	r.open()
	return r
}

// open opens a new page and makes it the rig's page.
func (r *rig) open() {
	r.Helper()
	var created struct{ Page string }
	r.do("context.newPage", nil, &created)
	r.page = created.Page
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		var ev struct {
			Event string
			P     struct {
				ID        string
				MainFrame struct{ ID string }
			}
		}
		if json.Unmarshal([]byte(e), &ev) == nil && ev.Event == "page.created" && ev.P.ID == r.page {
			r.frame = ev.P.MainFrame.ID
			return
		}
	}
	r.Fatalf("page.created was not told before the reply; events: %v", r.events)
}

// rename replaces the rig's page and frame names by those from the client's own
// init.
func (r *rig) rename() {
	r.Helper()
	var init struct {
		Pages []struct {
			ID        string
			MainFrame struct{ ID string }
		}
	}
	r.do("init", nil, &init)
	r.page, r.frame = init.Pages[0].ID, init.Pages[0].MainFrame.ID
}

func (r *rig) emit(event string, params json.RawMessage) {
	line, _ := json.Marshal(map[string]any{"Event": event, "P": params})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, string(line))
	select {
	case r.told <- struct{}{}:
	default:
	}
}

// await waits until there is an event of a kind, and decodes the newest.
func (r *rig) await(event string, out any) {
	r.Helper()
	r.awaitLine(event, func() string { return r.last(event) }, out)
}

// next waits for an event of a kind that came after the one it returned last, and
// decodes it.
func (r *rig) next(event string, out any) {
	r.Helper()
	r.awaitLine(event, func() string {
		r.mu.Lock()
		defer r.mu.Unlock()
		for r.read < len(r.events) {
			line := r.events[r.read]
			r.read++
			if isEvent(line, event) {
				return line
			}
		}
		return ""
	}, out)
}

func (r *rig) awaitLine(what string, line func() string, out any) {
	r.Helper()
	ctx := browsertest.Context(r, what)
	for {
		if found := line(); found != "" {
			if err := json.Unmarshal([]byte(found), out); err != nil {
				r.Fatal(err)
			}
			return
		}
		select {
		case <-r.told:
		case <-ctx.Done():
			r.Fatal(context.Cause(ctx))
		}
	}
}

// isEvent reports whether a line is an event of a kind.
func isEvent(line, event string) bool { return strings.HasPrefix(line, `{"Event":"`+event+`"`) }

type params = map[string]any

// call runs an operation. It adds the rig's frame or page where none is given.
func (r *rig) call(op string, p params, out any) error {
	full := params{}
	for k, v := range p {
		full[k] = v
	}
	switch op[:4] {
	case "fram":
		if _, ok := full["frame"]; !ok {
			full["frame"] = r.frame
		}
	case "page", "mous", "keyb", "touc":
		if _, ok := full["page"]; !ok {
			full["page"] = r.page
		}
	}
	raw, err := json.Marshal(full)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), browsertest.Patience)
	defer cancel()
	res, err := r.client.Do(ctx, automation.Call{Name: op, Params: raw})
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(res, out)
}

// do runs an operation that must succeed.
func (r *rig) do(op string, p params, out any) {
	r.Helper()
	if err := r.call(op, p, out); err != nil {
		r.Fatalf("%s %v: %v", op, p, err)
	}
}

// value runs an operation and returns its {value}.
func (r *rig) value(op string, p params) any {
	r.Helper()
	var out struct{ Value any }
	r.do(op, p, &out)
	return out.Value
}

// html loads a document.
func (r *rig) html(body string) {
	r.Helper()
	r.do("frame.setContent", params{"html": "<!DOCTYPE html>" + body}, nil)
}

// eval evaluates an expression in the page and returns its value as decoded JSON.
func (r *rig) eval(expression string) any {
	r.Helper()
	var out struct{ Value struct{ S string } }
	r.do("frame.evaluate", params{"expression": "JSON.stringify(" + expression + ")", "isFunction": false}, &out)
	var v any
	if out.Value.S != "" {
		if err := json.Unmarshal([]byte(out.Value.S), &v); err != nil {
			r.Fatal(err)
		}
	}
	return v
}

// site serves documents by path.
func site(t testing.TB, pages map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, ok := pages[req.URL.Path]
		if !ok {
			http.NotFound(w, req)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s
}

func decoded(t testing.TB, data string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
