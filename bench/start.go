package main

import (
	"context"
	"errors"
	"time"
)

// benchStart measures the time from creating a session to its first picture, with
// and without a warm Chromium. The reference is a raw Chromium, from its start to
// its first picture.
func benchStart(ctx context.Context, e *env) (rows []row, err error) {
	cold, err := startServer(ctx, e.binary, "--warm=-1")
	if err != nil {
		return nil, err
	}
	defer cold.close()
	var raw, warmTimes, coldTimes []time.Duration
	for range e.times(20) / 2 {
		for _, side := range []struct {
			times *[]time.Duration
			once  func() (time.Duration, error)
		}{
			{&raw, func() (time.Duration, error) { return e.rawStart(ctx) }},
			{&warmTimes, func() (time.Duration, error) { return firstPicture(ctx, e.server) }},
			{&coldTimes, func() (time.Duration, error) { return firstPicture(ctx, cold) }},
		} {
			// The warm Chromium of the last round has to be replaced, and a new
			// one stays busy for a while.
			if err := pause(ctx, 4*time.Second); err != nil {
				return nil, err
			}
			d, err := side.once()
			if err != nil {
				return nil, err
			}
			*side.times = append(*side.times, d)
		}
	}
	reference := percentile(raw, 0.5)
	return []row{
		{what: "session create → first picture, warm", ours: percentile(warmTimes, 0.5), reference: reference, unit: "ms", target: atMostTimes(0.5)},
		{what: "session create → first picture, cold", ours: percentile(coldTimes, 0.5), reference: reference, unit: "ms", target: atMostTimes(1.15)},
	}, nil
}

func (e *env) rawStart(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	c, err := startRaw(ctx, e.chromium, e.switches)
	if err != nil {
		return 0, err
	}
	defer c.close()
	if err := c.attach(ctx); err != nil {
		return 0, err
	}
	first := newEvent()
	var took time.Duration
	err = c.cast(ctx, func(at time.Time, _ []byte) {
		first.once.Do(func() {
			took = at.Sub(start)
			close(first.done)
		})
	})
	if err != nil {
		return 0, err
	}
	if err := first.wait(ctx); err != nil {
		return 0, err
	}
	return took, nil
}

func firstPicture(ctx context.Context, s *server) (took time.Duration, err error) {
	start := time.Now()
	id, err := s.create(ctx, "")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.release(ctx, id)) }()
	first := newEvent()
	v, err := s.view(ctx, id, viewOptions{show: func(p picture) {
		first.once.Do(func() {
			took = p.arrived.Sub(start)
			close(first.done)
		})
	}})
	if err != nil {
		return 0, err
	}
	defer v.close()
	if err := first.wait(ctx); err != nil {
		return 0, err
	}
	return took, nil
}

// benchMemory measures how much memory the server uses for idle sessions.
func benchMemory(ctx context.Context, e *env) (rows []row, err error) {
	s, err := startServer(ctx, e.binary)
	if err != nil {
		return nil, err
	}
	defer s.close()
	idle := e.lasting(15 * time.Second) // meanwhile the garbage collector returns the memory used at the start
	add := func(n int) (float64, error) {
		for range n {
			if _, err := s.create(ctx, e.page); err != nil {
				return 0, err
			}
		}
		if err := pause(ctx, idle); err != nil {
			return 0, err
		}
		return s.memory()
	}
	one, err := add(1)
	if err != nil {
		return nil, err
	}
	const more = 5
	many, err := add(more)
	if err != nil {
		return nil, err
	}
	return []row{
		{what: "server memory per idle session", ours: (many - one) / more, unit: "MB", target: atMost(3)},
		{what: "server memory with one session", ours: one, unit: "MB", target: atMost(80)},
	}, nil
}
