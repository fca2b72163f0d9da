package scripting

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestClockStands checks that the time limit of a run does not pass while its
// clock is stopped, however long that takes.
func TestClockStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock(2 * time.Second)
		defer c.stop()
		up := func() bool {
			synctest.Wait()
			select {
			case <-c.expired:
				return true
			default:
				return false
			}
		}
		time.Sleep(time.Second)
		c.pause()
		c.pause()
		time.Sleep(time.Hour)
		c.resume()
		time.Sleep(time.Hour) // pauses nest
		if ran, paused := c.read(); up() || ran != time.Second || paused != 2*time.Hour {
			t.Errorf("while it stands: %v run, %v paused", ran, paused)
		}
		c.resume()
		if time.Sleep(time.Second - time.Nanosecond); up() {
			t.Error("the time is up too early")
		}
		if time.Sleep(time.Nanosecond); !up() {
			t.Error("the time is not up")
		}
	})
}
