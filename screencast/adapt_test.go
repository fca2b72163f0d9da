package screencast

import (
	"sync"
	"testing"
	"time"
)

func TestAdapter(t *testing.T) {
	start := time.Unix(1e9, 0)
	last := len(levels) - 1
	t.Run("down at once, up after quiet", func(t *testing.T) {
		var a adapter
		now := start
		a.judge(fare{verdict: behind}, now)
		if a.level != 1 {
			t.Fatalf("level %d", a.level)
		}
		if a.judge(fare{verdict: behind}, now.Add(lowerEvery-time.Millisecond)); a.level != 1 {
			t.Fatal("a level got no time to show what it is worth")
		}
		for range 10 {
			now = now.Add(lowerEvery)
			a.judge(fare{verdict: farBehind}, now)
		}
		if a.level != last {
			t.Fatalf("level %d of %d", a.level, last)
		}
		a.judge(fare{verdict: between}, now)
		a.judge(fare{verdict: unknown}, now.Add(time.Hour))
		if a.level != last {
			t.Error("better although nobody kept up")
		}
		a.judge(fare{verdict: keepsUp}, now)
		if a.judge(fare{verdict: keepsUp}, now.Add(raiseAfter-time.Millisecond)); a.level != last {
			t.Error("better too soon")
		}
		if !a.judge(fare{verdict: keepsUp}, now.Add(raiseAfter)) || a.level != last-1 {
			t.Error("not better after quiet")
		}
	})
	t.Run("a level that does not last is tried less and less", func(t *testing.T) {
		var a adapter
		a.judge(fare{verdict: behind}, start)
		var tries []time.Time
		for now := start; now.Before(start.Add(10 * time.Minute)); now = now.Add(assessEvery) {
			v := keepsUp
			if a.level == 0 {
				v = behind
			}
			if a.judge(fare{verdict: v}, now) && a.level == 0 {
				tries = append(tries, now)
			}
		}
		if len(tries) < 4 || len(tries) > 12 {
			t.Fatalf("tried %d times in ten minutes", len(tries))
		}
		if first, later := tries[1].Sub(tries[0]), tries[len(tries)-1].Sub(tries[len(tries)-2]); later < raiseAfterMax || first > 3*raiseAfter {
			t.Errorf("tried again after %v, at last after %v", first, later)
		}
	})
	t.Run("where it is no help, pictures stay good", func(t *testing.T) {
		var line, machine adapter
		const capacity, size = 125_000, 20_000.0
		now := start
		for range 20 {
			now = now.Add(lowerEvery)
			line.judge(fare{behind, capacity / (size * levels[line.level].size), capacity}, now)
			machine.judge(fare{behind, 30, 30 * size * levels[machine.level].size}, now)
		}
		if line.level != last || machine.level != 0 {
			t.Errorf("a slow line is at level %d, a slow machine at %d", line.level, machine.level)
		}
	})
	t.Run("one that lasts is forgiven", func(t *testing.T) {
		a := adapter{patience: raiseAfterMax}
		a.judge(fare{verdict: behind}, start)
		for now := start; now.Before(start.Add(2*raiseAfterMax + time.Minute)); now = now.Add(assessEvery) {
			a.judge(fare{verdict: keepsUp}, now)
		}
		if a.level != 0 || a.patience != raiseAfter {
			t.Errorf("%+v", a)
		}
	})
}

