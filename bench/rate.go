package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const rateRounds = 3

// viewRate opens viewers of one animated session and returns the pictures per
// second of each. A stalled viewer counts as 0.
func (e *env) viewRate(ctx context.Context, d time.Duration, viewers []viewOptions) (rates []float64, err error) {
	id, err := e.server.create(ctx, e.page+"?animate")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.server.release(ctx, id)) }()
	counters := make([]*counter, len(viewers))
	for i, o := range viewers {
		counters[i] = newCounter()
		o.show = func(picture) { counters[i].add() }
		v, err := e.server.view(ctx, id, o)
		if err != nil {
			return nil, err
		}
		defer v.close()
	}
	rates = make([]float64, len(viewers))
	errs := make([]error, len(viewers))
	var all sync.WaitGroup
	for i, c := range counters {
		all.Go(func() { rates[i], errs[i] = c.rate(ctx, d) })
	}
	all.Wait()
	return rates, errors.Join(errs...)
}

// alternate measures two sides alternately, several times, and returns the median
// of each.
func (e *env) alternate(ours, reference func() (float64, error)) (float64, float64, error) {
	var a, b []float64
	for range rateRounds {
		y, err := reference()
		if err != nil {
			return 0, 0, err
		}
		x, err := ours()
		if err != nil {
			return 0, 0, err
		}
		a, b = append(a, x), append(b, y)
	}
	return median(a), median(b), nil
}

// benchRate measures how many pictures per second of an animation reach one
// viewer.
func benchRate(ctx context.Context, e *env) ([]row, error) {
	d := e.lasting(5 * time.Second)
	ours, raw, err := e.alternate(
		func() (float64, error) {
			rates, err := e.viewRate(ctx, d, make([]viewOptions, 1))
			return slices.Min(append(rates, 1e9)), err
		},
		func() (float64, error) { return e.rawRate(ctx, d) })
	if err != nil {
		return nil, err
	}
	return []row{{what: "pictures per second, 1 viewer", ours: ours, reference: raw, unit: "/s", target: atLeastTimes(0.97)}}, nil
}

// benchViewers measures the slowest of ten viewers.
func benchViewers(ctx context.Context, e *env) ([]row, error) {
	const viewers = 10
	d := e.lasting(5 * time.Second)
	ours, raw, err := e.alternate(
		func() (float64, error) {
			rates, err := e.viewRate(ctx, d, make([]viewOptions, viewers))
			return slices.Min(append(rates, 1e9)), err
		},
		func() (float64, error) { return e.rawRate(ctx, d) })
	if err != nil {
		return nil, err
	}
	return []row{{what: fmt.Sprintf("pictures per second, slowest of %d viewers", viewers), ours: ours, reference: raw, unit: "/s", target: atLeastTimes(0.90)}}, nil
}

// benchStalled measures the effect of a stalled viewer on others.
func benchStalled(ctx context.Context, e *env) ([]row, error) {
	d := e.lasting(5 * time.Second)
	slower := func(viewers []viewOptions) (float64, error) {
		rates, err := e.viewRate(ctx, d, viewers)
		return slices.Min(append(rates[:min(2, len(rates))], 1e9)), err
	}
	ours, without, err := e.alternate(
		func() (float64, error) { return slower([]viewOptions{{}, {}, {stalled: true}}) },
		func() (float64, error) { return slower(make([]viewOptions, 2)) })
	if err != nil {
		return nil, err
	}
	return []row{{what: "3 viewers, one of them stalled: the others", ours: ours, reference: without, unit: "/s", target: atLeastTimes(0.98), note: "reference: the same without the stalled one"}}, nil
}

// benchDistant measures a viewer with delayed acks.
func benchDistant(ctx context.Context, e *env) ([]row, error) {
	const delay = 80 * time.Millisecond
	d := e.lasting(5 * time.Second)
	one := func(o viewOptions) (float64, error) {
		rates, err := e.viewRate(ctx, d, []viewOptions{o})
		return slices.Min(append(rates, 1e9)), err
	}
	ours, without, err := e.alternate(
		func() (float64, error) { return one(viewOptions{ackAfter: delay}) },
		func() (float64, error) { return one(viewOptions{}) })
	if err != nil {
		return nil, err
	}
	return []row{{what: fmt.Sprintf("a viewer whose acks take %v", delay), ours: ours, reference: without, unit: "/s", target: atLeast(50), note: "reference: the same without the delay"}}, nil
}

// benchCost measures the cost of a picture: bytes on the wire and processor time
// of the server.
func benchCost(ctx context.Context, e *env) (rows []row, err error) {
	var (
		mu     sync.Mutex
		images int64
		count  int
	)
	v, id, err := e.watched(ctx, e.page+"?animate", viewOptions{show: func(p picture) {
		mu.Lock()
		images += int64(len(p.jpeg))
		count++
		mu.Unlock()
	}})
	if err != nil {
		return nil, err
	}
	defer func() { v.close(); err = errors.Join(err, e.server.release(ctx, id)) }()
	if err := pause(ctx, startTime); err != nil {
		return nil, err
	}
	read := func() (wire, sum int64, n int, cpu time.Duration, err error) {
		cpu, err = e.server.cpu()
		mu.Lock()
		defer mu.Unlock()
		return v.wire.Load(), images, count, cpu, err
	}
	wire0, images0, count0, cpu0, err := read()
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, e.lasting(20*time.Second)); err != nil {
		return nil, err
	}
	wire1, images1, count1, cpu1, err := read()
	if err != nil {
		return nil, err
	}
	n := float64(count1 - count0)
	if n == 0 {
		return nil, errors.New("no pictures came")
	}
	return []row{
		{what: "bytes per picture on the wire", ours: float64(wire1-wire0) / n, reference: float64(images1-images0) / n, unit: "B", target: atMostTimes(1.01), note: "reference: the JPEG itself; messages that are no pictures count on our side"},
		{what: "server CPU per picture, 1 viewer", ours: float64((cpu1 - cpu0).Microseconds()) / 1000 / n, unit: "ms", target: atMost(0.5)},
	}, nil
}
