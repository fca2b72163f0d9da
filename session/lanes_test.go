package session

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"takeover/browser/browsertest"
)

func TestZZLanes(t *testing.T) {
	var now, most atomic.Int32
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/i" {
			var b strings.Builder
			for h := range 20 {
				for i := range 6 {
					fmt.Fprintf(&b, `<img src="%s/i?%d">`, strings.Replace(srv.URL, "127.0.0.1", fmt.Sprintf("h%d.localhost", h), 1), i)
				}
			}
			fmt.Fprintf(w, "<title>t</title><script>onload=()=>document.title='loaded'</script>%s", b.String())
			return
		}
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(300 * time.Millisecond)
		now.Add(-1)
	}))
	t.Cleanup(srv.Close)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	v := join(t, s, RoleControl)
	v.take()
	began := time.Now()
	if err := v.Navigate(browsertest.Context(t, "navigate"), "goto", srv.URL); err != nil {
		t.Fatal(err)
	}
	v.titled("loaded")
	tx, rx := s.traffic.Bytes()
	t.Logf("most at once %d, took %v, %d %d", most.Load(), time.Since(began), tx, rx)
}
