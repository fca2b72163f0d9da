package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/control"
	"takeover/door/page"
	"takeover/session"
)

// leasePage has an element for each kind of action. Its log has what happened to
// them, as the page received it, in order.
const leasePage = `<!doctype html><title>ready</title><style>body{margin:0;height:3000px}#person{position:absolute;left:0;top:0;width:400px;height:200px}
	#click{position:absolute;left:500px;top:0;width:100px;height:50px}#rest{margin-left:700px;width:500px}</style>
	<button id=person onclick="n=(window.n||0)+1;history.replaceState(null,'','#clicked-'+n)">person</button><button id=click>click</button>
	<div id=rest><button id=dblclick>dblclick</button><input id=fill><input id=type><input id=press><input id=focus><input id=text value=text>
	<input id=check type=checkbox><input id=uncheck type=checkbox checked><select id=select><option>a<option>b</select><input id=file type=file>
	<button id=hover>hover</button><button id=ping>ping</button><div id=drag draggable=true>drag</div><div id=drop>drop</div></div>
	<script>log=[];for(const t of['click','dblclick','input','keydown','change','mouseover','focus','ping','dragstart','drop','scroll'])
	addEventListener(t,e=>log.push(t+':'+(e.target.id??'')),true);document.getElementById('drop').addEventListener('dragover',e=>e.preventDefault())</script>`

// leaseSite serves leasePage at every path but /more, whose load ends when release is
// called.
func leaseSite(t *testing.T) (address string, release func()) {
	t.Helper()
	gate, open := context.WithCancel(context.Background())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/favicon.ico":
		case "/held.css":
			select {
			case <-gate.Done():
			case <-r.Context().Done():
			}
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(leasePage))
			if r.URL.Path == "/more" {
				_, _ = w.Write([]byte(`<img src=/held.css alt="">`))
			}
		}
	}))
	t.Cleanup(func() {
		open()
		srv.Close()
	})
	return srv.URL, open
}

// write is an operation of a program that changes the page.
type write struct {
	name   string
	events string // operation and target in the events of the action
	page   string // what the page logs; empty if nothing
	do     func() error
}

// leaseTest is a session in which a person and programs take turns.
type leaseTest struct {
	*testServer
	t       *testing.T
	one     *session.Session
	person  *testViewer
	look    page.Page // of a program that looks at what happened
	address string
}

