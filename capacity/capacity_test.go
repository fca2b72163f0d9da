package capacity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// take takes a place, which must be free.
func take(t *testing.T, p *Places, key string) (free func()) {
	t.Helper()
	free, err := p.Take(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return free
}

func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Places: 1, Wait: time.Minute})
		free := take(t, p, "a")
		order := make(chan int, 3)
		for i := range 3 {
			go func() {
				free := take(t, p, "a")
				order <- i
				free()
			}()
			synctest.Wait()
		}
		if places, taken, waiting := p.Count(); places != 1 || taken != 1 || waiting != 3 {
			t.Errorf("%d places, %d taken, %d wait", places, taken, waiting)
		}
		free()
		free() // counts once
		for i := range 3 {
			if got := <-order; got != i {
				t.Errorf("caller %d came as number %d", got, i)
			}
		}
		synctest.Wait()
		if _, taken, waiting := p.Count(); taken != 0 || waiting != 0 {
			t.Errorf("at the end %d are taken, %d wait", taken, waiting)
		}
	})
}

func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Places: 1, Queue: 2, Wait: time.Second})
		free := take(t, p, "a")
		defer free()
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := p.Take(t.Context(), "a")
				errs <- err
			}()
			synctest.Wait()
		}
		if _, err := p.Take(t.Context(), "a"); err == nil || err.Error() != "the only session is in use, and 2 calls wait already. End one, or raise --max-sessions" {
			t.Errorf("a third caller got %v", err)
		}
		start := time.Now()
		for range 2 {
			err := <-errs
			full, ok := errors.AsType[*FullError](err)
			if !ok || !errors.Is(err, ErrFull) || full.Position == 0 || time.Since(start) != time.Second {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		}
		if err := p.Check(); !errors.Is(err, ErrFull) {
			t.Errorf("Check: %v", err)
		}
		free()
		if err := p.Check(); err != nil {
			t.Errorf("Check with a free place: %v", err)
		}
	})
}

func TestNoQueue(t *testing.T) {
	p := New(Options{Places: 2, Queue: -1})
	take(t, p, "a")
	take(t, p, "a")
	if _, err := p.Take(t.Context(), "a"); err == nil || err.Error() != "all 2 sessions are in use. End one, or raise --max-sessions" {
		t.Errorf("got %v", err)
	}
}

func TestQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Places: 3, PerKey: 2, Wait: time.Minute})
		free := take(t, p, "greedy")
		take(t, p, "greedy")
		if _, err := p.Take(t.Context(), "greedy"); !errors.Is(err, ErrQuota) {
			t.Errorf("a third session of a key: %v", err)
		}
		take(t, p, "modest")
		ctx, cancel := context.WithCancelCause(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := p.Take(ctx, "modest")
			left <- err
		}()
		synctest.Wait()
		if _, err := p.Take(t.Context(), "modest"); !errors.Is(err, ErrQuota) {
			t.Errorf("a key that waits for its last session: %v", err)
		}
		gone := errors.New("the caller has gone")
		cancel(gone)
		if err := <-left; !errors.Is(err, gone) {
			t.Errorf("a caller that went got %v", err)
		}
		free()
		take(t, p, "modest") // what it waited for no longer counts
	})
}

// TestQuotaElsewhere counts what a key has at other servers.
func TestQuotaElsewhere(t *testing.T) {
	elsewhere := map[string]int{"greedy": 1, "most": 2}
	p := New(Options{Places: 5, PerKey: 2, Elsewhere: func(key string) int { return elsewhere[key] }})
	for key, may := range map[string]int{"greedy": 1, "most": 0, "modest": 2} {
		for range may {
			take(t, p, key)
		}
		if _, err := p.Take(t.Context(), key); !errors.Is(err, ErrQuota) {
			t.Errorf("after %d sessions here, %s got %v", may, key, err)
		}
	}
	if keys := p.Keys(); !maps.Equal(keys, map[string]int{"greedy": 1, "modest": 2}) {
		t.Errorf("the keys have %v", keys)
	}
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Places: 1})
		free := take(t, p, "a")
		waits := make(chan error, 1)
		go func() {
			_, err := p.Take(t.Context(), "b")
			waits <- err
		}()
		synctest.Wait()
		p.Close()
		if err := <-waits; err != ErrFull { //nolint:errorlint // the plain error, not a full server
			t.Errorf("who waited got %v", err)
		}
		free()
		if _, err := p.Take(t.Context(), "a"); !errors.Is(err, ErrFull) {
			t.Errorf("who came later got %v", err)
		}
	})
}

// TestManyCallers takes and frees places from many goroutines, of which some give up. The
// places are never too many, and at the end none is lost.
func TestManyCallers(t *testing.T) {
	p := New(Options{Places: 3, PerKey: 30, Queue: 50, Wait: 20 * time.Millisecond})
	var mu sync.Mutex
	held, most, served := 0, 0, 0
	var work sync.WaitGroup
	for i := range 60 {
		work.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			if i%7 == 0 {
				cancel()
			}
			defer cancel()
			for range 20 {
				free, err := p.Take(ctx, fmt.Sprint(i%3))
				if err != nil {
					continue
				}
				mu.Lock()
				held++
				most, served = max(most, held), served+1
				mu.Unlock()
				mu.Lock()
				held--
				mu.Unlock()
				free()
			}
		})
	}
	work.Wait()
	if _, taken, waiting := p.Count(); taken != 0 || waiting != 0 || len(p.keys) != 0 || most > 3 || served == 0 {
		t.Errorf("%d taken, %d wait, keys %v, at most %d at once, %d served", taken, waiting, p.keys, most, served)
	}
}

func TestMachine(t *testing.T) {
	const gib = 1 << 30
	for _, test := range []struct {
		cores  int
		memory int64
		want   int
	}{{2, 24 * gib, 8}, {32, 8 * gib, 25}, {2, 1 * gib, 1}, {1, gib / 4, 1}, {4, math.MaxInt64, 16}} {
		if got := fits(test.cores, test.memory); got != test.want {
			t.Errorf("%d cores and %d MiB carry %d sessions, want %d", test.cores, test.memory>>20, got, test.want)
		}
	}
	if got := Machine(); got < 1 || got > perCore*runtime.NumCPU() {
		t.Errorf("this machine carries %d", got)
	}
}
