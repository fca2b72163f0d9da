package web

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// errOwnAddress is why the server's own pages are not opened in a session.
var errOwnAddress = errors.New("the server's own address is not opened here")

// AddressGuard says which addresses a session may be sent to: not the server's
// own, whose pages would be used with the rights of whoever watches, but for
// the demo site. addr is where the server listens, publicURL where people
// reach it.
func AddressGuard(addr, publicURL string) func(*url.URL) error {
	host, port, _ := net.SplitHostPort(addr) // a listener's address is one
	public, err := url.Parse(publicURL)
	if err != nil {
		public = &url.URL{}
	}
	return func(u *url.URL) error {
		if u.Path == "/demo" || strings.HasPrefix(u.Path, "/demo/") {
			return nil
		}
		own := portOf(u) == port && (strings.EqualFold(u.Hostname(), host) || isLocal(u.Hostname()))
		if own || public.Host != "" && strings.EqualFold(u.Hostname(), public.Hostname()) && portOf(u) == portOf(public) {
			return errOwnAddress
		}
		return nil
	}
}

// portOf is a URL's port, the scheme's when it names none.
func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// isLocal reports whether a host is this machine as far as its name says.
func isLocal(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// localURL is the address that a Chromium on this machine reaches the server
// under, or empty when Serve was not called.
func (s *Server) localURL() string {
	if u := s.local.Load(); u != nil {
		return *u
	}
	return ""
}

// noteListener remembers where the server listens.
func (s *Server) noteListener(addr net.Addr) {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	s.local.Store(new("http://" + net.JoinHostPort(host, port)))
}
