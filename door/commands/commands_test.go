package commands

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/door/socket"
	"takeover/limits"
	"takeover/session"
)

func TestMain(m *testing.M) { doortest.Main(m) }

const page = `<title>Shop</title>
<label>Name <input placeholder="Your name"></label>
<button onclick="document.title = 'bought by ' + document.querySelector('input').value">Buy</button>
<ul><li>one<li>two</ul>`

// client is a program at the door.
type client struct {
	t    *testing.T
	conn *websocket.Conn
	hits *limits.Hits
	done chan struct{} // closed when Serve has returned
}

// connect opens a connection that ends with the test.
func connect(t *testing.T, s *session.Session) *client {
	t.Helper()
	return connectWith(t, s, func(*Door) {})
}

// connectWith does the same, and changes the door before it serves.
func connectWith(t *testing.T, s *session.Session, change func(*Door)) *client {
	t.Helper()
	c := &client{t: t, hits: limits.New(), done: make(chan struct{})}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		door, err := Open(s, Options{StallLimit: 30 * time.Second, Limits: c.hits, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Error(err)
			return
		}
		change(door)
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			door.Close()
			return
		}
		door.Serve(r.Context(), conn)
		close(c.done)
	}))
	t.Cleanup(srv.Close)
	conn, resp, err := websocket.Dial(t.Context(), srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body != nil {
		_ = resp.Body.Close()
	}
	c.conn = conn
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return c
}

func (c *client) send(message string) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, []byte(message)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() Answer {
	c.t.Helper()
	_, raw, err := c.conn.Read(browsertest.Context(c.t, "an answer"))
	if err != nil {
		c.t.Fatal(err)
	}
	var a Answer
	if err := json.Unmarshal(raw, &a); err != nil {
		c.t.Fatal(err)
	}
	return a
}

// command returns the message of a command. method is JSON; args may be empty.
func command(id, method, args string) string {
	if args != "" {
		args = `,"args":` + args
	}
	return fmt.Sprintf(`{"type":"command","commandId":%q,"method":%s%s}`, id, method, args)
}

// do sends a command and returns its result.
func (c *client) do(method, args string) string {
	c.t.Helper()
	c.send(command("cmd_1", method, args))
	a := c.read()
	if a.Type != "commandResult" || a.CommandID != "cmd_1" {
		c.t.Fatalf("%s was answered with %+v", method, a)
	}
	if a.Error != "" {
		return "error: " + a.Error
	}
	return string(a.Result)
}

