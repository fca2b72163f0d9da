package session

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/egress"
)

// TestBlockedNavigation checks that a redirect does not lead to an address that the
// session may not reach, and what a person and a reader of events see then.
func TestBlockedNavigation(t *testing.T) {
	away := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/latest/meta-data/", http.StatusFound))
	t.Cleanup(away.Close)
	m := startManager(t, Options{WarmBrowsers: -1})
	s := create(t, m, CreateOptions{})
	if _, err := s.StartCapture(browsertest.Context(t, "capture"), capture.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	v := join(t, s, RoleControl)
	v.take()
	if err := v.Navigate(browsertest.Context(t, "navigate"), "goto", away.URL); err != nil {
		t.Fatal(err)
	}
	v.titled("This address is not opened here")
	ev := awaitEvent(t, s, capture.TypeEgressBlocked)
	want := `{"host":"169.254.169.254","port":80,"address":"169.254.169.254","reason":"metadata"}`
	if string(ev.Data) != want {
		t.Errorf("event %s, want %s", ev.Data, want)
	}
	if got := m.Stats().Blocked[egress.ReasonMetadata]; got != 1 {
		t.Errorf("%d refusals are counted", got)
	}
	if sent, received := s.traffic.Bytes(); sent == 0 || received == 0 {
		t.Errorf("%d bytes sent, %d received", sent, received)
	}
	if info := s.Info(); info.ProxyTxBytes == 0 || info.ProxyRxBytes == 0 {
		t.Errorf("the session says %d and %d", info.ProxyTxBytes, info.ProxyRxBytes)
	}
}

// TestManyHosts checks that a page's requests to many hosts run at the same time:
// Chromium may bound the connections to one proxy, which all of them use.
func TestManyHosts(t *testing.T) {
	const hosts, each = 16, 4
	var arrived sync.WaitGroup
	arrived.Add(hosts * each)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/picture" {
			arrived.Done()
			arrived.Wait() // no answer before all requests are here
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>waits</title><script>onload = () => document.title = 'loaded'</script>")
		_, port, _ := strings.Cut(r.Host, ":")
		for host := range hosts {
			for n := range each {
				fmt.Fprintf(w, `<img src="http://h%d.localhost:%s/picture?%d">`, host, port, n)
			}
		}
	}))
	t.Cleanup(page.Close)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: page.URL})
	join(t, s, RoleView).titled("loaded")
}

// awaitEvent returns the first event of a type.
func awaitEvent(t *testing.T, s *Session, typ string) capture.Event {
	t.Helper()
	reader := s.Monitor().Ring().Read(0)
	for {
		ev, err := reader.Next(browsertest.Context(t, typ))
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == typ {
			return ev
		}
	}
}
