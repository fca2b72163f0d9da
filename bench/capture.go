package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

// everything is the configuration of a capture with all groups on.
var everything = map[string]any{
	"console": true, "network": true, "network_response_body": true, "navigation": true, "dom": true, "layout_shifts": true,
	"screenshots": true, "targets": true, "interactions": true, "computed_events": true,
}

// capture starts the capture of a session's events.
func (s *server) capture(ctx context.Context, session string, config map[string]any) error {
	return s.call(ctx, http.MethodPost, "/v1/sessions/"+session+"/events/start", config, nil)
}

// loadCode loads a page and returns how long that took by the page's own clock.
const loadCode = `await page.goto(args.url)
return await page.evaluate(() => new Promise(done => (function look() {
	const { loadEventEnd } = performance.getEntriesByType('navigation')[0]
	loadEventEnd ? done(loadEventEnd) : setTimeout(look, 1)
})()))`

// loadRest is how long each side gets after its page has loaded, so that a
// capture's delayed work does not slow the other side down.
const loadRest = time.Second

// benchLoad measures the cost of capturing everything on a page with many
// requests, against the same page without a capture.
func benchLoad(ctx context.Context, e *env) (rows []row, err error) {
	var sides [2]struct {
		id    string
		times []float64
	}
	for i := range sides {
		if sides[i].id, err = e.server.create(ctx, ""); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, e.server.release(ctx, sides[i].id)) }()
	}
	if err := e.server.capture(ctx, sides[0].id, everything); err != nil {
		return nil, err
	}
	const warmUp = 2
	for n := range e.times(20) + warmUp {
		for i := range sides {
			var took float64
			if err := e.server.script(ctx, sides[i].id, loadCode, map[string]any{"url": e.page + manyPath}, &took); err != nil {
				return nil, err
			}
			if n >= warmUp {
				sides[i].times = append(sides[i].times, took)
			}
			if err := pause(ctx, loadRest); err != nil {
				return nil, err
			}
		}
	}
	return []row{{
		what: "page load, everything captured", ours: median(sides[0].times), reference: median(sides[1].times), unit: "ms", target: atMostTimes(1.10),
		note: fmt.Sprintf("a page of %d requests, half of them for texts; reference: the same in a session of which nothing is captured", manyRequests),
	}}, nil
}

// floodLines is the number of lines that the page of a flood logs.
const floodLines = 1_000_000

// benchFlood measures the effect of a flood of console lines on a server that
// captures everything and on a viewer, against the same flood without a capture.
func benchFlood(ctx context.Context, e *env) ([]row, error) {
	without, err := e.flood(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("without capture: %w", err)
	}
	with, err := e.flood(ctx, everything)
	if err != nil {
		return nil, err
	}
	lines := number(float64(e.times(floodLines)))
	return []row{
		{
			what: "flood of console lines: click → picture, p95 later by", ours: percentile(with.clicks, 0.95) - percentile(without.clicks, 0.95), unit: "ms", target: atMost(20),
			note: fmt.Sprintf("%s lines by a worker of the page; against the same flood with capture off, %s ms", lines, number(percentile(without.clicks, 0.95))),
		},
		{
			what: "flood of console lines: the server grows by", ours: with.most - with.before, unit: "MB", target: atMost(64),
			note: fmt.Sprintf("at most, while it goes on; %s MB with capture off", number(without.most-without.before)),
		},
		{
			what: "events to one reader of the stream, per second of a processor", ours: float64(with.events) / with.cpu.Seconds(), unit: "/s", target: atLeast(20_000),
			note: fmt.Sprintf("%d events of the flood; all that the server did meanwhile counts, pictures and the durable stream too", with.events),
		},
	}, nil
}

// flooded holds the figures of a flood.
type flooded struct {
	clicks       []time.Duration
	before, most float64 // memory of the server in MB
	events       int     // events that the stream's reader got
	cpu          time.Duration
}

// flood lets a page log its lines while a viewer clicks and, during a capture, a
// program reads the stream.
func (e *env) flood(ctx context.Context, config map[string]any) (f flooded, err error) {
	s, err := startServer(ctx, e.binary, "--warm=-1")
	if err != nil {
		return f, err
	}
	defer s.close()
	id, err := s.create(ctx, fmt.Sprintf("%s%s?%d", e.page, floodPath, e.times(floodLines)))
	if err != nil {
		return f, err
	}
	c := newClicker(nil)
	v, err := s.view(ctx, id, viewOptions{show: c.show})
	if err != nil {
		return f, err
	}
	defer v.close()
	c.press = v.press
	if err := v.control(ctx); err != nil {
		return f, err
	}
	ctx, cancel := context.WithCancel(ctx)
	read := make(chan int, 1)
	defer func() { cancel(); f.events = <-read }()
	if config == nil {
		read <- 0
	} else {
		if err := s.capture(ctx, id, config); err != nil {
			read <- 0
			return f, err
		}
		go func() { read <- s.countEvents(ctx, id) }()
	}
	if err := pause(ctx, startTime); err != nil {
		return f, err
	}
	if f.before, err = s.memory(); err != nil {
		return f, err
	}
	cpu, err := s.cpu()
	if err != nil {
		return f, err
	}
	for over := false; !over; { // the first click starts the flood
		took, err := c.click(ctx)
		if err != nil {
			return f, err
		}
		f.clicks = append(f.clicks, took)
		now, err := s.memory()
		if err != nil {
			return f, err
		}
		f.most = max(f.most, now)
		if over, err = s.titled(ctx, id, floodOver); err != nil {
			return f, err
		}
		if err := pause(ctx, between(60*time.Millisecond, 260*time.Millisecond)); err != nil {
			return f, err
		}
	}
	now, err := s.cpu()
	f.cpu = now - cpu
	return f, err
}

// titled reports whether the session's page has the given title.
func (s *server) titled(ctx context.Context, id, title string) (bool, error) {
	var session struct{ Title string }
	err := s.call(ctx, http.MethodGet, "/v1/sessions/"+id, nil, &session)
	return session.Title == title, err
}

// countEvents reads the session's stream until ctx ends, and returns the number
// of events.
func (s *server) countEvents(ctx context.Context, id string) (events int) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"/v1/sessions/"+id+"/events/stream", nil)
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Fprintln(os.Stderr, "event stream:", err)
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "id: ") {
			events++
		}
	}
	return events
}
