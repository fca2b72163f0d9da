package chromium_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/chromium"
)

// BenchmarkConfinedLaunch takes Chromiums from pools without warm ones, in turn
// without confinement, confined, confined with a proxy, and the last again from a pool
// in which no launcher waits. It reports the medians and their ratios to the first.
func BenchmarkConfinedLaunch(b *testing.B) {
	kinds := []chromium.LaunchOptions{{}, {Launcher: testLauncher}, {Launcher: testLauncher, Proxy: deadEnd}, {Launcher: testLauncher, Proxy: deadEnd}}
	unready := len(kinds) - 1
	times := make([][]time.Duration, len(kinds))
	pools := make([]*chromium.Pool, len(kinds))
	take := func(i int) time.Duration {
		var o chromium.LaunchOptions
		if i == unready {
			o.Dir = b.TempDir()
		}
		start := time.Now()
		p, err := pools[i].Get(b.Context(), o)
		took := time.Since(start)
		if err != nil {
			b.Fatal(err)
		}
		p.Kill()
		if err := p.RemoveDir(); err != nil {
			b.Error(err)
		}
		if kinds[i].Launcher != nil {
			browsertest.Until(b, "a launcher for the next one", pools[i].Spare)
		}
		return took
	}
	for i, o := range kinds {
		pools[i] = chromium.NewPool(chromium.PoolOptions{Root: filepath.Join(b.TempDir(), "chromiums"), Launch: o})
		b.Cleanup(func() {
			if err := pools[i].Close(); err != nil {
				b.Error(err)
			}
		})
		take(i)
	}
	for b.Loop() {
		for i := range kinds {
			times[i] = append(times[i], take(i))
		}
	}
	report(b, times, "without", "confined", "way-out", "unready")
}

// BenchmarkProxy loads a page with and without the proxy in turn.
func BenchmarkProxy(b *testing.B) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title>", r.URL.Path)
		for i := range 10 {
			fmt.Fprintf(w, "<img src='/%s/%d.png'>", r.URL.Path, i)
		}
	}))
	b.Cleanup(site.Close)
	var w testProxy
	pages := [2]*browsertest.TestPage{}
	for i, o := range []chromium.LaunchOptions{{}, {Launcher: testLauncher, Proxy: w.open}} {
		pages[i] = browsertest.PageOf(b, browsertest.Launch(b, o).Conn())
	}
	times := make([][]time.Duration, 2)
	n := 0
	for b.Loop() {
		for i, pg := range pages {
			n++
			start := time.Now()
			pg.Eval(fmt.Sprintf(`new Promise((done, failed) => {
				const frame = document.createElement("iframe");
				frame.onload = () => { frame.remove(); done(1); };
				frame.src = %q;
				document.body.append(frame);
			})`, fmt.Sprintf("%s/%d", site.URL, n)), nil)
			times[i] = append(times[i], time.Since(start))
		}
	}
	report(b, times, "without", "way-out")
}

func report(b *testing.B, times [][]time.Duration, names ...string) {
	b.Helper()
	median := func(i int) float64 {
		slices.Sort(times[i])
		return float64(times[i][len(times[i])/2].Microseconds()) / 1000
	}
	for i, name := range names {
		b.ReportMetric(median(i), "ms-"+name)
		if i > 0 {
			b.ReportMetric(median(i)/median(0), "ratio-"+name)
		}
	}
	b.ReportMetric(0, "ns/op")
}
