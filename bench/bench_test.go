package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestRows(t *testing.T) {
	for _, tt := range []struct {
		row row
		ok  bool
	}{
		{row{ours: 10, reference: 10, target: atMostTimes(1.1)}, true},
		{row{ours: 12, reference: 10, target: atMostTimes(1.1)}, false},
		{row{ours: 58, reference: 60, target: atLeastTimes(0.97)}, false},
		{row{ours: 59, reference: 60, target: atLeastTimes(0.97)}, true},
		{row{ours: 0.4, target: atMost(0.5)}, true},
		{row{ours: 49, target: atLeast(50)}, false},
		{row{failed: io.EOF, target: atMost(1)}, false},
		{row{ours: 1, reference: 0, target: atMostTimes(2)}, false}, // no reference to compare with
	} {
		if tt.row.ok() != tt.ok {
			t.Errorf("%+v: ok is %v", tt.row, !tt.ok)
		}
	}
	r := report{rows: []row{{what: "x", ours: 12, reference: 10, unit: "ms", target: atMostTimes(1.1), note: "why"}, {what: "y", failed: io.EOF}}}
	text := r.String()
	for _, want := range []string{"| x    | 12.0 ms  | 10.0 ms   | 1.200× | ≤ 1.1× | **missed**  |", "failed: EOF", "- x: why"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if r.missed() != 2 {
		t.Error(r.missed())
	}
}

// TestMeasure checks that a group that hangs, or an interruption, does not lose
// the other groups' figures.
func TestMeasure(t *testing.T) {
	one := bench{name: "one", run: func(context.Context, *env) ([]row, error) { return []row{{what: "figure"}}, nil }}
	hangs := bench{name: "hangs", run: func(ctx context.Context, _ *env) ([]row, error) { <-ctx.Done(); return nil, ctx.Err() }}
	rows, err := measure(t.Context(), &env{}, []bench{one, hangs, one}, 10*time.Millisecond)
	if err != nil || len(rows) != 3 || rows[2].what != "figure" || rows[1].failed == nil || rows[1].failed.Error() != "not done within 10ms" {
		t.Errorf("%+v, %v", rows, err)
	}
	rows, err = measure(t.Context(), &env{soak: 10 * time.Millisecond}, []bench{{name: "asked", asked: true, run: one.run}, hangs}, time.Millisecond)
	if err != nil || len(rows) != 2 || rows[1].failed == nil || rows[1].failed.Error() != "not done within 1ms" {
		t.Errorf("after a group with a longer limit: %+v, %v", rows, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := bench{name: "stopped", run: func(ctx context.Context, e *env) ([]row, error) { cancel(); return hangs.run(ctx, e) }}
	rows, err = measure(ctx, &env{}, []bench{one, stopped, one}, time.Hour)
	if err == nil || err.Error() != "interrupted while measuring stopped" || len(rows) != 1 {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestPercentile(t *testing.T) {
	var d []time.Duration
	for i := range 100 {
		d = append(d, time.Duration(100-i)*time.Millisecond)
	}
	if p50, p95 := percentile(d, 0.5), percentile(d, 0.95); p50 != 51 || p95 != 96 {
		t.Error(p50, p95)
	}
	if percentile(nil, 0.5) != 0 || median([]float64{3, 1, 2}) != 2 || median([]float64{4, 1, 2, 3}) != 2.5 {
		t.Error("of few values")
	}
}

// TestLink checks the rate and the delay of the simulated link.
func TestLink(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	const size = 50_000 // 0.4 s at 1 Mbit/s
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		_, _ = io.CopyN(io.Discard, c, 1)
		_, _ = c.Write(bytes.Repeat([]byte("x"), size))
		_, _ = io.Copy(io.Discard, c)
	}()
	c, err := slowLink.dial(context.Background(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := c.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, c, 1); err != nil {
		t.Fatal(err)
	}
	first := time.Since(start)
	if _, err := io.CopyN(io.Discard, c, size-1); err != nil {
		t.Fatal(err)
	}
	all := time.Since(start)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if first < 100*time.Millisecond || all < 490*time.Millisecond {
		t.Errorf("first byte after %v, last after %v: the link is too fast", first, all)
	}
}
