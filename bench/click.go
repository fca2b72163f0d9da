package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const clickTimeout = 60 * time.Second

// clicker measures the time from a click to the changed picture.
type clicker struct {
	press    func() error
	pictures chan picture
	black    bool // colour of the square
}

func newClicker(press func() error) *clicker {
	return &clicker{press: press, pictures: make(chan picture, 1024)}
}

func (c *clicker) show(p picture) {
	if p.sharp { // a still repeats the last picture
		return
	}
	select {
	case c.pictures <- p:
	default:
	}
}

// click clicks and waits for the first picture that shows the change. The
// measured time ends when the picture arrives, before it is examined.
func (c *clicker) click(ctx context.Context) (time.Duration, error) {
	for len(c.pictures) > 0 {
		<-c.pictures
	}
	start := time.Now()
	if err := c.press(); err != nil {
		return 0, err
	}
	timeout := time.After(clickTimeout)
	for {
		select {
		case p := <-c.pictures:
			black, err := isBlack(p.jpeg)
			if err != nil {
				return 0, fmt.Errorf("look at picture: %w", err)
			}
			if black != c.black {
				c.black = black
				return p.arrived.Sub(start), nil
			}
		case <-timeout:
			return 0, errors.New("a press did not show")
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// clicks clicks n times, with pauses between least and most.
func (c *clicker) clicks(ctx context.Context, n int, least, most time.Duration) (times []time.Duration, err error) {
	for range n {
		if err := pause(ctx, between(least, most)); err != nil {
			return nil, err
		}
		d, err := c.click(ctx)
		if err != nil {
			return nil, err
		}
		times = append(times, d)
	}
	return times, nil
}

// benchClick measures the time from a click to the changed picture on a page
// where nothing else moves.
func benchClick(ctx context.Context, e *env) (rows []row, err error) {
	raw := newClicker(e.raw.press)
	if err := e.raw.open(ctx, e.page); err != nil {
		return nil, err
	}
	if err := e.raw.cast(ctx, func(at time.Time, jpeg []byte) { raw.show(picture{arrived: at, jpeg: jpeg}) }); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.raw.stopCast(ctx), e.raw.open(ctx, "about:blank")) }()
	if err := e.raw.mouse("mouseMoved", 0); err != nil {
		return nil, err
	}
	v, id, err := e.watched(ctx, e.page, viewOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { v.close(); err = errors.Join(err, e.server.release(ctx, id)) }()
	ours := newClicker(v.press)
	v.onPicture(ours.show)
	if err := v.mouse("move", "none", 0, 0); err != nil {
		return nil, err
	}
	if err := pause(ctx, startTime); err != nil {
		return nil, err
	}

	var rawTimes, ourTimes []time.Duration
	const warmUp = 5
	for i := range e.times(150) + warmUp {
		for _, side := range []struct {
			c     *clicker
			times *[]time.Duration
		}{{raw, &rawTimes}, {ours, &ourTimes}} {
			if err := pause(ctx, between(60*time.Millisecond, 260*time.Millisecond)); err != nil {
				return nil, err
			}
			d, err := side.c.click(ctx)
			if err != nil {
				return nil, err
			}
			if i >= warmUp {
				*side.times = append(*side.times, d)
			}
		}
	}
	return []row{
		{what: "click → changed picture, p50", ours: percentile(ourTimes, 0.5), reference: percentile(rawTimes, 0.5), unit: "ms", target: atMostTimes(1.10)},
		{what: "click → changed picture, p95", ours: percentile(ourTimes, 0.95), reference: percentile(rawTimes, 0.95), unit: "ms", target: atMostTimes(1.25)},
	}, nil
}

// benchSlow measures the time from a click to the changed picture on a slow link
// during an animation, after the link has been busy for a minute.
func benchSlow(ctx context.Context, e *env) (rows []row, err error) {
	c := newClicker(nil)
	v, id, err := e.watched(ctx, e.page+"?animate", viewOptions{dialer: slowLink.dial, show: c.show})
	if err != nil {
		return nil, err
	}
	defer func() { v.close(); err = errors.Join(err, e.server.release(ctx, id)) }()
	c.press = v.press
	if err := v.mouse("move", "none", 0, 0); err != nil {
		return nil, err
	}
	busy := e.lasting(time.Minute)
	if err := pause(ctx, busy); err != nil {
		return nil, err
	}
	times, err := c.clicks(ctx, e.times(80), 100*time.Millisecond, 600*time.Millisecond)
	if err != nil {
		return nil, err
	}
	half := len(times) / 2
	name := "click → picture, 1 Mbit/s and 100 ms"
	return []row{
		{what: name + ", p95", ours: percentile(times, 0.95), unit: "ms", target: atMost(350), note: fmt.Sprintf("after %v of animation; p50 %s ms", busy, number(percentile(times, 0.5)))},
		{what: name + ", does not grow", ours: percentile(times[half:], 0.5), reference: percentile(times[:half], 0.5), unit: "ms", target: atMostTimes(1.2), note: "median of the second half of the clicks against the first"},
	}, nil
}
