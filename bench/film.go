package main

import (
	"context"
	"time"
)

// filmSide is a session that is captured and watched, with or without a film strip.
type filmSide struct {
	still  *clicker
	clicks []time.Duration
}

// benchFilm measures what the film strip of a captured session costs its viewers: two servers,
// of which one keeps none, each with the same page in which somebody clicks.
func benchFilm(ctx context.Context, e *env) ([]row, error) {
	var sides [2]filmSide
	for i, args := range [][]string{nil, {"--film-bytes=0"}} {
		s, err := startServer(ctx, e.binary, args...)
		if err != nil {
			return nil, err
		}
		defer s.close()
		id, err := s.create(ctx, e.page)
		if err != nil {
			return nil, err
		}
		if err := s.capture(ctx, id, map[string]any{"console": true, "network": true, "navigation": true}); err != nil {
			return nil, err
		}
		v, err := s.watch(ctx, id, viewOptions{})
		if err != nil {
			return nil, err
		}
		defer v.close()
		c := newClicker(v.press)
		v.onPicture(c.show)
		if err := v.mouse("move", "none", 0, 0); err != nil {
			return nil, err
		}
		sides[i] = filmSide{still: c}
	}
	if err := pause(ctx, startTime); err != nil {
		return nil, err
	}
	const warmUp = 5
	for i := range e.times(200) + warmUp {
		for at := range sides {
			side := &sides[(at+i)%len(sides)] // neither is always the first
			times, err := side.still.clicks(ctx, 1, 60*time.Millisecond, 260*time.Millisecond)
			if err != nil {
				return nil, err
			}
			if i >= warmUp {
				side.clicks = append(side.clicks, times...)
			}
		}
	}
	with, without := sides[0].clicks, sides[1].clicks
	return []row{
		{what: "click → changed picture with a film strip, p50", ours: percentile(with, 0.5), reference: percentile(without, 0.5), unit: "ms", target: atMostTimes(1.10), note: "the reference is the same without one"},
		{what: "click → changed picture with a film strip, p95", ours: percentile(with, 0.95), reference: percentile(without, 0.95), unit: "ms", target: atMostTimes(1.25)},
	}, nil
}
