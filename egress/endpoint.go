package egress

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// errNoHost is the error for a host or port that browsers do not accept, either.
var errNoHost = errors.New("this is not an address")

// hostNames maps a host's name as browsers do (WHATWG URL, 3.3): full-width
// digits, other dots and capitals become plain ones.
var hostNames = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.VerifyDNSLength(false))

// endpoint is a host and a port. Two endpoints with the same name or address are
// equal, however they were written.
type endpoint struct {
	host string     // in lower case, empty for an address
	ip   netip.Addr // not valid for a name
	port uint16
}

// String returns the host and port in the form for dialing.
func (e endpoint) String() string { return net.JoinHostPort(e.name(), strconv.Itoa(int(e.port))) }

// name returns the host in its one form.
func (e endpoint) name() string {
	if e.ip.IsValid() {
		return e.ip.String()
	}
	return e.host
}

// endpointOf parses a URL's host and port as browsers do.
func endpointOf(u *url.URL) (endpoint, error) {
	port := uint16(80)
	if u.Scheme == "https" || u.Scheme == "wss" {
		port = 443
	}
	if text := u.Port(); text != "" {
		n, err := strconv.ParseUint(text, 10, 16) // 08080 is 8080
		if err != nil {
			return endpoint{}, errNoHost
		}
		port = uint16(n)
	}
	if strings.HasPrefix(u.Host, "[") {
		ip, err := netip.ParseAddr(u.Hostname())
		if err != nil {
			return endpoint{}, errNoHost
		}
		return endpoint{ip: ip.WithZone("").Unmap(), port: port}, nil
	}
	to, err := hostOf(u.Hostname())
	to.port = port
	return to, err
}

// dialed parses the host and port of a connection.
func dialed(address string) (endpoint, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return endpoint{}, errNoHost
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return endpoint{}, errNoHost
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return endpoint{ip: ip.WithZone("").Unmap(), port: uint16(port)}, nil
	}
	to, err := hostOf(host)
	to.port = uint16(port)
	return to, err
}

// hostOf parses a host that is not in brackets.
func hostOf(text string) (endpoint, error) {
	if strings.ContainsRune(text, utf8.RuneError) { // also bytes that are not UTF-8, which would become a name that none may have
		return endpoint{}, errNoHost
	}
	host, err := hostNames.ToASCII(text)
	if err != nil {
		return endpoint{}, errNoHost
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if strings.ContainsFunc(host, isForbidden) {
		return endpoint{}, errNoHost
	}
	if slices.Contains(strings.Split(host, "."), "") { // "a.test.." would be another name than "a.test", but the same for DNS
		return endpoint{}, errNoHost
	}
	if last := host[strings.LastIndexByte(host, '.')+1:]; isNumber(last) {
		ip, err := parseIPv4(host)
		return endpoint{ip: ip}, err
	}
	return endpoint{host: host}, nil
}

// isForbidden reports whether browsers accept no name with this character (WHATWG
// URL, "forbidden domain code point"). Other characters may have been mapped to it.
func isForbidden(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune("#/:<>?@[\\]^|%", r)
}

// isNumber reports whether a host that ends in the label is an IPv4 address, even
// a malformed one.
func isNumber(label string) bool {
	if label == "" {
		return false
	}
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	digits, hex := strings.CutPrefix(label, "0x")
	return hex && strings.Trim(digits, "0123456789abcdef") == ""
}

// parseIPv4 parses an IPv4 address in all the forms that browsers accept: one to
// four numbers, which are decimal, octal (017) or hexadecimal (0xf). The last
// number fills the remaining bytes.
func parseIPv4(host string) (netip.Addr, error) {
	const size = 4
	parts := strings.Split(host, ".")
	if len(parts) > size {
		return netip.Addr{}, errNoHost
	}
	var sum uint64
	for i, part := range parts {
		n, err := parseIPv4Number(part)
		if err != nil {
			return netip.Addr{}, errNoHost
		}
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (size - i)
		}
		if n>>bits != 0 {
			return netip.Addr{}, errNoHost
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([size]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), nil
}

func parseIPv4Number(text string) (uint64, error) {
	base := 10
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		text, base = digits, 16
		if text == "" {
			return 0, nil
		}
	} else if len(text) > 1 && text[0] == '0' {
		text, base = text[1:], 8
	}
	return strconv.ParseUint(text, base, 64)
}

// localNames are names that machines use for themselves in /etc/hosts, besides
// their host name.
var localNames = []string{"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"}

// isLocalName reports whether a name means this machine, without asking DNS.
func isLocalName(host string) bool {
	if slices.Contains(localNames, host) || strings.HasSuffix(host, ".localhost") {
		return true
	}
	name, err := os.Hostname()
	return err == nil && strings.EqualFold(name, host)
}

// isLocal reports whether the endpoint is on this machine.
func (e endpoint) isLocal() bool {
	if !e.ip.IsValid() {
		return isLocalName(e.host)
	}
	return isLocalIP(e.ip)
}

// isLocalIP reports whether an address is one of this machine. Interfaces come and
// go, so it looks them up each time.
func isLocalIP(ip netip.Addr) bool {
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(addrs, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().WithZone("").Unmap() == ip
	})
}
