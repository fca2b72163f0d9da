package web

import (
	"net"
	"slices"
	"strings"
)

// IsDemo reports whether a decoded path stays inside the demo site, the only pages
// of the server that sessions may open.
func IsDemo(path string) bool {
	if path != "/demo" && !strings.HasPrefix(path, "/demo/") {
		return false
	}
	// Browsers treat a backslash as a slash, and resolve the dots.
	return !strings.Contains(path, `\`) && !slices.Contains(strings.Split(path, "/"), "..")
}

// localURL returns the address under which a Chromium on this machine reaches the
// server, or "" if Serve was not called.
func (s *Server) localURL() string {
	if u := s.local.Load(); u != nil {
		return *u
	}
	return ""
}

// noteListener records where the server listens.
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
