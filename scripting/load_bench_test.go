package scripting

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"takeover/scripting/wire"
	"takeover/scripting/worker"
)

// startBudget is how long the fastest of several starts may take: three times the
// target, because machines may be busy.
const startBudget = 45 * time.Millisecond

// TestStartTime measures from Start until the first operation of a script of 2 KB
// arrives.
func TestStartTime(t *testing.T) {
	p := newPool(t, Limits{})
	best := time.Hour
	for range 10 {
		p.warmed(t)
		w := newWorld()
		arrived := make(chan time.Time, 1)
		w.handlers["frame.title"] = func(context.Context, json.RawMessage) (any, error) {
			arrived <- time.Now()
			return map[string]any{"value": "t"}, nil
		}
		started := time.Now()
		r, err := p.Start(t.Context(), Script{Code: startScript()}, w, w)
		if err != nil {
			t.Fatal(err)
		}
		if res := r.Wait(); res.Status != StatusSucceeded {
			t.Fatal(res.Err)
		}
		best = min(best, (<-arrived).Sub(started))
	}
	t.Logf("%v", best)
	if best > startBudget && !worker.RaceEnabled {
		t.Errorf("a run starts after %v, at most %v", best, startBudget)
	}
}

// ownBudget is how many bytes of its own a ready worker may use. Two thirds of
// that are its heap. The heap was half as large again when no garbage was
// collected between compiling the bundles.
const ownBudget = 13_500_000

func TestWorkerMemory(t *testing.T) {
	if worker.RaceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	p, err := startProcess([]string{"/proc/self/exe", Subcommand}, wire.Setup{Limits: withDefaults(Limits{}), UID: DefaultUID})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if !p.peekReady() {
		t.Fatal(p.stderr.String())
	}
	_, own := p.resident()
	t.Logf("%.1f MB", float64(own)/1e6)
	if own > ownBudget {
		t.Errorf("a worker has %d bytes of its own, at most %d", own, ownBudget)
	}
}

// BenchmarkWorker measures the cost of a worker until it is ready for a script.
func BenchmarkWorker(b *testing.B) {
	var cpu time.Duration
	var own int64
	for b.Loop() {
		p, err := startProcess([]string{"/proc/self/exe", Subcommand}, wire.Setup{Limits: withDefaults(Limits{}), UID: DefaultUID})
		if err != nil {
			b.Fatal(err)
		}
		if !p.peekReady() {
			b.Fatal(p.stderr.String())
		}
		_, own = p.resident()
		p.close()
		cpu += p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "CPU-ms")
	b.ReportMetric(float64(own)/1e6, "own-MB")
}
