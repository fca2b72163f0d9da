package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	soakSessions = 5
	soakViewers  = 3 // viewers of each session
	soakSamples  = 60

	// soakRest is how long to wait after the last viewer has left, so that
	// everything has closed.
	soakRest = 15 * time.Second
)

// benchSoak lets viewers come and go for e.soak, and compares the server's memory
// and goroutines with those at the start.
func benchSoak(ctx context.Context, e *env) (rows []row, err error) {
	server, err := startServer(ctx, e.binary, "--warm=-1")
	if err != nil {
		return nil, err
	}
	defer server.close()
	s := &soak{env: e, server: server}
	for i := range soakSessions {
		page := e.page
		if i%2 == 0 {
			page += "?animate"
		}
		id, err := server.create(ctx, page)
		if err != nil {
			return nil, err
		}
		s.sessions = append(s.sessions, id)
	}
	duration := e.lasting(e.soak)
	if err := s.round(ctx, duration/20); err != nil { // one-time allocations
		return nil, err
	}
	first, err := s.rest(ctx)
	if err != nil {
		return nil, err
	}
	before := s.views.Load()
	samples, err := s.watch(ctx, duration)
	if err != nil {
		return nil, err
	}
	last, err := s.rest(ctx)
	if err != nil {
		return nil, err
	}
	quarter := len(samples) / 4
	early, late := samples[quarter:2*quarter], samples[len(samples)-quarter:]
	note := fmt.Sprintf("%v, %d sessions × %d viewers, %d views", duration, soakSessions, soakViewers, s.views.Load()-before)
	return []row{
		{what: "soak: goroutines at rest", ours: last.goroutines, reference: first.goroutines, unit: "", target: atMostTimes(1.05), note: note + "; reference: before them"},
		{what: "soak: live heap", ours: least(late, heapOf), reference: least(early, heapOf), unit: "MB", target: atMostTimes(1.25), note: "the last quarter against the second one"},
		{what: "soak: resident memory", ours: middle(late, residentOf), reference: middle(early, residentOf), unit: "MB", target: atMostTimes(1.15), note: "the last quarter against the second one"},
		{what: "soak: views without a picture", ours: float64(s.blind.Load()), unit: "", target: atMost(0)},
	}, nil
}

// soak is a server whose viewers come and go.
type soak struct {
	env      *env
	server   *server
	sessions []string
	views    atomic.Int64 // opened views
	blind    atomic.Int64 // views that should have got a picture but did not
}

// watch samples the server while viewers come and go.
func (s *soak) watch(ctx context.Context, d time.Duration) ([]sample, error) {
	done := make(chan error, 1)
	go func() { done <- s.round(ctx, d) }()
	var samples []sample
	tick := time.NewTicker(d / soakSamples)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return samples, err
		case <-tick.C:
			now, err := s.server.sample(ctx)
			if err != nil {
				return nil, errors.Join(err, <-done)
			}
			samples = append(samples, now)
		}
	}
}

// round keeps soakViewers viewers in each session for d.
func (s *soak) round(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	errs := make([]error, soakSessions*soakViewers)
	var places sync.WaitGroup
	for i := range errs {
		places.Go(func() {
			for ctx.Err() == nil && errs[i] == nil {
				errs[i] = s.visit(ctx, s.sessions[i%soakSessions])
			}
		})
	}
	places.Wait()
	return errors.Join(errs...)
}

// visit opens a viewer, which is prompt, distant, slow or stalled. The viewer
// hides, clicks and leaves, or its connection breaks.
func (s *soak) visit(ctx context.Context, session string) error {
	o := viewOptions{}
	switch rand.N(6) { //nolint:gosec // no secret
	case 0:
		o.ackAfter = 80 * time.Millisecond
	case 1:
		o.dialer = slowLink.dial
	case 2:
		o.stalled = true
	}
	first := newEvent()
	o.show = func(picture) { first.fire() }
	v, err := s.server.view(ctx, session, o)
	if ctx.Err() != nil {
		if err == nil {
			v.close()
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer v.close()
	s.views.Add(1)
	if !o.stalled {
		select {
		case <-first.done:
		case <-time.After(startTimeout):
			s.blind.Add(1)
		case <-ctx.Done():
			return nil
		}
		look := map[string]any{"type": "resize", "width": between(200, width), "height": height, "dpr": 1, "hidden": rand.N(4) == 0} //nolint:gosec // no secret
		_ = errors.Join(v.send(map[string]any{"type": "control", "action": "take"}), v.press(), v.send(look))                        // refused while another viewer has control
	}
	_ = pause(ctx, between(500*time.Millisecond, 10*time.Second))
	return nil
}

// rest waits until everything has closed, and samples the server.
func (s *soak) rest(ctx context.Context) (sample, error) {
	if err := pause(ctx, soakRest); err != nil {
		return sample{}, err
	}
	return s.server.sample(ctx)
}

// sample holds the server's own figures.
type sample struct {
	goroutines     float64
	heap, resident float64 // MB
}

func heapOf(s sample) float64     { return s.heap }
func residentOf(s sample) float64 { return s.resident }

// least returns the lowest of the values, which is closest to live memory,
// because it contains the least garbage.
func least(samples []sample, of func(sample) float64) float64 {
	low := 0.0
	for i, s := range samples {
		if v := of(s); i == 0 || v < low {
			low = v
		}
	}
	return low
}

func middle(samples []sample, of func(sample) float64) float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, of(s))
	}
	return median(all)
}

// sample reads /metrics.
func (s *server) sample(ctx context.Context) (sample, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"/metrics", nil)
	if err != nil {
		return sample{}, err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = res.Body.Close() }()
	values := map[string]float64{}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok {
			values[name], _ = strconv.ParseFloat(value, 64) // a comment has no value
		}
	}
	const mb = 1e6
	got := sample{
		goroutines: values["go_goroutines"], heap: values["go_memstats_heap_alloc_bytes"] / mb, resident: values["process_resident_memory_bytes"] / mb,
	}
	if got.goroutines == 0 || got.heap == 0 || got.resident == 0 {
		return sample{}, fmt.Errorf("%s/metrics: %s, without the runtime's figures", s.address, res.Status)
	}
	return got, nil
}
