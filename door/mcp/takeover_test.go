package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
	"takeover/session"
)

// urlClient are the options of a client that can ask its user to open a link. open is
// called with the request.
func urlClient(open func(*sdk.ElicitParams) string) *sdk.ClientOptions {
	return &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: open(r.Params)}, nil
		},
	}
}

// openTakeover returns the open takeover of the server's only session with one.
func (s *server) openTakeover() *session.Takeover {
	s.t.Helper()
	for _, state := range []string{"pending", "claimed"} {
		if all := s.manager.Takeovers(state); len(all) > 0 {
			return all[len(all)-1]
		}
	}
	s.t.Fatal("no takeover is open")
	return nil
}

// TestTakeoverByLink asks for a person with a client that cannot open links: the link
// is in the text, and takeover_status waits.
func TestTakeoverByLink(t *testing.T) {
	s := startServer(t, nil)
	eachVersion(t, func(t *testing.T, version string) {
		s.t = t
		c := s.connect("", version, nil)
		c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
		defer c.tool("session_release", nil)
		c.tool("browser_snapshot", nil)
		asked := c.tool("request_takeover", map[string]any{"reason": "Sign in, please"})
		open := s.openTakeover()
		contains(t, asked, open.Info().URL, open.ID(), "pending")
		contains(t, c.tool("takeover_status", map[string]any{"takeover": open.ID()}), "pending", open.Info().URL)
		contains(t, c.fails("request_takeover", map[string]any{"reason": "Something else"}), "takeover_status")
		if again := c.tool("request_takeover", map[string]any{"reason": "Sign in, please"}); !strings.Contains(again, open.ID()) {
			t.Errorf("asking again made another takeover: %s", again)
		}
		if err := open.Claim("viewer:somebody"); err != nil {
			t.Fatal(err)
		}
		contains(t, c.tool("takeover_status", nil), "claimed")
		waited := make(chan string)
		go func() {
			text, _ := c.try("takeover_status", map[string]any{"wait": 60})
			waited <- text
		}()
		if err := open.Done("viewer:somebody", "used the other account"); err != nil {
			t.Fatal(err)
		}
		contains(t, <-waited, "done", "used the other account", "Page: Sign in")
		if info := open.Info(); info.RequestedBy == "" || !strings.HasPrefix(info.RequestedBy, "client:mcp") {
			t.Errorf("requested by %q", info.RequestedBy)
		}
	})
}

// TestTakeoverByElicitation asks for a person with a client that opens links: one call
// blocks until the takeover has ended.
func TestTakeoverByElicitation(t *testing.T) {
	s := startServer(t, nil)
	eachVersion(t, func(t *testing.T, version string) {
		s.t = t
		var asked *sdk.ElicitParams
		var complete, progress = make(chan string, 1), make(chan string, 100)
		o := urlClient(func(p *sdk.ElicitParams) string {
			asked = p
			return "accept"
		})
		o.ElicitationCompleteHandler = func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
			complete <- r.Params.ElicitationID
		}
		o.ProgressNotificationHandler = func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Message }
		c := s.connect("", version, o)
		c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
		defer c.tool("session_release", nil)
		c.tool("browser_snapshot", nil)
		type outcome struct {
			result *sdk.CallToolResult
			err    error
		}
		ended := make(chan outcome, 1)
		ctx := browsertest.Context(t, "a takeover")
		go func() {
			p := &sdk.CallToolParams{Name: "request_takeover", Arguments: map[string]any{"reason": "Sign in, please"}}
			p.SetProgressToken("t")
			r, err := c.CallTool(ctx, p)
			ended <- outcome{r, err}
		}()
		waits(t, progress, ended, "Sign in, please")
		open := s.openTakeover()
		if asked.Mode != "url" || asked.URL != open.Info().URL || !strings.Contains(asked.Message, "Sign in, please") {
			t.Errorf("asked to open %+v", asked)
		}
		select {
		case e := <-ended:
			t.Fatalf("the call returned before the person was done: %+v", e)
		default:
		}
		if err := open.Done("viewer:somebody", ""); err != nil {
			t.Fatal(err)
		}
		e := <-ended
		if e.err != nil || e.result.IsError {
			t.Fatalf("%v %+v", e.err, e.result)
		}
		contains(t, textOf(e.result), "done")
		if version != "" {
			select {
			case id := <-complete:
				if id != open.ID() {
					t.Errorf("complete: %q, want %q", id, open.ID())
				}
			case <-ctx.Done():
				t.Error("the client is not told that it is complete")
			}
		}
	})
}

// TestTakeoverDeclined asks for a person with a client whose user refuses to open the
// link, or puts it aside.
func TestTakeoverDeclined(t *testing.T) {
	s := startServer(t, nil)
	eachVersion(t, func(t *testing.T, version string) {
		s.t = t
		for action, want := range map[string]string{"decline": "cancelled", "cancel": "pending"} {
			c := s.connect("", version, urlClient(func(*sdk.ElicitParams) string { return action }))
			c.tool("session_create", nil)
			contains(t, c.tool("request_takeover", map[string]any{"reason": "Sign in"}), want)
			c.tool("session_release", nil)
		}
	})
}

// TestTakeoverCancelled cancels a call that waits for a person: nobody needs to come
// any more. But who has come may finish.
func TestTakeoverCancelled(t *testing.T) {
	s := startServer(t, nil)
	eachVersion(t, func(t *testing.T, version string) {
		s.t = t
		for _, claimed := range []bool{false, true} {
			progress := make(chan string, 100)
			o := urlClient(func(*sdk.ElicitParams) string { return "accept" })
			o.ProgressNotificationHandler = func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Message }
			c := s.connect("", version, o)
			c.tool("session_create", nil)
			ctx, cancel := context.WithCancel(browsertest.Context(t, "a takeover"))
			failed := make(chan error, 1)
			go func() {
				p := &sdk.CallToolParams{Name: "request_takeover", Arguments: map[string]any{"reason": "Sign in"}}
				p.SetProgressToken("t")
				_, err := c.CallTool(ctx, p)
				failed <- err
			}()
			waits(t, progress, failed, "")
			open := s.openTakeover()
			if claimed {
				if err := open.Claim("viewer:somebody"); err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("the cancelled call: %v", err)
			}
			if claimed {
				if err := open.Done("viewer:somebody", ""); err != nil {
					t.Errorf("claimed and then cancelled: %v", err)
				}
				contains(t, c.tool("takeover_status", nil), "done")
			} else {
				<-open.Ended()
				if state := open.Info().State; state != session.TakeoverCancelled {
					t.Errorf("the takeover is %s", state)
				}
			}
			c.tool("session_release", nil)
		}
	})
}

// TestClientGoesAway ends a client: its session stays, and another client goes on.
func TestClientGoesAway(t *testing.T) {
	s := startServer(t, nil)
	eachVersion(t, func(t *testing.T, version string) {
		s.t = t
		first := s.connect("", version, nil)
		first.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		second := s.connect("", version, nil)
		contains(t, second.tool("browser_snapshot", nil), `button "Sign in"`)
		second.tool("session_release", nil)
	})
}

// TestSecretsLikeJSON registers a secret that looks like a part of JSON, as a page may,
// and asks how a takeover stands.
func TestSecretsLikeJSON(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
	c.tool("request_takeover", map[string]any{"reason": "Sign in, please"})
	for _, secret := range []string{`"state":"`, `","`, `{"takeover"`} {
		s.manager.List()[0].Monitor().Redactor().AddSecret(secret)
	}
	contains(t, c.tool("takeover_status", nil), s.openTakeover().ID(), "pending")
}
