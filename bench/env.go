package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// env is what the groups share: a server, a reference Chromium, and a page that
// both show.
type env struct {
	binary   string
	quick    bool
	soak     time.Duration
	server   *server
	raw      *rawChromium
	chromium string   // path of the server's Chromium, for the references
	switches []string // its switches
	page     string
	stopPage func()
}

func newEnv(ctx context.Context, binary string, quick bool) (*env, error) {
	e := &env{binary: binary, quick: quick}
	var err error
	if e.page, e.stopPage, err = servePage(); err != nil {
		return nil, err
	}
	if e.server, err = startServer(ctx, binary); err != nil {
		e.close()
		return nil, err
	}
	found := false
	for end := time.Now().Add(startTimeout); !found && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		e.chromium, e.switches, found = e.server.chromium()
	}
	if !found {
		e.close()
		return nil, errors.New("the server has no warm Chromium whose command line the reference could use")
	}
	if e.raw, err = startRaw(ctx, e.chromium, e.switches); err == nil {
		err = e.raw.attach(ctx)
	}
	if err != nil {
		e.close()
		return nil, fmt.Errorf("reference: %w", err)
	}
	return e, nil
}

func (e *env) close() {
	if e.raw != nil {
		e.raw.close()
	}
	if e.server != nil {
		e.server.close()
	}
	if e.stopPage != nil {
		e.stopPage()
	}
}

// times returns how often to repeat a measurement that normally takes n
// repetitions.
func (e *env) times(n int) int {
	if e.quick {
		return max(n/10, 2)
	}
	return n
}

// lasting returns the duration of a measurement that normally takes d.
func (e *env) lasting(d time.Duration) time.Duration {
	if e.quick {
		return d / 10
	}
	return d
}

// watched starts a session at url, with a viewer in control.
func (e *env) watched(ctx context.Context, url string, o viewOptions) (*viewer, string, error) {
	id, err := e.server.create(ctx, url)
	if err != nil {
		return nil, "", err
	}
	v, err := e.server.watch(ctx, id, o)
	if err != nil {
		_ = e.server.release(ctx, id)
		return nil, "", err
	}
	return v, id, nil
}

// watch views a session, and returns when it has control and the first picture.
func (s *server) watch(ctx context.Context, id string, o viewOptions) (*viewer, error) {
	first := newEvent()
	show := o.show
	o.show = func(p picture) {
		first.fire()
		if show != nil {
			show(p)
		}
	}
	v, err := s.view(ctx, id, o)
	if err != nil {
		return nil, err
	}
	if err = v.control(ctx); err == nil {
		err = first.wait(ctx)
	}
	if err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

// rawRate counts the pictures per second of the reference for d.
func (e *env) rawRate(ctx context.Context, d time.Duration) (float64, error) {
	c := newCounter()
	if err := e.raw.open(ctx, e.page+"?animate"); err != nil {
		return 0, err
	}
	if err := e.raw.cast(ctx, func(time.Time, []byte) { c.add() }); err != nil {
		return 0, err
	}
	rate, err := c.rate(ctx, d)
	// The reference's page must not take processor time from the other side.
	return rate, errors.Join(err, e.raw.stopCast(ctx), e.raw.open(ctx, "about:blank"))
}

// event is a one-time event.
type event struct {
	once sync.Once
	done chan struct{}
}

func newEvent() *event { return &event{done: make(chan struct{})} }

func (s *event) fire() { s.once.Do(func() { close(s.done) }) }

func (s *event) wait(ctx context.Context) error {
	select {
	case <-s.done:
		return nil
	case <-time.After(startTimeout):
		return errors.New("no picture came")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// counter counts pictures.
type counter struct {
	mu sync.Mutex // guards n
	n  int
}

func newCounter() *counter { return &counter{} }

func (c *counter) add() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// startTime lets everything start before a measurement.
const startTime = time.Second

// rate counts pictures for d, after everything has started.
func (c *counter) rate(ctx context.Context, d time.Duration) (float64, error) {
	if err := pause(ctx, startTime); err != nil {
		return 0, err
	}
	before, start := c.count(), time.Now()
	if err := pause(ctx, d); err != nil {
		return 0, err
	}
	return float64(c.count()-before) / time.Since(start).Seconds(), nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// between returns a random duration, so that measurements do not run in step with
// Chromium's frames.
func between(least, most time.Duration) time.Duration {
	return least + rand.N(most-least) //nolint:gosec // no secret
}
