package chromium_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/chromium"
	"takeover/confine"
)

// TestOpenProxyAddress gives contexts addresses of their own, in a network namespace and
// without one, and checks that the proxy can tell the contexts by them.
func TestOpenProxyAddress(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>reached</title><link rel=icon href=data:,>") // a request for an icon might come late
	}))
	t.Cleanup(site.Close)
	for name, launcher := range map[string][]string{"in a network namespace": testLauncher, "without confinement": nil} {
		t.Run(name, func(t *testing.T) {
			var w testProxy
			p := browsertest.Launch(t, chromium.LaunchOptions{Launcher: launcher, Proxy: w.open})
			if launcher != nil && !p.Confinement().On(confine.Network) {
				t.Skip(p.Confinement().Refused())
			}
			model, err := browser.Attach(t.Context(), p.Conn(), nil)
			if err != nil {
				t.Fatal(err)
			}
			arrives := func(c *browser.Context) string {
				t.Helper()
				w.at.Clear()
				page, err := c.NewPage(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := page.MainFrame().Navigate(t.Context(), site.URL, browser.NavigateOptions{}); err != nil {
					t.Fatal(err)
				}
				browsertest.Until(t, "the page", func() bool { return page.Title() == "reached" })
				at, _ := w.at.Load(strings.TrimPrefix(site.URL, "http://"))
				return at.(string)
			}
			own := arrives(model.DefaultContext())
			_, port, err := net.SplitHostPort(own)
			if err != nil || own != "127.0.0.1:"+port {
				t.Fatalf("what needs no other way arrives at %q", own)
			}
			var addresses []string
			var contexts []*browser.Context
			for range 2 {
				address, end, err := p.OpenProxyAddress()
				if err != nil {
					t.Fatal(err)
				}
				c, err := model.NewContext(t.Context(), browser.ContextOptions{ProxyServer: "http://" + address, ProxyBypass: "<-loopback>", Closed: end})
				if err != nil {
					t.Fatal(err)
				}
				addresses, contexts = append(addresses, address), append(contexts, c)
			}
			if addresses[0] != "127.0.0.2:"+port || addresses[1] != "127.0.0.3:"+port {
				t.Errorf("the addresses are %v", addresses)
			}
			for i := range addresses {
				if at := arrives(contexts[i]); at != addresses[i] {
					t.Errorf("what is sent to %s arrives at %s", addresses[i], at)
				}
			}
			if at := arrives(model.DefaultContext()); at != own {
				t.Errorf("what needs no other way now arrives at %s", at)
			}
			if err := contexts[0].Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i, want := range []bool{false, launcher == nil} { // those of a namespace can be reached from there only
				if got := reachable(t, addresses[i]); got != want {
					t.Errorf("%s can be reached: %v", addresses[i], got)
				}
			}
			if next, _, err := p.OpenProxyAddress(); err != nil || next != "127.0.0.4:"+port {
				t.Errorf("the next address is %s %v", next, err)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if err := model.Close(); err != nil {
				t.Error(err)
			}
			for _, address := range append(addresses, own, "127.0.0.4:"+port) {
				if reachable(t, address) {
					t.Errorf("%s can be reached after Chromium's end", address)
				}
			}
			if !w.closed.Load() {
				t.Error("the proxy was not closed")
			}
		})
	}
	if _, _, err := browsertest.Launch(t, chromium.LaunchOptions{}).OpenProxyAddress(); !errors.Is(err, chromium.ErrNoProxy) {
		t.Errorf("a Chromium without a proxy: %v", err)
	}
}

// reachable reports whether the server's own network has a listener at an address.
func reachable(t *testing.T, address string) bool {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}
