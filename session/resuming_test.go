package session

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"takeover/cdp"
)

// TestInputWaitsForClients: the first input of a person waits until the CDP clients have
// let go of their pages, but not for a client that never answers.
func TestInputWaitsForClients(t *testing.T) {
	for name, answers := range map[string]bool{"a client that answers": true, "a silent client": false} {
		t.Run(name, func(t *testing.T) {
			s := borrow(t, "")
			c, err := OpenRawClient(context.Background(), s, "", cdp.SinkFunc(func(cdp.Event) {}))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var over atomic.Bool
			c.OnPerson(func(done func()) {
				wait := resumeTime / 2
				if answers {
					wait = resumeTime / 4
				}
				time.AfterFunc(wait, func() {
					over.Store(true)
					if answers {
						done()
					}
				})
			})
			v := join(t, s, RoleControl)
			v.picture("page")
			if err := v.Control("take"); err != nil {
				t.Fatal(err)
			}
			epoch := await(v, "control", func(m ControlMessage) bool { return m.Mine }).Epoch
			if err := v.Key(Key{Event: "down", Key: "a", Code: "KeyA"}, Stamp{Epoch: epoch}); err != nil {
				t.Fatal(err)
			}
			if !over.Load() {
				t.Error("the key did not wait")
			}
		})
	}
}
