package web

import (
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// checkHosts refuses entries of --allowed-hosts that no Host header can equal.
func checkHosts(hosts []string) error {
	for _, host := range hosts {
		if hostOf(host) == "" || nameOf(host) != strings.ToLower(host) {
			return fmt.Errorf("web: --allowed-hosts: %q must be a name without a port, such as takeover.internal", host)
		}
	}
	return nil
}

// knownHost refuses requests for a host that is not the server. A page whose own
// name suddenly resolves to this server (DNS rebinding) would otherwise count as a
// page of the server. The routes of health checks reveal nothing, and answer
// under every name.
func (s *Server) knownHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		req := c.Request()
		if s.isHost(req.Host) || s.cfg.ProxiedURLs && forwardedOf(req).host != "" || req.URL.Path == "/healthz" || req.URL.Path == "/readyz" {
			return next(c)
		}
		return &failure{kind: kindForbidden, detail: fmt.Sprintf("This server does not answer under the name %.100q. If it should, add the name to --allowed-hosts.", nameOf(req.Host))}
	}
}

// isHost reports whether a Host header may name this server: by an IP address,
// which DNS cannot change, by a name that no domain can have, or by a configured
// name.
func (s *Server) isHost(host string) bool {
	name := nameOf(host)
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil || name == "" { // only old programs send no name
		return true
	}
	if !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost") {
		return true // given by this machine or its network: nobody outside can register it
	}
	if public, err := url.Parse(s.publicURL()); err == nil && strings.EqualFold(public.Hostname(), name) {
		return true
	}
	if own, err := os.Hostname(); err == nil && strings.EqualFold(own, name) {
		return true
	}
	return slices.ContainsFunc(s.cfg.AllowedHosts, func(allowed string) bool { return strings.EqualFold(allowed, name) })
}

// nameOf returns a host without its port, in lower case.
func nameOf(host string) string {
	if at := strings.LastIndexByte(host, ':'); at >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:at]
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