// TestCommands calls members of Page, alone and in chains.
func TestCommands(t *testing.T) {
	site := doortest.Site(t, map[string]string{"/": page, "/empty": "<title>Empty</title>"})
	s := doortest.Session(t, session.CreateOptions{})
	c := connect(t, s)
	for _, step := range []struct{ method, args, want string }{
		{`"goto"`, `["` + site + `/"]`, `{"type":"Response","url":"` + site + `/","status":200,"statusText":"OK","ok":true}`},
		{`"title"`, ``, `"Shop"`},
		{`"url"`, `[]`, `"` + site + `/"`},
		{`"fill"`, `["input","Ann"]`, `null`},
		{`[{"method":"getByPlaceholder","args":["your name"]},{"method":"inputValue"}]`, ``, `"Ann"`},
		{`[{"method":"getByLabel","args":[{"$regexp":"^NAME","$flags":"i"}]},{"method":"fill","args":["Bob"]}]`, ``, `null`},
		{`[{"method":"getByRole","args":["button",{"name":"Buy"}]},{"method":"click"}]`, ``, `null`},
		{`"title"`, ``, `"bought by Bob"`},
		{`"evaluate"`, `["document.querySelectorAll('li').length"]`, `2`},
		{`"evaluate"`, `[{"$function":"({a, b}) => ({sum: a + b})"},{"a":1,"b":2}]`, `{"sum":3}`},
		{`[{"method":"locator","args":["li"]},{"method":"filter","args":[{"hasText":"two"}]},{"method":"allInnerTexts"}]`, ``, `["two"]`},
		{`[{"method":"locator","args":["ul"]},{"method":"filter","args":[{"has":{"$chain":[{"method":"getByText","args":["one"]}]}}]},{"method":"count"}]`, ``, `1`},
		{`[{"method":"locator","args":["li"]},{"method":"all"}]`, ``, `[{"type":"Locator","text":"locator('li').first()"},{"type":"Locator","text":"locator('li').nth(1)"}]`},
		{`"keyboard.press"`, `["Tab"]`, `null`},
		{`[{"method":"keyboard"},{"method":"press","args":["Tab"]}]`, ``, `null`},
		{`[{"method":"context"},{"method":"cookies"}]`, ``, `[]`},
		{`"viewportSize"`, ``, `{"width":1280,"height":720}`},
		{`[{"method":"request"},{"method":"get","args":["` + site + `/empty"]},{"method":"text"}]`, ``, `"<title>Empty</title>"`},
		{`"locator"`, `["#x"]`, `{"type":"Locator","text":"locator('#x')"}`},

		{`"none"`, ``, "error: TypeError: Page has no member none"},
		{`"_world"`, ``, "error: TypeError: Page has no member _world"},
		{`"constructor"`, ``, "error: TypeError: Page has no member constructor"},
		{`[{"method":"title"},{"method":"length"}]`, ``, "error: TypeError: length: string has no members for commands"},
		{`"goto"`, `[7]`, "error: page.goto: url: expected string, got number"},
		{`"evaluate"`, `["none.none"]`, "error: page.evaluate: ReferenceError: none is not defined"},
		{`"click"`, `["#none",{"timeout":50}]`, "error: TimeoutError: page.click: Timeout 50ms exceeded.\nCall log:\n  - waiting for locator('#none')\n"},
		{`"evaluate"`, `[{"$function":"7"}]`, "error: TypeError: $function is not a function"},
	} {
		got := c.do(step.method, step.args)
		if got != step.want && !(strings.HasPrefix(step.want, "error: ") && strings.HasPrefix(got, step.want)) {
			t.Errorf("%s %s gave %s, want %s", step.method, step.args, got, step.want)
		}
	}

	var picture string
	if err := json.Unmarshal([]byte(c.do(`"screenshot"`, ``)), &picture); err != nil {
		t.Fatal(err)
	}
	if png, err := base64.StdEncoding.DecodeString(picture); err != nil || !strings.HasPrefix(string(png), "\x89PNG") {
		t.Errorf("the screenshot is %.20q, %v", png, err)
	}

	// Each command acts on the tab that people see, or on the one that it names.
	if got := c.do(`"evaluate"`, `["void open('`+site+`/empty')"]`); got != "null" {
		t.Fatal(got)
	}
	browsertest.Until(t, "the other tab", func() bool { tabs := s.Info().Tabs; return len(tabs) == 2 && strings.HasSuffix(tabs[1].URL, "/empty") })
	if got := c.do(`"waitForLoadState"`, ``); got != "null" {
		t.Fatal(got)
	}
	if got := c.do(`"title"`, ``); got != `"Empty"` {
		t.Errorf("the shown tab is %s", got)
	}
	c.send(`{"type":"command","commandId":"first","method":"title","tab":1}`)
	if a := c.read(); string(a.Result) != `"bought by Bob"` {
		t.Errorf("the first tab is %+v", a)
	}
	c.send(`{"type":"command","commandId":"none","method":"title","tab":9}`)
	if a := c.read(); a.CommandID != "none" || !strings.Contains(a.Error, "there is no tab 9") {
		t.Errorf("no tab: %+v", a)
	}
}