func TestShapeFollowsViewers(t *testing.T) {
	c := &Cast{options: Options{Density: 1}, viewers: map[*Subscription]struct{}{}, width: 1000, height: 500, demand: make(chan struct{}, 1)}
	phone, desk := c.Join(View{Width: 390, Height: 700}, nil), c.Join(View{}, nil)
	for _, tt := range []struct {
		what        string
		phone, desk View
		level       int
		density     float64
		want        shape
	}{
		{"of one nothing is known", View{Width: 390, Height: 700}, View{}, 0, 1, shape{60, 0, 0}},
		{"windows", View{Width: 390, Height: 700}, View{Width: 700, Height: 400}, 0, 1, shape{60, 750, 375}},
		{"dense phone", View{Width: 390, Height: 700, PixelRatio: 3}, View{Width: 700, Height: 400}, 0, 1, shape{60, 0, 0}},
		{"one is hidden", View{Width: 390, Height: 700}, View{Hidden: true}, 0, 1, shape{60, 500, 250}},
		{"tiny", View{Width: 39, Height: 70}, View{Hidden: true}, 0, 1, shape{60, 250, 125}},
		{"slow line", View{}, View{}, len(levels) - 1, 1, shape{28, 500, 250}},
		{"slow line, small window", View{Width: 390, Height: 700}, View{Width: 500, Height: 500}, len(levels) - 1, 1, shape{28, 250, 125}},
		{"dense page on plain screens", View{Width: 390, Height: 700}, View{Width: 1000, Height: 500}, 0, 2, shape{60, 1000, 500}},
		{"dense page on a dense one", View{Width: 390, Height: 700}, View{Width: 1000, Height: 500, PixelRatio: 2}, 0, 2, shape{60, 0, 0}},
	} {
		c.options.Density, c.adapter.level = tt.density, tt.level
		phone.SetView(tt.phone)
		desk.SetView(tt.desk)
		if c.wanted != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.what, c.wanted, tt.want)
		}
	}
}

// line simulates a viewer's network line with a bandwidth in bytes per second.
type line struct {
	bytesPerSec float64
	trip        time.Duration

	mu   sync.Mutex // guards free
	free time.Time  // when the line is free again
}

func (l *line) pass(size int, then func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = later(l.free, time.Now()).Add(time.Duration(float64(size) / l.bytesPerSec * float64(time.Second)))
	time.AfterFunc(time.Until(l.free)+l.trip, then)
}

// TestSlowLineGetsSmallerPictures expects smaller pictures for a slow line,
// unchanged pictures when a fast viewer is connected as well, and in both cases
// no false changes while the page is at rest.
func TestSlowLineGetsSmallerPictures(t *testing.T) {
	p := openPage(t, Options{})
	p.show(animation)
	look := func(s *Subscription, l *line, until func(*Frame) bool) {
		t.Helper()
		for {
			f := p.next(s)
			seq, width := f.Seq, f.ViewportWidth
			if l == nil {
				s.Ack(seq)
			} else {
				l.pass(len(f.Message()), func() { s.Ack(seq) })
			}
			done := until(f)
			f.Release()
			if width != testWidth {
				t.Fatalf("the viewport is said to be %d wide", width)
			}
			if done {
				return
			}
		}
	}
	small := func(f *Frame) bool { return !f.Sharp && f.Width <= testWidth*3/4 }
	full := func(f *Frame) bool { return !f.Sharp && f.Width == testWidth }

	slow := p.cast.Join(View{Width: testWidth, Height: testHeight}, nil)
	defer slow.Close()
	link := &line{bytesPerSec: 60_000, trip: 50 * time.Millisecond}
	look(slow, link, full)
	look(slow, link, small)

	fast := p.cast.Join(View{Width: testWidth, Height: testHeight}, nil)
	look(fast, nil, full)
	go func() { // the slow viewer continues
		for {
			f, err := slow.Next(t.Context())
			if err != nil {
				return
			}
			link.pass(len(f.Message()), func() { slow.Ack(f.Seq) })
			f.Release()
		}
	}()
	// By end, the slow viewer has been judged. On a busy machine, the fast one
	// may seem slow for a while.
	end := time.Now().Add(3 * assessEvery)
	look(fast, nil, func(f *Frame) bool { return full(f) && time.Now().After(end) })
	p.show(calm)
	look(fast, nil, func(f *Frame) bool { return f.Sharp })
	fast.Close()
}
