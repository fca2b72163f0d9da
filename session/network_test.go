package session

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/egress"
	"takeover/links"
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
	if err := v.Navigate(browsertest.Context(t, "navigate"), 0, "goto", away.URL); err != nil {
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
	var arrived atomic.Int64
	all := make(chan struct{}) // closed when all requests are here
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/picture" {
			if arrived.Add(1) == hosts*each {
				close(all)
			}
			select { // no answer before
			case <-all:
			case <-r.Context().Done():
			}
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
	s := borrow(t, page.URL)
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

// TestBlockedTunnel checks what a person sees of a refused or failed page over
// HTTPS, of which Chromium knows only that its proxy opened no tunnel.
func TestBlockedTunnel(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1, Resolver: alwaysResolver(t, [4]byte{169, 254, 169, 254})})
	s := create(t, m, CreateOptions{URL: site(t)})
	v := join(t, s, RoleControl)
	v.take()
	if err := v.Navigate(browsertest.Context(t, "navigate"), 0, "goto", "https://cloud.test/secrets"); err != nil {
		t.Fatal(err)
	}
	v.titled("This address is not opened here")
	if got := s.Info().URL; got != "https://cloud.test/secrets" {
		t.Errorf("the session's address is %s", got)
	}
	const read = `return [await page.evaluate(() => document.body.innerText), await page.evaluate(() => location.href)]`
	if err := v.Control("release"); err != nil {
		t.Fatal(err)
	}
	got := resultOf[[]string](t, startRun(t, s, read))
	if !strings.Contains(got[0], "https://cloud.test\n") || !strings.Contains(got[0], "cloud metadata addresses are not opened here.") || got[1] != "chrome-error://chromewebdata/" {
		t.Errorf("the page says %q", got)
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	info := endOf(t, startRun(t, s, fmt.Sprintf("await page.goto(%q)", strings.Replace(closed.URL, "http:", "https:", 1))))
	if info.Error == nil || !strings.Contains(info.Error.Message, "ERR_CONNECTION_REFUSED") {
		t.Errorf("a closed port: %+v", info.Error)
	}
	v.titled("This page cannot be reached")
}

// TestHostsOfTakeover checks that a takeover's hosts hold while it is open.
func TestHostsOfTakeover(t *testing.T) {
	near := site(t)
	named := strings.Replace(near, "127.0.0.1", "localhost", 1)
	s := borrow(t, near+"/first")
	v := join(t, s, RoleControl)
	v.take()
	visit := func(address string) error { return v.Navigate(browsertest.Context(t, "navigate"), 0, "goto", address) }
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "sign in", Hosts: egress.Hosts{Allowed: []string{"localhost"}, Denied: []string{"bad.localhost"}}})
	if err != nil {
		t.Fatal(err)
	}
	v.take()
	if err := visit(near); err == nil || !strings.Contains(err.Error(), "only hosts on a list") {
		t.Errorf("another host: %v", err)
	}
	if err := visit(named + "/during"); err != nil {
		t.Fatal(err)
	}
	v.titled("Page during")
	if got := to.Info(); len(got.Hosts) != 1 || len(got.DeniedHosts) != 1 {
		t.Errorf("the takeover says %q, %q", got.Hosts, got.DeniedHosts)
	}
	if err := to.Done("api", ""); err != nil {
		t.Fatal(err)
	}
	v.take()
	if err := visit(near + "/after"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	v.titled("Page after")
	if _, err := s.RequestTakeover(TakeoverOptions{Reason: "x", Hosts: egress.Hosts{Allowed: []string{"a:1"}}}); err == nil || !strings.Contains(err.Error(), "hosts") {
		t.Errorf("a malformed list: %v", err)
	}
	if err := v.Control("release"); err != nil {
		t.Fatal(err)
	}
	r := startRun(t, s, `await requestTakeover('look', {hosts: ['localhost']})`)
	if got := openTakeoverOf(t, r).Info().Hosts; len(got) != 1 {
		t.Errorf("a script's takeover says %q", got)
	}
	r.Cancel()
	endOf(t, r)
}

// TestHostsOfLink checks that a link's hosts hold while a person with the link is
// in control.
func TestHostsOfLink(t *testing.T) {
	near := site(t)
	m := startManager(t, Options{WarmBrowsers: -1})
	s := create(t, m, CreateOptions{URL: near + "/x"})
	if _, _, err := s.CreateLink(links.Options{Role: RoleControl, DeniedHosts: []string{"a:1"}}); err == nil || !strings.Contains(err.Error(), "deniedHosts") {
		t.Errorf("a malformed list: %v", err)
	}
	_, secret, err := s.CreateLink(links.Options{Role: RoleControl, DeniedHosts: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := m.RedeemLink(secret, "")
	if err != nil {
		t.Fatal(err)
	}
	operator, guest := join(t, s, RoleControl), joinWith(t, s, ViewerOptions{Role: RoleControl, Link: &grant})
	operator.titled("Page x")
	for _, one := range []struct {
		v       *viewer
		refused bool
	}{{guest, true}, {operator, false}, {guest, true}} {
		one.v.take()
		err := one.v.Navigate(browsertest.Context(t, "navigate"), 0, "goto", near)
		if one.refused != (err != nil) {
			t.Errorf("refused %v: %v", one.refused, err)
		}
		if err := one.v.Control("release"); err != nil {
			t.Fatal(err)
		}
	}
}
