package cdp

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	"takeover/door/doortest"
)

// closing listens and does the same with each connection, after the first bytes of it if
// reads. It returns the port's address.
func closing(t *testing.T, reads bool, do func(*net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := conn.Read(make([]byte, 4096)); reads && err != nil {
					return
				}
				do(conn.(*net.TCPConn)) //nolint:forcetypeassert // its network is tcp
			}()
		}
	}()
	return l.Addr().String()
}

// TestErrorsOfNavigations opens addresses that fail. Clients are told the errors that a
// Chromium without a proxy has, by the answer to Page.navigate and by the event.
func TestErrorsOfNavigations(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	p.call(page, "Network.enable", "", nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	reset := closing(t, true, func(c *net.TCPConn) { _ = c.SetLinger(0) })
	garbage := closing(t, true, func(c *net.TCPConn) { _, _ = c.Write([]byte("garbage\r\n\r\n")) })
	empty := closing(t, true, func(*net.TCPConn) {})
	for _, tt := range []struct{ address, want string }{
		{"http://" + closed + "/a?b#c", "net::ERR_CONNECTION_REFUSED"},
		{"https://" + closed, "net::ERR_CONNECTION_REFUSED"},
		{"http://nowhere.invalid/", "net::ERR_NAME_NOT_RESOLVED"},
		{"https://nowhere.invalid/", "net::ERR_NAME_NOT_RESOLVED"},
		{"http://" + reset + "/", "net::ERR_CONNECTION_RESET"},
		{"https://" + reset + "/", "net::ERR_CONNECTION_RESET"},
		{"http://" + empty + "/", "net::ERR_EMPTY_RESPONSE"},
		{"https://" + empty + "/", "net::ERR_CONNECTION_CLOSED"},
		{"http://" + garbage + "/", "net::ERR_INVALID_HTTP_RESPONSE"},
		{"https://" + garbage + "/", "net::ERR_SSL_PROTOCOL_ERROR"},
	} {
		var said, failed struct{ ErrorText string }
		p.call(page, "Page.navigate", fmt.Sprintf(`{"url":%q}`, tt.address), &said)
		if err := json.Unmarshal(p.event("Network.loadingFailed").Params, &failed); err != nil || said.ErrorText != tt.want || failed.ErrorText != tt.want {
			t.Errorf("%s: %q and %q (%v), want %s", tt.address, said.ErrorText, failed.ErrorText, err, tt.want)
		}
	}
}

// TestWindowsSizePages sizes a window, in both ways that clients have.
func TestWindowsSizePages(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	page, target := p.attach()
	var window struct{ WindowID int64 }
	p.call(page, "Browser.getWindowForTarget", "", &window)
	p.call("", "Browser.setWindowBounds", fmt.Sprintf(`{"windowId":%d,"bounds":{"width":900,"height":650}}`, window.WindowID), nil)
	if got := p.evaluate(page, "innerWidth + 'x' + innerHeight"); !strings.Contains(got, "900x650") {
		t.Errorf("after setWindowBounds: %s", got)
	}
	p.call("", "Browser.getWindowForTarget", fmt.Sprintf(`{"targetId":%q}`, target), &window)
	p.call("", "Browser.setContentsSize", fmt.Sprintf(`{"windowId":%d,"width":700,"height":500}`, window.WindowID), nil)
	if got := p.evaluate(page, "innerWidth + 'x' + innerHeight"); !strings.Contains(got, "700x500") {
		t.Errorf("after setContentsSize: %s", got)
	}
	p.call("", "Browser.setWindowBounds", fmt.Sprintf(`{"windowId":%d,"bounds":{"left":5}}`, window.WindowID), nil)
	if got := p.evaluate(page, "innerWidth + 'x' + innerHeight"); !strings.Contains(got, "700x500") {
		t.Errorf("a window that is moved: %s", got)
	}
}
