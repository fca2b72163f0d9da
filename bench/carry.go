package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// carryBend is how many times as long a click → picture may take, at p95, before the
	// machine counts as full.
	carryBend   = 2
	carryClicks = 60
)

// loads are the kinds of sessions that benchCarry adds: their page, and how many it has when
// it measures.
var loads = []struct {
	name    string
	query   string // of the page
	viewed  bool
	sleeps  bool // it hibernates
	numbers []int
}{
	{name: "hibernating", sleeps: true, numbers: []int{8, 32}},
	{name: "idle", numbers: []int{4, 8, 16, 32, 48}},
	{name: "watched", viewed: true, numbers: []int{4, 8, 16, 32, 48}},
	{name: "busy: moving in every frame, watched", query: "?animate", viewed: true, numbers: []int{1, 2, 3, 4, 6, 8}},
}

// benchCarry measures how many sessions of each kind the machine carries beside one in which
// a person clicks, until their click → picture bends.
func benchCarry(ctx context.Context, e *env) (rows []row, err error) {
	for _, l := range loads {
		carried, note := 0, ""
		s, err := startServer(ctx, e.binary, "--warm=0", "--max-sessions=500", "--create-rate=100000", "--create-burst=10000", "--hibernate-after=1m")
		if err != nil {
			return rows, err
		}
		err = e.carry(ctx, s, l.numbers, func(n int, alone, p95 time.Duration, free float64) bool {
			if note += fmt.Sprintf("%d: %s ms, ", n, number(p95.Seconds()*1000)); p95 > carryBend*alone && n > 0 {
				return false
			}
			carried = n
			if n == l.numbers[len(l.numbers)-1] {
				note += fmt.Sprintf("%s GB free at the end, ", number(free))
			}
			return true
		}, func(n int) error { return s.addLoad(ctx, e.page+l.query, n, l.viewed, l.sleeps) })
		s.close()
		if err != nil {
			return rows, fmt.Errorf("%s: %w", l.name, err)
		}
		rows = append(rows, row{what: "sessions carried, " + l.name, ours: float64(carried), target: atLeast(1), note: "click → picture p95 beside so many: " + strings.TrimSuffix(note, ", ")})
	}
	return rows, nil
}

// carry calls add for more and more sessions, and told with the p95 of clicks beside them,
// until that returns false.
func (e *env) carry(ctx context.Context, s *server, numbers []int, told func(n int, alone, p95 time.Duration, free float64) bool, add func(n int) error) error {
	id, err := s.create(ctx, e.page)
	if err != nil {
		return err
	}
	v, err := s.watch(ctx, id, viewOptions{})
	if err != nil {
		return err
	}
	defer v.close()
	clicker := newClicker(v.press)
	v.onPicture(clicker.show)
	if err := v.mouse("move", "none", 0, 0); err != nil {
		return err
	}
	have, alone := 0, time.Duration(0)
	for _, n := range append([]int{0}, numbers...) {
		if err := add(n - have); err != nil {
			return err
		}
		have = n
		if err := pause(ctx, startTime); err != nil {
			return err
		}
		times, err := clicker.clicks(ctx, e.times(carryClicks), 60*time.Millisecond, 260*time.Millisecond)
		if err != nil {
			return err
		}
		p95 := time.Duration(percentile(times, 0.95) * float64(time.Millisecond))
		if n == 0 {
			alone = p95
		}
		if !told(n, alone, p95, freeMemory()) {
			return nil
		}
	}
	return nil
}

// addLoad starts sessions at a page, each with a viewer if it is watched. It waits until those
// that sleep do.
func (s *server) addLoad(ctx context.Context, page string, n int, viewed, sleeps bool) error {
	for range n {
		id, err := s.create(ctx, page)
		if err != nil {
			return err
		}
		if viewed {
			if _, err := s.view(ctx, id, viewOptions{}); err != nil { // it ends with the server
				return err
			}
		}
	}
	for sleeps && n > 0 {
		var list struct {
			Sessions []struct{ Hibernates bool }
		}
		if err := s.call(ctx, "GET", "/v1/sessions?status=live&limit=1000", nil, &list); err != nil {
			return err
		}
		awake := 0
		for _, one := range list.Sessions {
			if !one.Hibernates {
				awake++
			}
		}
		if awake <= 1 { // the one in which somebody clicks
			return nil
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

// freeMemory returns what the machine has left, in GB, or 0 if it does not say.
func freeMemory() float64 {
	raw, _ := os.ReadFile("/proc/meminfo") // without it, nothing is found below
	_, rest, _ := strings.Cut(string(raw), "MemAvailable:")
	kib, _ := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64)
	return kib / 1e6
}
