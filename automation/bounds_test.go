package automation

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"takeover/browser"
)

// TestOperationThatPanics checks that a panic fails its operation and nothing
// else.
func TestOperationThatPanics(t *testing.T) {
	var log strings.Builder
	c := &Client{automation: &Automation{log: slog.New(slog.NewTextHandler(&log, nil))}}
	faulty := op(false, func(_ context.Context, _ *Client, p *struct{ Names []string }) (any, error) { return p.Names[1], nil })
	value, err := c.carryOut(t.Context(), "faulty", faulty, json.RawMessage(`{"Names": ["one"]}`))
	if value != nil || err == nil || err.Error() != "internal error in faulty" {
		t.Errorf("%v, %v", value, err)
	}
	if text := log.String(); !strings.Contains(text, "index out of range") || !strings.Contains(text, "operation=faulty") || !strings.Contains(text, "bounds_test.go") {
		t.Errorf("log: %s", text)
	}
	if value, err := c.carryOut(t.Context(), "faulty", faulty, json.RawMessage(`{"Names": ["one", "two"]}`)); value != "two" || err != nil {
		t.Errorf("afterwards: %v, %v", value, err)
	}
}

// TestTrafficQueue checks that requests lose their names when there are too many
// or they are too large.
func TestTrafficQueue(t *testing.T) {
	var q trafficQueue
	requests := make([]*browser.Request, maxRequests+1)
	for i := range requests {
		requests[i] = &browser.Request{}
		old := q.weigh(requests[i], 1)
		if want := i == maxRequests; len(old) == 1 != want || want && old[0] != requests[0] {
			t.Fatalf("request %d: %d go", i, len(old))
		}
	}
	if old := q.weigh(requests[5], maxRequestBytes-maxRequests+2); len(old) != 1 || old[0] != requests[1] {
		t.Errorf("one that grew: %d go", len(old))
	}
	newest := requests[maxRequests]
	if old := q.weigh(newest, 2*maxRequestBytes); len(old) != maxRequests-2 || len(q.list) != 1 || q.list[0] != newest || len(q.sizes) != 1 || q.size != 2*maxRequestBytes {
		t.Errorf("a newest one of much: %d go, %d stay with %d bytes", len(old), len(q.list), q.size)
	}
}

// TestQuotedBody checks that quoting a body in an error costs no more than the
// quoted part.
func TestQuotedBody(t *testing.T) {
	body := []byte(strings.Repeat("ä€x", 8<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := quoted(body)
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 1<<20 {
		t.Errorf("%d bytes for %d", cost, len(text))
	}
	text = strings.TrimPrefix(text, "\nResponse text:\n")
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) != shownBody || !strings.HasSuffix(text, "...") {
		t.Errorf("%q", text)
	}
	if short := quoted([]byte("none")); short != "\nResponse text:\nnone" {
		t.Errorf("%q", short)
	}
}
