package worker

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"takeover/scripting"
)

// BenchmarkLoad measures the time and memory that a worker needs to compile and
// run the API's bundles. A single run does not wait for that, because a worker is
// kept warm, but many runs at once do.
func BenchmarkLoad(b *testing.B) {
	limits := defaultLimits()
	for _, name := range []string{"api.js", extra("url"), extra("buffer"), extra("clone"), extra("web")} {
		b.Run(name, func(b *testing.B) {
			source := newWorker(limits, nil, scripting.Bundles()).file(name)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var keep []*worker
			cpu := processorTime()
			for b.Loop() {
				w := newWorker(limits, nil, scripting.Bundles())
				if _, err := w.module(source); err != nil {
					b.Fatal(err)
				}
				keep = append(keep, w)
			}
			cpu = processorTime() - cpu
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(cpu.Microseconds())/1000/float64(len(keep)), "CPU-ms")
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(keep))/1e6, "MB")
			b.ReportMetric(float64(len(source))/1e3, "KB-source")
			runtime.KeepAlive(keep)
		})
	}
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // never fails for this process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
