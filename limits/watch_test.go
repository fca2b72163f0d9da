package limits

import (
	"slices"
	"testing"
	"time"
)

func TestWatchTellsOfEachLimitOnceAnHour(t *testing.T) {
	h := New()
	w := watch{hits: h, told: map[Name]told{}}
	now := time.Now()
	look := func(after time.Duration, want ...Reached) {
		t.Helper()
		if got := w.look(now.Add(after), OfServer); !slices.Equal(got, want) {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
	look(0)
	h.Add(Sessions, 2)
	h.Add(Tabs, 1) // not one of the server's
	look(time.Second, Reached{Sessions, 2})
	look(2 * time.Second)
	h.Add(Sessions, 3)
	h.Add(Disk, 1)
	look(3*time.Second, Reached{Disk, 1})
	look(tellEvery+time.Second, Reached{Sessions, 3})
	look(3 * tellEvery)
}
