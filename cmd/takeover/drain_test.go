package main

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"

	"takeover/browser/browsertest"
)

// TestStopsWhenThePersonIsDone stops a server at which a person is asked for. It ends when
// they are done and the session has ended; a second signal ends the session at once.
func TestStopsWhenThePersonIsDone(t *testing.T) {
	for _, hurry := range []bool{false, true} {
		server := startProcess(t, t.TempDir())
		var one struct{ ID string }
		server.do(t, "POST", "/v1/sessions", map[string]any{}, &one)
		var asked struct{ ID, State string }
		server.do(t, "POST", "/v1/sessions/"+one.ID+"/takeovers", map[string]any{"reason": "log in"}, &asked)
		stop := func() {
			if err := server.process.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		browsertest.Until(t, "the server takes no sessions", func() bool {
			return server.call(t.Context(), "GET", "/readyz", nil, nil) != nil
		})
		server.do(t, "GET", "/v1/sessions/"+one.ID+"/takeovers/"+asked.ID, nil, &asked)
		if asked.State != "pending" {
			t.Errorf("while the server stops, the takeover is %q", asked.State)
		}
		if hurry {
			stop()
		} else {
			server.do(t, "POST", "/v1/sessions/"+one.ID+"/takeovers/"+asked.ID+"/done", map[string]any{}, nil)
			server.do(t, "DELETE", "/v1/sessions/"+one.ID, nil, nil)
		}
		err := server.process.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && !exit.Success() || err != nil && !ok {
			t.Errorf("hurry %t: the server ended with %v", hurry, err)
		}
	}
}
