package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// phoneLine is 1 Mbit/s with a round trip of 200 ms, as phones have it where
// reception is poor.
var phoneLine = link{bytesPerSec: 125_000, oneWay: 100 * time.Millisecond, queueBytes: 64 << 10}

// benchTap measures single presses, as people make them: over a poor line on a
// page full of text, and the first one after taking control.
func benchTap(ctx context.Context, e *env) (rows []row, err error) {
	poor, err := benchPoorLine(ctx, e)
	if err != nil {
		return nil, err
	}
	first, err := benchFirstPress(ctx, e)
	return append(poor, first...), err
}

func benchPoorLine(ctx context.Context, e *env) (rows []row, err error) {
	c := newClicker(nil)
	v, id, err := e.watched(ctx, e.page+"?text", viewOptions{dialer: phoneLine.dial, show: c.show})
	if err != nil {
		return nil, err
	}
	defer func() { v.close(); err = errors.Join(err, e.server.release(ctx, id)) }()
	c.press = v.press
	times, err := c.clicks(ctx, e.times(40), time.Second, 2500*time.Millisecond)
	if err != nil {
		return nil, err
	}
	return []row{{
		what: "single press → picture, 1 Mbit/s and 200 ms, p95", ours: percentile(times, 0.95), unit: "ms", target: atMost(900),
		note: fmt.Sprintf("a page full of text, a press every 1 to 2.5 s; p50 %s ms, the first two %s and %s ms", number(percentile(times, 0.5)), number(percentile(times[:1], 0)), number(percentile(times[1:2], 0))),
	}}, nil
}

func benchFirstPress(ctx context.Context, e *env) ([]row, error) {
	var firsts, others []time.Duration
	for range e.times(20) {
		first, other, err := e.firstPress(ctx)
		if err != nil {
			return nil, err
		}
		firsts, others = append(firsts, first), append(others, other...)
	}
	return []row{{
		what: "first press after taking control → picture, p50", ours: percentile(firsts, 0.5), reference: percentile(others, 0.5), unit: "ms", target: atMostTimes(1.5),
		note: fmt.Sprintf("reference: the next five; a bare Chromium has about 1.3×; p95 %s and %s ms", number(percentile(firsts, 0.95)), number(percentile(others, 0.95))),
	}}, nil
}

// firstPress looks at a new session until it is at rest, takes control, and
// measures the presses after that.
func (e *env) firstPress(ctx context.Context) (first time.Duration, others []time.Duration, err error) {
	id, err := e.server.create(ctx, e.page)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, e.server.release(ctx, id)) }()
	c := newClicker(nil)
	v, err := e.server.view(ctx, id, viewOptions{show: c.show})
	if err != nil {
		return 0, nil, err
	}
	defer v.close()
	c.press = v.press
	if err := pause(ctx, startTime); err != nil {
		return 0, nil, err
	}
	if err := v.control(ctx); err != nil {
		return 0, nil, err
	}
	if first, err = c.click(ctx); err != nil {
		return 0, nil, err
	}
	others, err = c.clicks(ctx, 5, 60*time.Millisecond, 260*time.Millisecond)
	return first, others, err
}
