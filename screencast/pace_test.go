package screencast

import (
	"errors"
	"testing"
	"time"
)

// link simulates a viewer's network line. Pictures are made at FullRate and pass
// the line one after the other, at its bandwidth.
type link struct {
	trip        func(at time.Duration) time.Duration // round trip time, without transmission
	bytesPerSec float64
	pictureSize int
}

type simulated struct {
	rate         float64       // pictures per second that arrived, in the second half
	worst        time.Duration // longest delay of a picture, in the second half
	mean         time.Duration // mean delay, in the second half
	worstAtFirst time.Duration // longest delay in the first half, after the first second
	most         int           // largest number in flight at once
}

func (l link) run(d time.Duration) simulated {
	var (
		res   simulated
		p     = newPacer()
		start = time.Unix(1e9, 0)
		free  time.Duration // when the line is free again
		acks  []struct {
			at  time.Duration
			seq uint32
		}
		seq     uint32
		arrived int
		ways    time.Duration
	)
	const step = time.Millisecond
	for at := time.Duration(0); at < d; at += step {
		for len(acks) > 0 && acks[0].at <= at {
			p.acked(acks[0].seq, start.Add(acks[0].at))
			acks = acks[1:]
		}
		fresh := uint32(at * FullRate / time.Second) // the number of the newest picture
		if fresh == seq || !p.ready() {
			continue
		}
		seq = fresh
		p.sent(seq, false, start.Add(at))
		res.most = max(res.most, len(p.flight))
		free = max(free, at) + time.Duration(float64(l.pictureSize)/l.bytesPerSec*float64(time.Second))
		trip := l.trip(at)
		there := free + trip/2
		acks = append(acks, struct {
			at  time.Duration
			seq uint32
		}{there + trip/2, seq})
		switch way := there - at; {
		case at > d/2:
			res.worst = max(res.worst, way)
			arrived++
			ways += way
		case at > time.Second:
			res.worstAtFirst = max(res.worstAtFirst, way)
		}
	}
	res.mean = ways / time.Duration(max(arrived, 1))
	res.rate = float64(arrived) / (d / 2).Seconds()
	return res
}

func constant(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

func TestPace(t *testing.T) {
	const fast, slow = 100e6, 125_000 // bytes per second; slow is 1 Mbit/s
	for _, tt := range []struct {
		name  string
		link  link
		rate  float64       // at least
		worst time.Duration // at most
		most  int
	}{
		{"same machine", link{constant(time.Millisecond), fast, 20_000}, 59, 5 * time.Millisecond, 2},
		{"80 ms", link{constant(80 * time.Millisecond), fast, 20_000}, 58, 45 * time.Millisecond, 7},
		{"300 ms", link{constant(300 * time.Millisecond), fast, 20_000}, 57, 155 * time.Millisecond, 21},
		{"two seconds", link{constant(2 * time.Second), fast, 20_000}, 12, time.Second + 5*time.Millisecond, MaxInFlight},
		{"1 Mbit/s, small pictures", link{constant(100 * time.Millisecond), slow, 2_000}, 55, 130 * time.Millisecond, 12},
		{"1 Mbit/s", link{constant(100 * time.Millisecond), slow, 7_000}, 16, 200 * time.Millisecond, 8},
		{"1 Mbit/s, large pictures", link{constant(100 * time.Millisecond), slow, 40_000}, 2, 700 * time.Millisecond, 3},
		{"jitter", link{func(at time.Duration) time.Duration {
			return 80*time.Millisecond + time.Duration(at.Milliseconds()*7919%37)*time.Millisecond
		}, fast, 20_000}, 55, 80 * time.Millisecond, 9},
		{"way gets longer", link{func(at time.Duration) time.Duration {
			if at > 10*time.Second {
				return 200 * time.Millisecond
			}
			return 40 * time.Millisecond
		}, fast, 20_000}, 55, 105 * time.Millisecond, 15},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.link.run(2 * time.Minute)
			t.Logf("%.1f/s, worst %v then %v, mean %v, at most %d in flight", got.rate, got.worstAtFirst, got.worst, got.mean, got.most)
			if got.rate < tt.rate || got.worst > tt.worst || got.most > tt.most {
				t.Errorf("want at least %v/s, at worst %v, at most %d in flight", tt.rate, tt.worst, tt.most)
			}
		})
	}
}

func TestAcksAreCumulativeAndWrap(t *testing.T) {
	p := newPacer()
	p.window = 4
	now := time.Unix(1e9, 0)
	for _, seq := range []uint32{1<<32 - 2, 1<<32 - 1, 0, 1} {
		p.sent(seq, false, now)
	}
	if p.ready() {
		t.Error("ready with a full window")
	}
	if _, news := p.acked(1<<32-3, now); news {
		t.Error("an old ack was news")
	}
	if _, news := p.acked(0, now.Add(time.Millisecond)); !news || len(p.flight) != 1 || p.flight[0].seq != 1 {
		t.Errorf("%+v", p.flight)
	}
	if _, news := p.acked(0, now); news {
		t.Error("a repeated ack was news")
	}
}

func TestSlowStill(t *testing.T) {
	p := newPacer()
	now := time.Unix(1e9, 0)
	trip := func(seq uint32, sharp bool, d time.Duration) {
		p.sent(seq, sharp, now)
		now = now.Add(d)
		p.acked(seq, now)
	}
	trip(1, false, 50*time.Millisecond)
	window, rtt := p.window, p.rtt
	trip(2, true, 300*time.Millisecond)
	if p.window != window || p.rtt != rtt || now.Before(p.noStillsUntil) {
		t.Errorf("a still that took 300 ms: %+v", p)
	}
	trip(3, true, 2*time.Second)
	if p.window != window || !now.Before(p.noStillsUntil) || now.Add(noStillsFor).Before(p.noStillsUntil) {
		t.Errorf("a still that took 2 s: %+v", p)
	}
}

func TestStalledViewer(t *testing.T) {
	p := openPage(t, Options{NoStills: true})
	p.show(animation)
	s := p.cast.Join(View{}, nil)
	defer s.Close()
	f := p.next(s)
	f.Release()
	now := time.Now()
	if _, again, err := s.take(now.Add(StallTimeout - time.Second)); err != nil || again > time.Second+time.Millisecond {
		t.Errorf("a second early: %v, look again in %v", err, again)
	}
	if _, _, err := s.take(now.Add(StallTimeout)); !errors.Is(err, ErrStalled) {
		t.Errorf("after %v: %v", StallTimeout, err)
	}
	s.Ack(s.lastSeq)
	if f, _, err := s.take(time.Now().Add(2 * StallTimeout)); err != nil {
		t.Errorf("with nothing in flight: %v", err)
	} else if f != nil {
		f.Release()
	}
}
