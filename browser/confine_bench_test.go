package browser_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"takeover/browser"
	"takeover/browser/browsertest"
)

// BenchmarkConfinedLaunch starts Chromiums with and without rooms in turn, and
// reports the medians and their ratio.
func BenchmarkConfinedLaunch(b *testing.B) {
	var times [2][]time.Duration
	for b.Loop() {
		for i, launcher := range [][]string{nil, testLauncher} {
			o := browser.LaunchOptions{Dir: b.TempDir(), Launcher: launcher}
			if launcher != nil {
				o.WayOut = func(net.Listener) {}
			}
			start := time.Now()
			p, err := browser.Launch(b.Context(), o)
			if err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(start))
			p.Kill()
		}
	}
	report(b, times)
}

// BenchmarkWayOut loads a page with and without the way out in turn.
func BenchmarkWayOut(b *testing.B) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title>", r.URL.Path)
		for i := range 10 {
			fmt.Fprintf(w, "<img src='/%s/%d.png'>", r.URL.Path, i)
		}
	}))
	b.Cleanup(site.Close)
	var w wayOut
	pages := [2]*browsertest.TestPage{}
	for i, o := range []browser.LaunchOptions{{}, {Launcher: testLauncher, WayOut: w.serve}} {
		pages[i] = browsertest.PageOf(b, browsertest.Launch(b, o).Conn())
	}
	var times [2][]time.Duration
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
	report(b, times)
}

func report(b *testing.B, times [2][]time.Duration) {
	b.Helper()
	var medians [2]float64
	for i := range times {
		slices.Sort(times[i])
		medians[i] = float64(times[i][len(times[i])/2].Microseconds()) / 1000
	}
	b.ReportMetric(medians[0], "ms-without")
	b.ReportMetric(medians[1], "ms-with")
	b.ReportMetric(medians[1]/medians[0], "ratio")
	b.ReportMetric(0, "ns/op")
}
