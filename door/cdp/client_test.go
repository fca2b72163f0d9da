package cdp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/cdp/policy"
	"takeover/control"
	"takeover/door/doortest"
	"takeover/limits"
	"takeover/session"
)

func TestMain(m *testing.M) { doortest.Main(m) }

// serve serves a session's endpoint, and returns its address. ?page= names a page.
func serve(t *testing.T, s *session.Session, change func(*Options)) string {
	t.Helper()
	ctx, stop := context.WithCancelCause(context.Background())
	var work sync.WaitGroup
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		work.Add(1)
		defer work.Done()
		o := Options{Session: s, Page: r.URL.Query().Get("page"), StallLimit: time.Minute, Limits: limits.New(), Logger: slog.New(slog.DiscardHandler)}
		if change != nil {
			change(&o)
		}
		client, err := Open(r.Context(), o)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			client.Close()
			return
		}
		client.Serve(ctx, conn)
	}))
	t.Cleanup(func() {
		stop(errors.New("the test is over"))
		srv.Close()
		work.Wait()
	})
	return "ws" + strings.TrimPrefix(srv.URL, "http")
}

// peer is a program at the other end.
type peer struct {
	t    *testing.T
	conn *websocket.Conn
	last int
	got  []wire // what came and was not looked at
}

// wire is a message of the door.
type wire struct {
	ID        *int            `json:"id"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	SessionID string          `json:"sessionId"`
	Error     *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    string `json:"data"`
	} `json:"error"`
}

func dial(t *testing.T, address string) *peer {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &peer{t: t, conn: conn}
}

// write sends a message as it is.
func (p *peer) write(raw string) {
	p.t.Helper()
	if err := p.conn.Write(p.t.Context(), websocket.MessageText, []byte(raw)); err != nil {
		p.t.Fatal(err)
	}
}

// send sends a command and returns its id.
func (p *peer) send(session, method, params string) int {
	p.t.Helper()
	p.last++
	m := fmt.Sprintf(`{"id":%d,"method":%q`, p.last, method)
	if params != "" {
		m += `,"params":` + params
	}
	if session != "" {
		m += fmt.Sprintf(`,"sessionId":%q`, session)
	}
	p.write(m + "}")
	return p.last
}

// wait returns the first message that match accepts. Others stay.
func (p *peer) wait(what string, match func(wire) bool) wire {
	p.t.Helper()
	for i, m := range p.got {
		if match(m) {
			p.got = slices.Delete(p.got, i, i+1)
			return m
		}
	}
	ctx := browsertest.Context(p.t, what)
	for {
		_, raw, err := p.conn.Read(ctx)
		if err != nil {
			p.t.Fatalf("wait for %s: %v", what, err)
		}
		var m wire
		if err := json.Unmarshal(raw, &m); err != nil {
			p.t.Fatalf("%v: %s", err, raw)
		}
		if match(m) {
			return m
		}
		p.got = append(p.got, m)
	}
}

func (p *peer) reply(id int) wire {
	p.t.Helper()
	return p.wait(fmt.Sprintf("the reply to %d", id), func(m wire) bool { return m.ID != nil && *m.ID == id })
}

func (p *peer) event(method string) wire {
	p.t.Helper()
	return p.wait(method, func(m wire) bool { return m.Method == method })
}

// call sends a command and decodes its result.
func (p *peer) call(session, method, params string, into any) {
	p.t.Helper()
	m := p.reply(p.send(session, method, params))
	if m.Error != nil {
		p.t.Fatalf("%s: %d %s %s", method, m.Error.Code, m.Error.Message, m.Error.Data)
	}
	if into != nil {
		if err := json.Unmarshal(m.Result, into); err != nil {
			p.t.Fatal(err)
		}
	}
}

// refused sends a command that must fail, and returns the code and the message.
func (p *peer) refused(session, method, params string) string {
	p.t.Helper()
	m := p.reply(p.send(session, method, params))
	if m.Error == nil {
		p.t.Fatalf("%s %s was carried out: %s", method, params, m.Result)
	}
	return fmt.Sprintf("%d %s", m.Error.Code, m.Error.Message)
}

// evaluate evaluates an expression whose value is a string or a number.
func (p *peer) evaluate(session, expression string) string {
	p.t.Helper()
	var out struct{ Result struct{ Value any } }
	raw, err := json.Marshal(map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if err != nil {
		p.t.Fatal(err)
	}
	p.call(session, "Runtime.evaluate", string(raw), &out)
	return fmt.Sprint(out.Result.Value)
}

// attach attaches to the only page and returns the session and the target.
func (p *peer) attach() (session, target string) {
	p.t.Helper()
	target = p.page()
	var out struct{ SessionID string }
	p.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q}`, target), &out)
	return out.SessionID, target
}