// TestBadMessages sends what is not a command.
func TestBadMessages(t *testing.T) {
	c := connect(t, doortest.Borrow(t, ""))
	for message, want := range map[string]Answer{
		`x`:                                  {Type: "error", Error: "a message must be one JSON object"},
		`{}`:                                 {Type: "error", Error: "commandId: must have 1 to 256 characters"},
		`{"commandId":"a","method":"title"}`: {"commandResult", "a", nil, "type: must be command"},
		`{"commandId":7}`:                    {Type: "error", Error: "commandId: must be a string"},
		`{"type":"command","commandId":"a"}`: {"commandResult", "a", nil, "method: is required"},
		`{"type":"command","commandId":"a","method":7}`:                              {"commandResult", "a", nil, "method: must be the name of a member or a list of {method, args}: must be an array"},
		`{"type":"command","commandId":"a","method":[]}`:                             {"commandResult", "a", nil, "method: must have 1 to 100 links"},
		`{"type":"command","commandId":"a","method":[{"args":[]}]}`:                  {"commandResult", "a", nil, "method[0].method: is required"},
		`{"type":"command","commandId":"a","method":"title","args":{}}`:              {"commandResult", "a", nil, "args: must be a list"},
		`{"type":"command","commandId":"a","method":[{"method":"title"}],"args":[]}`: {"commandResult", "a", nil, "args: must be in the links of the chain"},
		`{"type":"command","commandId":"a","method":"title","x":1}`:                  {"commandResult", "a", nil, "x: unknown field"},
	} {
		c.send(message)
		if got := c.read(); got.Type != want.Type || got.CommandID != want.CommandID || got.Error != want.Error {
			t.Errorf("%s was answered with %+v, want %+v", message, got, want)
		}
	}
	if err := c.conn.Write(t.Context(), websocket.MessageBinary, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if a := c.read(); a.Error != "only text messages are understood" {
		t.Errorf("a binary message was answered with %+v", a)
	}
}

// TestCommandsWait sends commands while a person is in control. They are carried
// out in order when the person has left.
func TestCommandsWait(t *testing.T) {
	s := doortest.Borrow(t, "")
	c := connect(t, s)
	if got := c.do(`"setContent"`, `["<textarea></textarea>"]`); got != "null" {
		t.Fatal(got)
	}
	if got := c.do(`"focus"`, `["textarea"]`); got != "null" {
		t.Fatal(got)
	}
	leave := doortest.Person(t, s)
	const text = "in order"
	for i, letter := range text {
		c.send(command(fmt.Sprint(i), `"keyboard.insertText"`, fmt.Sprintf(`[%q]`, string(letter))))
	}
	c.send(command("read", `"title"`, ``))
	if a := c.read(); a.CommandID != "read" || a.Error != "" {
		t.Fatalf("beside the person: %+v", a)
	}
	leave()
	for range text {
		if a := c.read(); a.Error != "" {
			t.Errorf("after the person: %+v", a)
		}
	}
	if got := c.do(`"inputValue"`, `["textarea"]`); got != `"in order"` {
		t.Errorf("the page got %s", got)
	}
}

// TestCommandsRequestTakeovers pauses a page by a command.
func TestCommandsRequestTakeovers(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	c := connect(t, s)
	c.send(command("pause", `"pause"`, ``))
	var to *session.Takeover
	browsertest.Until(t, "the takeover", func() bool {
		for _, t := range s.Takeovers() {
			to = t
		}
		return to != nil
	})
	c.send(command("act", `"setContent"`, `["<title>after</title>"]`))
	if err := to.Done("test", ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if a := c.read(); a.Error != "" {
			t.Errorf("after the takeover: %+v", a)
		}
	}
	if got := c.do(`"title"`, ``); got != `"after"` {
		t.Errorf("the title is %s", got)
	}
}

// TestClientsComeAndGo ends connections in every way.
func TestClientsComeAndGo(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	c := connect(t, s)
	c.send(command("wait", `"waitForTimeout"`, `[600000]`))
	if got := c.do(`"title"`, ``); got != `""` { // the command that waits does not keep others from running
		t.Errorf("the title is %s", got)
	}
	if err := c.conn.CloseNow(); err != nil {
		t.Fatal(err)
	}
	<-c.done
	if by := s.Info().Controller; by.IsProgram() {
		t.Errorf("%s is in control", by)
	}

	c = connect(t, s)
	if got := c.do(`"title"`, ``); got != `""` {
		t.Fatal(got)
	}
	released := make(chan error, 1)
	go func() { released <- s.Release("test") }()
	_, _, err := c.conn.Read(browsertest.Context(t, "the end"))
	if code := websocket.CloseStatus(err); code != websocket.StatusNormalClosure {
		t.Errorf("the end of the session closed the connection with %v", err)
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
}

// TestCommandsAreBounded sends more than may be under way.
func TestCommandsAreBounded(t *testing.T) {
	s := doortest.Borrow(t, "")
	c := connectWith(t, s, func(d *Door) { d.backlog.Room = 1 << 20 })
	if got := c.do(`"title"`, ``); got != `""` {
		t.Fatal(got)
	}
	doortest.Person(t, s)
	large := `["` + strings.Repeat("x", 240<<10) + `"]`
	for i := range 5 {
		c.send(command(fmt.Sprint(i), `"setContent"`, large))
	}
	if a := c.read(); a.CommandID != "4" || !strings.Contains(a.Error, "too many commands") {
		t.Errorf("one too many was answered with id %s: %s", a.CommandID, a.Error)
	}
	if n := c.hits.Count(limits.Waiting); n != 1 {
		t.Errorf("the limit was counted %d times", n)
	}
}

// TestStalledClient answers a client that does not read.
func TestStalledClient(t *testing.T) {
	s := doortest.Borrow(t, "")
	c := connectWith(t, s, func(d *Door) { d.answers = socket.NewOutbox[Answer](1 << 20) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	unknown := []byte(`{"type":"none","commandId":"` + strings.Repeat("x", maxCommandID) + `"}`)
	for c.conn.Write(ctx, websocket.MessageText, unknown) == nil { // until the server closes the connection
		continue
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		t.Fatal("the client is still there")
	}
	if n := c.hits.Count(limits.ProgramOutbox); n == 0 {
		t.Error("the limit was not counted")
	}
}
