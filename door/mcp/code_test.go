package mcp_test

import (
	"context"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/session"
)

// TestCancelledRun cancels calls that wait for runs: a run ends with the call that has
// started it, and goes on if the call only waited for it.
func TestCancelledRun(t *testing.T) {
	const code = "await page.locator('#email').fill('me'); return 'went on'" // waits for a person
	for _, started := range []bool{false, true} {
		s := startServer(t, nil)
		progress := make(chan string, 100)
		c := s.connect("", "", &sdk.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Message },
		})
		c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
		one := s.manager.List()[0]
		leave := doortest.Person(t, one)
		args := map[string]any{"code": code}
		if !started {
			r, err := one.StartRun(session.RunOptions{Code: code})
			if err != nil {
				t.Fatal(err)
			}
			args = map[string]any{"run": r.ID()}
		}
		ctx, cancel := context.WithCancel(browsertest.Context(t, "the call"))
		failed := make(chan error, 1)
		go func() {
			p := &sdk.CallToolParams{Name: "browser_run_code", Arguments: args}
			p.SetProgressToken("t")
			_, err := c.CallTool(ctx, p)
			failed <- err
		}()
		waits(t, progress, failed, "a person is in control")
		cancel()
		if err := <-failed; err == nil {
			t.Error("the cancelled call succeeded")
		}
		s.stop() // waits for the call's end at the server; sessions go on
		runs := one.Runs()
		if len(runs) != 1 {
			t.Fatalf("%d runs", len(runs))
		}
		r := runs[0]
		leave()
		<-r.Done()
		want := session.RunSucceeded
		if started {
			want = session.RunCancelled
		}
		if info := r.Info(); info.Status != want {
			t.Errorf("started by the call: %v: the run is %s, want %s: %+v", started, info.Status, want, info.Error)
		}
	}
}
