package web

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/session"
)

// TestViewersComeAndGo lets viewers come and go on a page with an animation, and
// on a page that keeps switching between documents in two processes. Each viewer
// gets its pictures, and all resources are freed.
func TestViewersComeAndGo(t *testing.T) {
	restless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, port, _ := strings.Cut(r.Host, ":")
		other := "localhost"
		if host == other {
			other = "127.0.0.1"
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><body style="font:99px sans-serif">` + host + `<script>let n = 0;
			(function paint() { document.body.style.background = n % 2 ? 'gold' : 'tomato'; n++ < 6 ? requestAnimationFrame(paint) : location.href = 'http://` + other + ":" + port + `/' })()</script>`))
	}))
	t.Cleanup(restless.Close)
	s := startServer(t, nil)
	sessions := []*session.Session{s.create(map[string]any{"url": site(t) + "#move"}), s.create(map[string]any{"url": restless.URL})}
	round := func(i int) {
		var all []*testViewer
		for _, one := range sessions {
			for range 3 {
				all = append(all, s.join(one, nil))
			}
		}
		for _, v := range all {
			v.until("pictures", func() bool { return len(v.pictures) > 2 })
		}
		for n, v := range all {
			if (n+i)%2 == 0 {
				_ = v.conn.CloseNow()
			} else {
				_ = v.conn.Close(1000, "")
			}
			v.done.Wait()
		}
		browsertest.Until(t, "everybody to be gone", func() bool { return s.manager.Stats().Viewers == 0 })
	}
	round(0) // one-time allocations are done now
	http.DefaultClient.CloseIdleConnections()
	before := goroutines()
	for i := range 6 {
		round(i)
	}
	http.DefaultClient.CloseIdleConnections()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%d goroutines before, and now:\n%s", len(before), strings.Join(goroutines(), "\n\n"))
		}
	})
	browsertest.Until(t, "no goroutine to be left over", func() bool { return len(goroutines()) <= len(before)+2 })
}

// goroutines returns the stacks of the goroutines that run our code or a WebSocket.
// Those of the browsers' own connections are not among them: Chromium keeps as many
// as it likes, and more on a busy machine.
func goroutines() []string {
	text := make([]byte, 1<<20)
	for n := runtime.Stack(text, true); n == len(text); n = runtime.Stack(text, true) {
		text = make([]byte, 2*len(text))
	}
	var all []string
	for stack := range strings.SplitSeq(strings.TrimRight(string(text), "\x00"), "\n\n") {
		if (strings.Contains(stack, "\ntakeover/") || strings.Contains(stack, "coder/websocket")) && !strings.Contains(stack, "\ntakeover/egress") {
			all = append(all, stack)
		}
	}
	return all
}