// newLeaseTest starts a session with a person who watches.
func newLeaseTest(t *testing.T) *leaseTest {
	t.Helper()
	s := startServer(t, nil)
	one := s.create(nil)
	if _, err := one.StartCapture(t.Context(), capture.Config{Actions: true}); err != nil {
		t.Fatal(err)
	}
	looking, err := session.OpenProgram(one, control.Client("looks"), session.ProgramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(looking.Close)
	address, _ := leaseSite(t)
	return &leaseTest{testServer: s, t: t, one: one, person: s.join(one, nil), look: page.Page{Program: looking}, address: address}
}

// told returns how the actions since an event ended, by operation and target: ok,
// failed, or open for one that has not ended.
func (l *leaseTest) told(since uint64) map[string][]string {
	l.t.Helper()
	got, err := l.one.Journal().Events(l.t.Context(), since, 1000, capture.Filter{Types: []string{capture.TypeActionStarted, capture.TypeActionEnded}})
	if err != nil {
		l.t.Fatal(err)
	}
	type begun struct {
		what string
		at   int
	}
	open := map[string]begun{}
	told := map[string][]string{}
	for _, e := range got.Events {
		var a struct {
			ID                       string `json:"action_id"`
			Actor, Operation, Target string
			OK                       *bool
		}
		if err := json.Unmarshal(e.Data, &a); err != nil {
			l.t.Fatal(err)
		}
		of, known := open[a.ID]
		switch {
		case a.Actor == l.look.Program.Name().String():
		case e.Type == capture.TypeActionStarted && !known:
			what := strings.TrimSpace(a.Operation + " " + a.Target)
			open[a.ID] = begun{what, len(told[what])}
			told[what] = append(told[what], "open")
		case e.Type == capture.TypeActionEnded && known && a.OK != nil && told[of.what][of.at] == "open":
			told[of.what][of.at] = map[bool]string{true: "ok", false: "failed"}[*a.OK]
		default:
			l.t.Errorf("an event that is not one of a pair: %s", e.Data)
		}
	}
	return told
}

// round lets programs begin writes while a person is in control and works. None may
// begin before the person gives control back; then all succeed, and each leaves its
// pair of events. arrived waits until the door has what was sent; nil if the door does
// not tell.
func (l *leaseTest) round(writes []write, arrived func()) {
	l.t.Helper()
	ctx := browsertest.Context(l.t, "the page")
	if err := l.look.Navigate(ctx, l.address+"/", "load"); err != nil {
		l.t.Fatal(err)
	}
	epoch := l.person.takeControl()
	before := l.one.Monitor().Ring().Last()
	type outcome struct {
		name string
		err  error
	}
	done := make(chan outcome, len(writes))
	for _, w := range writes {
		go func() { done <- outcome{w.name, w.do()} }()
	}
	if arrived != nil {
		arrived()
	}
	from := l.person.mark()
	l.person.click(200, 100, epoch) // the person works
	l.person.waitFrom(from, "the person's click", at("/#clicked-1"))
	for len(done) > 0 {
		o := <-done
		l.t.Errorf("%s did not wait for the person: %v", o.name, o.err)
	}
	told := l.told(before)
	for _, w := range writes {
		if len(told[w.events]) > 0 {
			l.t.Errorf("%s began while a person was in control", w.name)
		}
	}
	l.person.send(map[string]any{"type": "control", "action": "release"})
	for range writes {
		select {
		case o := <-done:
			if o.err != nil {
				l.t.Errorf("%s after the person: %v", o.name, o.err)
			}
		case <-ctx.Done():
			l.t.Fatalf("not all are carried out after the person: %v", l.told(before))
		}
	}
	told = l.told(before)
	log := l.pageLog(ctx)
	lacks := func(w write) bool { return w.page != "" && !slices.Contains(log, w.page) }
	for end := time.Now().Add(browsertest.Patience / 4); slices.ContainsFunc(writes, lacks) && time.Now().Before(end); {
		log = l.pageLog(ctx) // a page hears of its scrolling with its next frame
	}
	lastClick := -1
	for i, what := range log {
		if what == "click:person" {
			lastClick = i
		}
	}
	for _, w := range writes {
		if ends := slices.Compact(told[w.events]); !slices.Equal(ends, []string{"ok"}) {
			l.t.Errorf("%s left the events %v for %q, of %v", w.name, ends, w.events, told)
		}
		if w.page != "" && (lastClick < 0 || !slices.Contains(log[lastClick:], w.page) || slices.Contains(log[:lastClick], w.page)) {
			l.t.Errorf("%s: the page got %v, want %s after the person", w.name, log, w.page)
		}
	}
}

// pageLog returns what the page has received, or nothing for a page without a log.
func (l *leaseTest) pageLog(ctx context.Context) (log []string) {
	l.t.Helper()
	raw, err := l.look.Evaluate(ctx, "", "() => window.log ?? []", true, nil)
	if err == nil {
		err = json.Unmarshal(raw, &log)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return log
}

// link is a call of a chain of members of the script API.
type link struct {
	Method string `json:"method"`
	Args   []any  `json:"args,omitempty"`
}

// chain makes a chain of pairs of a member and its arguments.
func chain(links ...any) []link {
	var list []link
	for i := 0; i < len(links); i += 2 {
		one := link{Method: fmt.Sprint(links[i])}
		if args, ok := links[i+1].([]any); ok {
			one.Args = args
		}
		list = append(list, one)
	}
	return list
}

// args are the arguments of a member.
type args = []any

// member is a member of the script API that writes.
type member struct {
	chain        []link
	events, page string
}

// element returns a chain to a member of a locator.
func element(id, method string, given ...any) []link {
	return chain("locator", args{"#" + id}, method, given)
}

// together are members that do not disturb each other.
var together = []member{
	{element("fill", "fill", "x"), "frame.fill #fill", "input:fill"},
	{element("select", "selectOption", "b"), "frame.selectOption #select", "change:select"},
	{element("ping", "dispatchEvent", "ping"), "frame.dispatchEvent #ping", "ping:ping"},
	{element("text", "scrollIntoViewIfNeeded"), "frame.scrollIntoViewIfNeeded #text", ""},
	{element("text", "evaluate", fn("e => e.id")), "frame.evaluateOnElement #text", ""},
	{chain("evaluate", args{fn("() => void dispatchEvent(new Event('ping'))")}), "frame.evaluate", "ping:"},
	{chain("addScriptTag", args{map[string]any{"content": "0"}}), "frame.addScriptTag", ""},
	{chain("addStyleTag", args{map[string]any{"content": "i{}"}}), "frame.addStyleTag", ""},
	{chain("emulateMedia", args{map[string]any{"media": "screen"}}), "page.emulateMedia", ""},
	{chain("setExtraHTTPHeaders", args{map[string]any{"x-test": "1"}}), "page.setExtraHTTPHeaders", ""},
	{chain("context", nil, "clearCookies", nil), "context.clearCookies", ""},
	{chain("context", nil, "clearPermissions", nil), "context.clearPermissions", ""},
	{chain("context", nil, "setOffline", args{false}), "context.setOffline", ""},
}

// alone are members that use the mouse, the keyboard or the focus, or change the page
// as a whole.
func alone(address string) []member {
	return []member{
		{element("click", "click"), "frame.click #click", "click:click"},
		{element("dblclick", "dblclick"), "frame.dblclick #dblclick", "dblclick:dblclick"},
		{element("type", "pressSequentially", "x"), "frame.type #type", "keydown:type"},
		{element("press", "press", "a"), "frame.press #press", "keydown:press"},
		{element("check", "check"), "frame.check #check", "change:check"},
		{element("uncheck", "uncheck"), "frame.uncheck #uncheck", "change:uncheck"},
		{element("hover", "hover"), "frame.hover #hover", "mouseover:hover"},
		{element("focus", "focus"), "frame.focus #focus", "focus:focus"},
		{element("focus", "blur"), "frame.blur #focus", ""},
		{element("text", "selectText"), "frame.selectText #text", "focus:text"},
		{chain("dragAndDrop", args{"#drag", "#drop"}), "frame.dragAndDrop", "drop:drop"},
		{chain("keyboard", nil, "press", args{"Shift"}), "keyboard.press", "keydown:person"},
		{chain("keyboard", nil, "insertText", args{"x"}), "keyboard.insertText", ""},
		{chain("mouse", nil, "move", args{550, 25}), "mouse.move", "mouseover:click"},
		{chain("mouse", nil, "wheel", args{0, 1}), "mouse.wheel", ""},
		{chain("goto", args{address + "/other"}), "frame.goto " + address + "/other", ""},
		{chain("reload", nil), "page.reload", ""},
		{chain("goBack", nil), "page.goBack", ""},
		{chain("setContent", args{"x"}), "frame.setContent", ""},
		{chain("setViewportSize", args{map[string]any{"width": 1280, "height": 720}}), "page.setViewportSize", ""},
		{chain("bringToFront", nil), "page.bringToFront", ""},
		{chain("context", nil, "newPage", nil, "close", nil), "context.newPage", ""},
	}
}

// fn is an argument that is a function.
func fn(source string) map[string]any { return map[string]any{"$function": source} }

// code returns a chain as an expression of a script.
func code(chain []link) string {
	text := "page"
	for _, l := range chain {
		text += "." + l.Method
		if len(l.Args) == 0 && (l.Method == "keyboard" || l.Method == "mouse") {
			continue
		}
		var given []string
		for _, arg := range l.Args {
			raw, _ := json.Marshal(arg) // they are literals of this file
			if f, ok := arg.(map[string]any); ok && f["$function"] != nil {
				raw = []byte(fmt.Sprint(f["$function"]))
			}
			given = append(given, string(raw))
		}
		text += "(" + strings.Join(given, ", ") + ")"
		if l.Method == "newPage" {
			text = "(await " + text + ")"
		}
	}
	return text
}

// TestScriptsObeyTheLease does in one script what does not disturb each other, and then
// a click, while a person is in control.
func TestScriptsObeyTheLease(t *testing.T) {
	l := newLeaseTest(t)
	runs := "/v1/sessions/" + l.one.ID()
	try := func(members ...member) {
		var calls []string
		for _, m := range members {
			calls = append(calls, code(m.chain))
		}
		var id atomic.Value
		run := sync.OnceValue(func() error {
			var run session.RunInfo
			l.call("POST", runs+"/scripts", map[string]any{"code": "const all = [" + strings.Join(calls, ", ") + "]; await page.title(); console.log('reads'); await Promise.all(all)"}, 202, &run)
			id.Store(run.ID)
			browsertest.Until(t, "the end of the script", func() bool {
				l.call("GET", runs+"/runs/"+run.ID, nil, 200, &run)
				return run.Status.Ended()
			})
			if run.Error != nil {
				return errors.New(run.Error.Message)
			}
			return nil
		})
		var writes []write
		for _, m := range members {
			writes = append(writes, write{name: code(m.chain), events: m.events, page: m.page, do: run})
		}
		l.round(writes, func() {
			browsertest.Until(t, "the script to read", func() bool {
				var run session.RunInfo
				if one := id.Load(); one != nil {
					l.call("GET", runs+"/runs/"+one.(string), nil, 200, &run)
				}
				return len(run.Logs) > 0
			})
		})
	}
	try(together...)
	try(member{element("click", "click"), "frame.click #click", "click:click"})
}

// TestCommandsObeyTheLease tries each member of the script API that writes, as a command,
// while a person is in control. A script worker carries out both in the same way.
func TestCommandsObeyTheLease(t *testing.T) {
	l := newLeaseTest(t)
	conn := l.socket("/v1/sessions/" + l.one.ID() + "/commands")
	try := func(members []member) {
		var writes []write
		for i, m := range members {
			writes = append(writes, write{name: code(m.chain), events: m.events, page: m.page, do: func() error {
				a, err := conn.ask(map[string]any{"type": "command", "commandId": fmt.Sprint(i), "method": m.chain}, fmt.Sprint(i))
				if err == nil && a["error"] != nil {
					err = fmt.Errorf("%v", a["error"])
				}
				return err
			}})
		}
		l.round(writes, func() { // the answer to a later command that reads
			if a, err := conn.ask(map[string]any{"type": "command", "commandId": "title", "method": "title"}, "title"); err != nil || a["result"] != "ready" {
				t.Errorf("reading while a person is in control: %v, %v", a, err)
			}
		})
	}
	try(together)
	for _, m := range alone(l.address) {
		try([]member{m})
	}
}

// leaseSocket is a client's end of a socket, whose answers name the command.
type leaseSocket struct {
	t    *testing.T
	conn *websocket.Conn

	mu      sync.Mutex // guards what follows
	waiting map[string]chan map[string]any
}

// socket opens a socket of the server as a program.
func (s *testServer) socket(path string) *leaseSocket {
	s.t.Helper()
	conn, _, err := websocket.Dial(s.t.Context(), "ws"+strings.TrimPrefix(s.base, "http")+path, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + testKey}}})
	if err != nil {
		s.t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	c := &leaseSocket{t: s.t, conn: conn, waiting: map[string]chan map[string]any{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read()
	}()
	s.t.Cleanup(func() {
		_ = conn.CloseNow()
		<-read
	})
	return c
}

// read passes on the answers until the socket ends.
func (c *leaseSocket) read() {
	for {
		_, raw, err := c.conn.Read(context.Background())
		if err != nil {
			return
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			c.t.Errorf("%v: %s", err, raw)
			return
		}
		id := m["commandId"]
		if id == nil {
			id = m["id"]
		}
		c.mu.Lock()
		to := c.waiting[fmt.Sprint(id)]
		c.mu.Unlock()
		if to != nil {
			to <- m
		}
	}
}

// ask sends a command, and waits for the answer with its id.
func (c *leaseSocket) ask(command map[string]any, id string) (map[string]any, error) {
	answer, err := c.send(command, id)
	if err != nil {
		return nil, err
	}
	return answer()
}

// send sends a command, and returns what waits for the answer with its id.
func (c *leaseSocket) send(command map[string]any, id string) (func() (map[string]any, error), error) {
	answer := make(chan map[string]any, 1)
	c.mu.Lock()
	c.waiting[id] = answer
	c.mu.Unlock()
	raw, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	ctx := browsertest.Context(c.t, "the answer to "+string(raw))
	if err := c.conn.Write(ctx, websocket.MessageText, raw); err != nil {
		return nil, err
	}
	return func() (map[string]any, error) {
		select {
		case a := <-answer:
			return a, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}, nil
}
