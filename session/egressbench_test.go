package session

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/chromium"
	"takeover/egress"
)

// BenchmarkPageLoad loads a page with 200 requests over plain HTTP and over HTTPS,
// in turn without and through the proxy, and reports the median ratio of pairs.
func BenchmarkPageLoad(b *testing.B) {
	pageOf := func(base *string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			if r.URL.Path != "/" {
				w.Header().Set("Content-Type", "text/css")
				fmt.Fprint(w, strings.Repeat("/* style */\n", 800))
				return
			}
			w.Header().Set("Content-Type", "text/html")
			for n := range 200 {
				fmt.Fprintf(w, `<link rel="stylesheet" href="%s/%d.css">`, *base, n)
			}
			fmt.Fprint(w, "<title>loaded</title>")
		})
	}
	for _, scheme := range []string{"http", "https"} {
		b.Run(scheme, func(b *testing.B) {
			base := ""
			site := httptest.NewUnstartedServer(pageOf(&base))
			site.EnableHTTP2 = true
			if scheme == "https" {
				site.StartTLS()
			} else {
				site.Start()
			}
			b.Cleanup(site.Close)
			policy, err := egress.NewPolicy(egress.Options{AllowPrivate: true})
			if err != nil {
				b.Fatal(err)
			}
			direct := benchPage(b, nil)
			guarded := benchPage(b, policy)
			var ratios, plain, through []float64
			for b.Loop() {
				one, two := loadTime(b, direct, site.URL), loadTime(b, guarded, site.URL)
				plain, through, ratios = append(plain, one), append(through, two), append(ratios, two/one)
			}
			slices.Sort(ratios)
			slices.Sort(plain)
			slices.Sort(through)
			b.ReportMetric(plain[len(plain)/2], "direct-ms")
			b.ReportMetric(through[len(through)/2], "guarded-ms")
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
		})
	}
}

// benchPage returns a page of a new Chromium, behind a proxy if there is a policy.
func benchPage(b *testing.B, policy *egress.Policy) *browser.Page {
	b.Helper()
	o := chromium.LaunchOptions{Dir: b.TempDir(), Args: []string{"--ignore-certificate-errors"}}
	if policy != nil {
		o.Proxy = func() chromium.Proxy { return egress.NewProxy(policy) }
	}
	proc, err := chromium.Launch(browsertest.Context(b, "launch"), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(proc.Kill)
	bindProxy(proc, egress.NewTraffic(egress.TrafficOptions{Policy: policy}))
	model, err := browser.Attach(b.Context(), proc.Conn(), &browser.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = model.Close() })
	return model.Pages()[0]
}

func loadTime(b *testing.B, page *browser.Page, address string) float64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	began := time.Now()
	if _, err := page.MainFrame().Navigate(ctx, address, browser.NavigateOptions{WaitUntil: browser.LifecycleLoad}); err != nil {
		b.Fatal(err)
	}
	return float64(time.Since(began).Microseconds()) / 1000
}
