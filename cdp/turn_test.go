package cdp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		first, err := all.take(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := all.tryTake("a"); ok {
			t.Error("two have the turn at once")
		}
		other, ok := all.tryTake("b")
		if !ok {
			t.Error("another name waits, too")
		}
		tired := errors.New("tired")
		short, cancel := context.WithTimeoutCause(t.Context(), time.Second, tired)
		defer cancel()
		if _, err := all.take(short, "a"); !errors.Is(err, tired) {
			t.Errorf("a caller that does not wait got %v", err)
		}
		began := time.Now()
		second, err := all.take(t.Context(), "a") // the first one never ends
		if err != nil || time.Since(began) != longestTurn-time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		first(nil) // changes nothing any more
		if _, ok := all.tryTake("a"); ok {
			t.Error("a turn that was over ended another one")
		}
		second(tired) // the answer did not come, so it goes on a little
		began = time.Now()
		third, err := all.take(t.Context(), "a")
		if err != nil || time.Since(began) != unanswered {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		third(&Error{})
		other(nil)
		if len(all.byName) != 0 {
			t.Errorf("%d names are kept", len(all.byName))
		}
	})
}