// open opens a page in a context of its own and returns its session.
func (p *peer) open() string {
	p.t.Helper()
	var made struct{ BrowserContextID, TargetID, SessionID string }
	p.call("", "Target.createBrowserContext", "", &made)
	p.call("", "Target.createTarget", fmt.Sprintf(`{"url":"about:blank","browserContextId":%q}`, made.BrowserContextID), &made)
	p.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q}`, made.TargetID), &made)
	return made.SessionID
}

func (p *peer) page() string {
	p.t.Helper()
	var out struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	p.call("", "Target.getTargets", "", &out)
	if len(out.TargetInfos) == 0 || out.TargetInfos[0].Type != "page" {
		p.t.Fatalf("targets: %+v", out.TargetInfos)
	}
	return out.TargetInfos[0].TargetID
}

// closed waits for the end and returns the close code and the reason, or the error
// of a connection that was cut.
func (p *peer) closed() string {
	for {
		_, _, err := p.conn.Read(browsertest.Context(p.t, "the end"))
		if end, ok := errors.AsType[websocket.CloseError](err); ok {
			return fmt.Sprintf("%d %s", end.Code, end.Reason)
		}
		if err != nil {
			return err.Error()
		}
	}
}

// TestClientsDoNotMix lets two clients use the same ids in the same page.
func TestClientsDoNotMix(t *testing.T) {
	address := serve(t, doortest.Borrow(t, ""), nil)
	a, b := dial(t, address), dial(t, address)
	one, target := a.attach()
	two, _ := b.attach()
	a.call(one, "Runtime.enable", "", nil)
	if got := b.evaluate(two, "console.log('heard by one'); 7"); got != "7" {
		t.Errorf("evaluated %s", got)
	}
	a.event("Runtime.consoleAPICalled")
	for _, foreign := range []struct {
		by      *peer
		session string
	}{{b, one}, {a, two}, {a, "00000000000000000000000000000000"}} {
		if got := foreign.by.refused(foreign.session, "Runtime.evaluate", `{"expression":"1"}`); got != "-32001 Session with given id not found." {
			t.Errorf("a foreign session: %s", got)
		}
	}
	a.call("", "Target.detachFromTarget", fmt.Sprintf(`{"sessionId":%q}`, one), nil)
	if got := b.evaluate(two, "8"); got != "8" {
		t.Errorf("evaluated %s after the other client has left", got)
	}
	for _, m := range b.got {
		if m.Method == "Runtime.consoleAPICalled" {
			t.Error("an event of the other client")
		}
	}
	a.call("", "Browser.close", "", nil)
	if got := a.closed(); got != "1000 " {
		t.Errorf("closed with %s", got)
	}
	if got := b.page(); got != target {
		t.Errorf("the page is %s after Browser.close, it was %s", got, target)
	}
}

// TestPicturesAtOnce lets two clients take pictures of a page, plain ones and enlarged ones. The
// page must keep its size, or presses would miss what is under them.
func TestPicturesAtOnce(t *testing.T) {
	site := doortest.Site(t, map[string]string{"/": `<title>A</title><script>
		addEventListener('resize', () => { document.title += ', ' + innerWidth + 'x' + innerHeight })</script>`})
	address := serve(t, doortest.Session(t, session.CreateOptions{URL: site}), nil)
	a, b := dial(t, address), dial(t, address)
	one, _ := a.attach()
	two, _ := b.attach()
	var plain, enlarged []int
	for range 10 {
		plain = append(plain, a.send(one, "Page.captureScreenshot", ""))
		enlarged = append(enlarged, b.send(two, "Page.captureScreenshot", `{"clip":{"x":0,"y":0,"width":800,"height":600,"scale":2}}`))
	}
	for p, ids := range map[*peer][]int{a: plain, b: enlarged} {
		for _, id := range ids {
			if m := p.reply(id); m.Error != nil || len(m.Result) < 1000 {
				t.Errorf("a picture: %d bytes, %+v", len(m.Result), m.Error)
			}
		}
	}
	if got := a.evaluate(one, "document.title"); got != "A" {
		t.Errorf("the page got other sizes: %s", got)
	}
}

// TestPageEndpoint connects to a page, whose session needs no id.
func TestPageEndpoint(t *testing.T) {
	s := doortest.Borrow(t, "")
	address := serve(t, s, nil)
	browser := dial(t, address)
	p := dial(t, address+"?page="+browser.page())
	p.call("", "Runtime.enable", "", nil)
	if m := p.event("Runtime.executionContextCreated"); m.SessionID != "" {
		t.Errorf("an event of session %q", m.SessionID)
	}
	if got := p.evaluate("", "6 * 7"); got != "42" {
		t.Errorf("evaluated %s", got)
	}
	browser.call("", "Target.createTarget", `{"url":"about:blank"}`, nil) // so that the session keeps a page
	browser.call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, p.targetID()), nil)
	if got := p.closed(); got != "1000 the page is closed" {
		t.Errorf("closed with %s", got)
	}
}

// targetID returns the target of the root session.
func (p *peer) targetID() string {
	p.t.Helper()
	var out struct{ TargetInfo struct{ TargetID string } }
	p.call("", "Target.getTargetInfo", "", &out)
	return out.TargetInfo.TargetID
}

// TestHostileMessages sends what no client should send. Each is answered, and the
// connection and the browser live on.
func TestHostileMessages(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	address := serve(t, s, nil)
	p := dial(t, address)
	page, _ := p.attach()
	for _, tt := range []struct{ message, want string }{
		{``, "-32700"}, {`{`, "-32700"}, {`nonsense`, "-32700"}, {`[]`, "-32600"}, {`7`, "-32600"}, {`null`, "-32600"},
		{`{}`, "-32600"}, {`{"id":"1","method":"Browser.getVersion"}`, "-32600"}, {`{"id":1.5,"method":"Browser.getVersion"}`, "-32600"},
		{`{"id":1}`, "-32600"}, {`{"id":1,"method":7}`, "-32600"}, {`{"id":1,"method":"Browser.getVersion","params":[]}`, "-32602"},
		{`{"id":1,"method":"Browser.getVersion","sessionId":7}`, "-32600"}, {`{"id":99999999999999999999,"method":"Browser.getVersion"}`, "-32600"},
		{"{\"id\":1,\"method\":\"Browser.getVersion\",\"params\":{\"a\":\"\x00{}\"}}", "-32700"},
		{"{\"id\":1,\"method\":\"Browser.getVersion\",\"params\":{\"a\":\"\n\"}}", "-32700"},
		{`{"id":1,"method":"Browser.getVersion","params":{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}`, "-32700"},
		{`{"id":1,"method":"Browser.getVersion","params":{"a":` + strings.Repeat("[", 5000), "-32700"},
		{`{"id":1,"method":"` + strings.Repeat("x", 100_000) + `"}`, "-32601"},
		{`{"id":1,"method":"Page.navigate","params":{"url":"http://a.test","url":"file:///etc/passwd"},"sessionId":"` + page + `"}`, "-32602"},
		{`{"id":1,"method":"Page.navigate","params":{"\u0075rl":"file:///etc/passwd"},"sessionId":"` + page + `"}`, "-32000"},
		{`{"id":1,"method":"Target.createTarget","params":{"url":"chrome://settings"}}`, "-32000"},
		{`{"id":1,"method":"Target.createTarget","params":{"url":"about:blank","hidden":true}}`, "-32000"},
		{`{"id":1,"method":"Target.createBrowserContext","params":{"proxyServer":"direct://"}}`, "-32000"},
		{`{"id":1,"method":"Target.sendMessageToTarget","params":{"message":"{}"}}`, "-32000"},
		{`{"id":1,"method":"Target.exposeDevToolsProtocol","params":{}}`, "-32000"},
		{`{"id":1,"method":"Browser.crash"}`, "-32000"},
		{`{"id":1,"method":"Extensions.loadUnpacked","params":{"path":"/"}}`, "-32000"},
		{`{"id":1,"method":"Tracing.start","params":{"tracingBackend":"system"}}`, "-32000"},
		{`{"id":1,"method":"Tracing.start","params":{"perfettoConfig":""}}`, "-32000"},
		{`{"id":1,"method":"Tracing.start","params":{"streamFormat":"proto","traceConfig":{"includedCategories":["disabled-by-default-devtools\u002escreenshot"]}}}`, "-32000"},
		{`{"id":1,"method":"Input.setIgnoreInputEvents","params":{"ignore":true},"sessionId":"` + page + `"}`, "-32000"},
		{`{"id":1,"method":"Input.synthesizeTapGesture","params":{"x":5,"y":5,"duration":5000,"tapCount":9},"sessionId":"` + page + `"}`, "-32000"},
		{`{"id":1,"method":"Input.synthesizeScrollGesture","params":{"x":5,"y":5,"repeatCount":1000},"sessionId":"` + page + `"}`, "-32000"},
		{`{"id":1,"method":"Takeover.request","params":{"reason":7}}`, "-32602"},
		{`{"id":1,"method":"Cloudflare.getHandoffState","params":{"handoffId":"x"}}`, "-32602"},
	} {
		p.write(tt.message)
		m := p.wait(tt.message[:min(len(tt.message), 80)], func(m wire) bool { return m.Error != nil })
		if got := fmt.Sprint(m.Error.Code); got != tt.want {
			t.Errorf("%.120s got %s %s, want %s", tt.message, got, m.Error.Message, tt.want)
		}
	}
	if got := p.evaluate(page, "1 + 1"); got != "2" {
		t.Errorf("evaluated %s", got)
	}
	// An id may be used again, even while its first use is under way.
	p.write(`{"id":7,"method":"Runtime.evaluate","params":{"expression":"new Promise(f => setTimeout(f, 50, 'slow'))","awaitPromise":true},"sessionId":"` + page + `"}`)
	p.write(`{"id":7,"method":"Runtime.evaluate","params":{"expression":"'fast'"},"sessionId":"` + page + `"}`)
	for _, want := range []string{"fast", "slow"} {
		if m := p.reply(7); !strings.Contains(string(m.Result), want) {
			t.Errorf("got %s, want %s", m.Result, want)
		}
	}
}

// TestLargeMessages sends 24 MiB in each direction, while another client works.
func TestLargeMessages(t *testing.T) {
	address := serve(t, doortest.Borrow(t, ""), nil)
	p, other := dial(t, address), dial(t, address)
	page, _ := p.attach()
	same, _ := other.attach()
	const size = 8 << 20
	large := strings.Repeat("x", size)
	id := p.send(page, "Runtime.evaluate", `{"expression":"'`+large+`'.length"}`)
	if got := other.evaluate(same, "2"); got != "2" {
		t.Errorf("evaluated %s", got)
	}
	if m := p.reply(id); !strings.Contains(string(m.Result), fmt.Sprint(size)) {
		t.Errorf("got %s", m.Result)
	}
	if got := p.evaluate(page, fmt.Sprintf("'y'.repeat(%d)", size)); len(got) != size {
		t.Errorf("got %d bytes", len(got))
	}
}

// TestWritingWaitsForAPerson sends commands while a person is in control: those that
// read are answered, those that write wait, in order.
func TestWritingWaitsForAPerson(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	p.evaluate(page, "window.said = []; 0")
	leave := doortest.Person(t, s)
	var ids []int
	for i := range 100 {
		ids = append(ids, p.send(page, "Runtime.evaluate", fmt.Sprintf(`{"expression":"said.push(%d)"}`, i)))
	}
	p.call(page, "DOM.getDocument", "", nil)
	for _, m := range p.got {
		if m.ID != nil {
			t.Fatalf("%d was answered while a person is in control", *m.ID)
		}
	}
	if got := s.Info().Controller.String(); !strings.HasPrefix(got, "viewer:") {
		t.Errorf("%q is in control", got)
	}
	leave()
	for _, id := range ids {
		if m := p.reply(id); m.Error != nil {
			t.Errorf("%d failed: %s", id, m.Error.Message)
		}
	}
	if got := p.evaluate(page, "String(said.length === 100 && said.every((n, i) => n === i))"); got != "true" {
		t.Errorf("in order: %s", got)
	}
	if got := s.Info().Controller.String(); !strings.HasPrefix(got, "client:cdp_") {
		t.Errorf("%q is in control", got)
	}
}

// TestTooManyCommandsWait fills the queue. What waits is carried out, and only what
// came too much fails.
func TestTooManyCommandsWait(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	p.evaluate(page, "window.n = 0")
	leave := doortest.Person(t, s)
	for range control.MaxQueued {
		p.send(page, "Runtime.evaluate", `{"expression":"n++"}`)
	}
	if got := p.refused(page, "Runtime.evaluate", `{"expression":"n++"}`); !strings.HasPrefix(got, "-32000 too many commands") {
		t.Errorf("one too many: %s", got)
	}
	last := p.last - 1
	if got := p.refused(page, "Takeover.request", `{"reason":"one more"}`); !strings.HasPrefix(got, "-32000 too many commands") {
		t.Errorf("a request for a person: %s", got)
	}
	leave()
	p.reply(last)
	if got := p.evaluate(page, "n"); got != fmt.Sprint(control.MaxQueued) {
		t.Errorf("%s commands were carried out", got)
	}
}

// TestMappingsAreTheTable compares the functions with methods.txt.
func TestMappingsAreTheTable(t *testing.T) {
	for m := range policy.All() {
		_, mapped := mappings[m.Name]
		mapped = mapped || policy.HasRule(m.Name) || m.Name == target.SetDiscoverTargets.Method // whose events are changed
		if mapped != (m.Client == policy.Mapped) {
			t.Errorf("%s is mapped: %v, and its class in the table is %d", m.Name, mapped, m.Client)
		}
	}
	for name := range mappings {
		if _, ok := policy.Find(name); !ok {
			t.Errorf("%s is mapped, and not in the table", name)
		}
	}
	for name := range settings {
		if m, ok := policy.Find(name); !ok || !m.Writes {
			t.Errorf("%s is a setting, and does not write", name)
		}
	}
}

// FuzzParse checks that what is parsed can be sent on.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"Page.navigate","params":{"url":"a"},"sessionId":"b"}`))
	f.Add([]byte("{\"id\":1,\"method\":\"a\",\"params\":{\"b\":\"\x00\"}}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := parse(raw)
		if err != nil {
			return
		}
		if bytes.IndexByte(m.Params, 0) >= 0 || len(m.Params) > 0 && !json.Valid(bytes.ToValidUTF8(m.Params, nil)) {
			t.Errorf("params %q", m.Params)
		}
		if reply := appendReply(nil, m.ID, "", nil, nil); !json.Valid(reply) {
			t.Errorf("reply %q", reply)
		}
	})
}

// TestAThousandConnections opens more connections than a session may have at once,
// and a thousand in all.
func TestAThousandConnections(t *testing.T) {
	address := serve(t, doortest.Borrow(t, ""), nil)
	watcher := dial(t, address)
	page, _ := watcher.attach()
	open := func(conns chan<- *websocket.Conn) {
		conn, _, err := websocket.Dial(t.Context(), address, nil)
		if err != nil {
			conn = nil
		}
		conns <- conn
	}
	for round := range 4 {
		conns := make(chan *websocket.Conn, 250)
		for range cap(conns) {
			go open(conns)
		}
		var opened []*websocket.Conn
		for range cap(conns) {
			if conn := <-conns; conn != nil {
				opened = append(opened, conn)
			}
		}
		if len(opened) > 199 || round == 0 && len(opened) < 199 { // with the watcher, a session has at most 200; some of the last round may not have left yet
			t.Errorf("round %d: %d connections were accepted", round, len(opened))
		}
		if got := watcher.evaluate(page, "1 + 1"); got != "2" {
			t.Errorf("evaluated %s", got)
		}
		for _, conn := range opened {
			_ = conn.CloseNow() // without a word
		}
		left := browsertest.Context(t, "there is room again")
		for len(opened) > 0 { // until all have left
			conn, _, err := websocket.Dial(left, address, nil)
			if err == nil {
				_ = conn.CloseNow()
				break
			}
			if left.Err() != nil {
				t.Fatal(context.Cause(left))
			}
		}
	}
}
