package screencast

import (
	"testing"
	"time"
)

// published makes a picture the newest one of a cast and returns its number.
func published(c *Cast, sharp bool) uint32 {
	buf := make([]byte, HeaderBytes, HeaderBytes+1)
	f := &Frame{Sharp: sharp, message: buf, buf: &buf}
	f.refs.Store(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.publishLocked(f, 1)
	return f.Seq
}

// taken returns the number of the picture that a viewer is given, or 0.
func taken(t *testing.T, s *Subscription, now time.Time) uint32 {
	t.Helper()
	f, _, err := s.take(now)
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		return 0
	}
	defer f.Release()
	return f.Seq
}

// TestHeldBackStillHidesNoPicture checks a viewer on a slow line that gets no
// stills for a while: it gets the moving picture that a still replaced before it
// was sent.
func TestHeldBackStillHidesNoPicture(t *testing.T) {
	now := time.Now()
	join := func() (*Cast, *Subscription) {
		c := &Cast{options: Options{Counter: new(Counter), Density: 1}, viewers: map[*Subscription]struct{}{}, demand: make(chan struct{}, 1)}
		s := c.Join(View{}, nil)
		if first := published(c, false); taken(t, s, now) != first {
			t.Fatal("the first picture was not given")
		}
		return c, s
	}
	// While the page changes and comes to rest, the line is busy with the first
	// picture.
	c, slow := join()
	slow.pace.window = 1
	moving := published(c, false)
	if got := taken(t, slow, now); got != 0 {
		t.Fatalf("picture %d was given beside the one on its way", got)
	}
	still := published(c, true)
	slow.pace.noStillsUntil = now.Add(time.Minute)
	slow.Ack(1)
	if got := taken(t, slow, now); got != moving {
		t.Errorf("picture %d was given, want the moving one, %d", got, moving)
	}
	if st := slow.Stats(); st.Skipped != 0 {
		t.Errorf("%d skipped", st.Skipped)
	}
	slow.Ack(moving)
	if got := taken(t, slow, now); got != 0 {
		t.Errorf("picture %d was given although stills are held back", got)
	}
	// Another still changes nothing. Once stills may be sent again, the newest is
	// sent.
	newer := published(c, true)
	if got := taken(t, slow, now); got != 0 {
		t.Errorf("picture %d was given although stills are held back", got)
	}
	if got := taken(t, slow, now.Add(2*time.Minute)); got != newer || newer != still+1 {
		t.Errorf("picture %d was given, want the newest still, %d", got, newer)
	}
	// The next moving picture replaces both.
	slow.Ack(newer)
	slow.pace.noStillsUntil = now.Add(time.Hour)
	last := published(c, false)
	if got := taken(t, slow, now.Add(2*time.Minute)); got != last {
		t.Errorf("picture %d was given, want the one that moved, %d", got, last)
	}

	// If no moving picture was missed, there is nothing to send.
	c, seen := join()
	seen.Ack(1)
	seen.pace.noStillsUntil = now.Add(time.Minute)
	published(c, true)
	if got := taken(t, seen, now); got != 0 {
		t.Errorf("picture %d was given although stills are held back", got)
	}
}
