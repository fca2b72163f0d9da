package web

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// forwarded is what a trusted proxy reports about the request that it got. Fields
// are empty if it does not report them.
type forwarded struct {
	scheme string // http or https
	host   string
}

// url returns the address that the client used at the proxy, or empty.
func (f forwarded) url() string {
	if f.scheme == "" || f.host == "" {
		return ""
	}
	return f.scheme + "://" + f.host
}

type forwardedKey struct{}

// forwardedOf returns what a trusted proxy reports about a request.
func forwardedOf(r *http.Request) forwarded {
	f, _ := r.Context().Value(forwardedKey{}).(forwarded)
	return f
}

// overTLS reports whether the person's connection uses TLS.
func overTLS(r *http.Request) bool { return r.TLS != nil || forwardedOf(r).scheme == "https" }

// behindProxies gives requests from trusted proxies the address of the client,
// and the host that the client asked for. It ignores such headers from anybody
// else. Echo's extractors cannot do this: they do not parse Forwarded, and do not
// say which proxy's proto and host belong to the address.
func behindProxies(trusted []netip.Prefix, next http.Handler) http.Handler {
	if len(trusted) == 0 {
		return next
	}
	isTrusted := func(ip netip.Addr) bool {
		return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(ip) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer, err := netip.ParseAddr(peerOf(r))
		if err != nil || !isTrusted(peer.Unmap().WithZone("")) {
			next.ServeHTTP(w, r)
			return
		}
		hops, ok := hopsOf(r.Header, isTrusted)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		host := cmp.Or(hops.host, r.Host) // many proxies pass Host on unchanged
		r = r.WithContext(context.WithValue(r.Context(), forwardedKey{}, forwarded{hops.scheme, host}))
		r.Host = host
		if hops.client.IsValid() {
			r.RemoteAddr = netip.AddrPortFrom(hops.client, 0).String()
		}
		next.ServeHTTP(w, r)
	})
}

// hop is what one proxy added to the headers.
type hop struct {
	client netip.Addr // the proxy's client; invalid if the proxy does not report it
	scheme string
	host   string
}

// hopsOf parses the headers from right to left, because the client may have
// invented the elements on the left. Each trusted proxy vouches for the element
// to its left. ok is false if the headers cannot be trusted: if Forwarded and the
// X-Forwarded headers name different clients, so that one of them was made up, or
// if a quote is left open, which may hide what a proxy added.
func hopsOf(h http.Header, isTrusted func(netip.Addr) bool) (result hop, ok bool) {
	byX := xForwarded(h)
	standard, ok := standardForwarded(h)
	if !ok {
		return hop{}, false
	}
	first, second := outermost(byX, isTrusted), outermost(standard, isTrusted)
	if len(byX) > 0 && len(standard) > 0 {
		if first.client != second.client {
			return hop{}, false
		}
		if second.scheme == "" {
			second.scheme = first.scheme
		}
		if second.host == "" {
			second.host = first.host
		}
		return second, true
	}
	if len(standard) > 0 {
		return second, true
	}
	return first, true
}

// outermost returns what the outermost trusted proxy reports. If that proxy does
// not report a valid client, the client of the element to the right is used.
func outermost(hops []hop, isTrusted func(netip.Addr) bool) (result hop) {
	for _, h := range slices.Backward(hops) {
		client := result.client
		if h.client.IsValid() {
			client = h.client
		}
		result = hop{client, h.scheme, h.host}
		if !h.client.IsValid() || !isTrusted(h.client) {
			return result
		}
	}
	return result
}

// xForwarded parses X-Forwarded-For, -Proto and -Host. The lists of the latter
// two may be shorter, because some proxies replace the value instead of adding
// one.
func xForwarded(h http.Header) []hop {
	clients, schemes, hosts := listOf(h, "X-Forwarded-For"), listOf(h, "X-Forwarded-Proto"), listOf(h, "X-Forwarded-Host")
	n := len(clients)
	if n == 0 && (len(schemes) > 0 || len(hosts) > 0) {
		n = 1
	}
	hops := make([]hop, n)
	for i := range hops {
		fromRight := n - 1 - i
		if i < len(clients) {
			hops[i].client = clientAddr(clients[i])
		}
		hops[i].scheme = schemeOf(nthFromRight(schemes, fromRight))
		hops[i].host = hostOf(nthFromRight(hosts, fromRight))
	}
	return hops
}

// listOf splits a header's lines at their commas.
func listOf(h http.Header, name string) []string {
	lines := h.Values(name)
	if len(lines) == 0 {
		return nil
	}
	list := strings.Split(strings.Join(lines, ","), ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// nthFromRight returns an element of a list, counted from its end. If the list is
// too short, it returns the first one.
func nthFromRight(list []string, n int) string {
	if len(list) == 0 {
		return ""
	}
	return list[max(len(list)-1-n, 0)]
}

// standardForwarded parses Forwarded (RFC 7239). ok is false if a quote is left
// open.
func standardForwarded(h http.Header) (hops []hop, ok bool) {
	lines := h.Values("Forwarded")
	if len(lines) == 0 {
		return nil, true
	}
	elements, ok := splitOutside(strings.Join(lines, ","), ',')
	if !ok {
		return nil, false
	}
	for _, element := range elements {
		var one hop
		pairs, _ := splitOutside(element, ';') // all quotes are closed
		for _, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			value = unquote(strings.TrimSpace(value))
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "for":
				one.client = clientAddr(value)
			case "proto":
				one.scheme = schemeOf(value)
			case "host":
				one.host = hostOf(value)
			}
		}
		hops = append(hops, one)
	}
	return hops, true
}

// splitOutside splits a text at a separator, except inside quotes. ok is false if
// a quote is left open.
func splitOutside(text string, separator byte) (parts []string, ok bool) {
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:]), !quoted
}

// unquote returns the content of a quoted string.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	var b strings.Builder
	for i := 1; i < len(s)-1; i++ {
		if s[i] == '\\' && i+1 < len(s)-1 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// clientAddr parses an address, which may have a port and brackets.
func clientAddr(s string) netip.Addr {
	if at, err := netip.ParseAddrPort(s); err == nil {
		return at.Addr().Unmap().WithZone("")
	}
	ip, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return ip.Unmap().WithZone("")
}

func schemeOf(s string) string {
	if s = strings.ToLower(s); s == "http" || s == "https" {
		return s
	}
	return ""
}

// hostOf returns a host with or without a port. For anything else, it returns "".
func hostOf(s string) string {
	const longest = 255
	u, err := url.Parse("//" + s)
	if err != nil || u.Host != s || u.Hostname() == "" || len(s) > longest || strings.ContainsAny(s, "<>\"'`\\ ,;%") {
		return ""
	}
	return s
}
