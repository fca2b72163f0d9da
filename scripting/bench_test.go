package scripting

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// BenchmarkCall measures one operation from the script to the server and back.
func BenchmarkCall(b *testing.B) {
	p := newPool(b, Limits{RunTime: time.Minute, TurnTime: time.Minute})
	w := newWorld().answer("frame.title", map[string]any{"value": "t"})
	code := fmt.Sprintf(`const n = %d, t = performance.now();
		for (let i = 0; i < n; i++) await page.title();
		return (performance.now() - t) * 1000 / n`, b.N)
	var us float64
	if err := json.Unmarshal([]byte(mustSucceed(b, p, w, code)), &us); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(us, "µs/call")
}

// BenchmarkStart measures the time until a warm worker has run the first line of
// a script of 2 KB, and its memory at that moment.
func BenchmarkStart(b *testing.B) {
	p := newPool(b, Limits{})
	code := startScript()
	var resident, own int64
	for b.Loop() {
		b.StopTimer()
		p.warmed(b)
		w := newWorld()
		started := make(chan struct{})
		w.handlers["frame.title"] = func(context.Context, json.RawMessage) (any, error) {
			close(started)
			return map[string]any{"value": "t"}, nil
		}
		b.StartTimer()
		r, err := p.Start(b.Context(), Script{Code: code}, w, w)
		if err != nil {
			b.Fatal(err)
		}
		select {
		case <-started:
		case <-r.Done():
			b.Fatal(r.Wait().Err)
		}
		b.StopTimer()
		all, part := r.proc.resident()
		resident, own = max(resident, all), max(own, part)
		if res := r.Wait(); res.Status != StatusSucceeded {
			b.Fatal(res.Err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/start")
	b.ReportMetric(float64(resident)/(1<<20), "MB/worker")
	b.ReportMetric(float64(own)/(1<<20), "own-MB/worker")
}

// startScript returns a script of 2 KB whose first line calls an operation.
func startScript() string {
	code := "await page.title();\n"
	for i := range 32 {
		code += fmt.Sprintf("async function f%d(x: number): Promise<number> { return x + 1; }\n", i)
	}
	return code
}

// warmed returns once a warm worker has loaded the API.
func (p *Pool) warmed(tb testing.TB) {
	tb.Helper()
	p.warmUp()
	p.mu.Lock()
	warm := p.warm
	p.mu.Unlock()
	if warm == nil || !warm.peekReady() {
		tb.Fatal("no worker is warm")
	}
}

// peekReady waits for the first frame of a worker. It returns false if the worker
// dies first.
func (p *process) peekReady() bool {
	_, err := p.in.Peek(1)
	return err == nil
}
