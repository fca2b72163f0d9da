package web

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

var (
	// errOwnAddress is the error for the server's own pages, which a session must
	// not open.
	errOwnAddress = errors.New("the server's own address is not opened here")
	// errLinkLocal is the error for link-local addresses, under which cloud
	// providers give secrets to their machines.
	errLinkLocal = errors.New("link-local and cloud metadata addresses are not opened here")
	// errNoHost is the error for a host or port that browsers do not accept.
	errNoHost = errors.New("this is not an address")
)

// metadata are addresses, besides link-local ones, under which cloud providers
// give a machine information about itself.
var (
	metadataNames = []string{"metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"}
	metadataIPs   = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("100.100.100.200")}
	// nat64 is the network of IPv6 addresses whose last four bytes are an IPv4
	// address (RFC 6052).
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

// hostNames maps a host's name as browsers do (WHATWG URL, 3.3): full-width
// digits and dots become ASCII, and capitals become lower case.
var hostNames = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.VerifyDNSLength(false))

// AddressGuard returns a function that refuses some addresses for sessions. It
// refuses the server's own addresses, because the pages there would be used with
// the rights of the session's viewers; only the demo site may be opened. addr is
// where the server listens, and publicURL returns the present address for people.
// The function also refuses link-local addresses and those of cloud metadata. It
// does not notice when somebody else's name resolves to such an address in DNS.
func AddressGuard(addr string, publicURL func() string) func(*url.URL) error {
	own := endpoint{}
	if host, port, err := net.SplitHostPort(addr); err == nil { // a listener's address has a port
		n, _ := strconv.ParseUint(port, 10, 16)
		own = endpoint{host: host, port: uint16(n)}
		if ip, err := netip.ParseAddr(host); err == nil {
			own.host, own.ip = "", ip.WithZone("").Unmap()
		}
	}
	return func(u *url.URL) error {
		if u.Host == "" {
			return nil
		}
		to, err := endpointOf(u)
		if err != nil {
			return err
		}
		public := endpoint{}
		if p, err := url.Parse(publicURL()); err == nil && p.Host != "" {
			public, _ = endpointOf(p) // an invalid address matches nothing
		}
		switch own := to == public || to.port == own.port && (to == own || to.isLocal()); {
		case own && isDemo(u.Path):
			return nil
		case own:
			return errOwnAddress
		case to.isLinkLocal():
			return errLinkLocal
		}
		return nil
	}
}

// isDemo reports whether a decoded path stays inside the demo site.
func isDemo(path string) bool {
	if path != "/demo" && !strings.HasPrefix(path, "/demo/") {
		return false
	}
	// Browsers treat a backslash as a slash, and resolve the dots.
	return !strings.Contains(path, `\`) && !slices.Contains(strings.Split(path, "/"), "..")
}

// endpoint is the host and port of a URL. Two endpoints with the same name or
// address are equal, however they were written.
type endpoint struct {
	host string     // in lower case, empty for an address
	ip   netip.Addr // not valid for a name
	port uint16
}

// endpointOf parses a URL's host and port as browsers do.
func endpointOf(u *url.URL) (endpoint, error) {
	to := endpoint{port: 80}
	if u.Scheme == "https" {
		to.port = 443
	}
	if text := u.Port(); text != "" {
		port, err := strconv.ParseUint(text, 10, 16) // 08080 is 8080
		if err != nil {
			return endpoint{}, errNoHost
		}
		to.port = uint16(port)
	}
	if strings.HasPrefix(u.Host, "[") {
		ip, err := netip.ParseAddr(u.Hostname())
		if err != nil {
			return endpoint{}, errNoHost
		}
		to.ip = ip.WithZone("").Unmap()
		return to, nil
	}
	host, err := hostNames.ToASCII(u.Hostname())
	if err != nil {
		return endpoint{}, errNoHost
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "" {
		return endpoint{}, errNoHost
	}
	if last := host[strings.LastIndexByte(host, '.')+1:]; isNumber(last) {
		to.ip, err = parseIPv4(host)
		return to, err
	}
	to.host = host
	return to, nil
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

// isLocal reports whether an endpoint is on this machine. Interfaces come and go,
// so it looks them up each time.
func (e endpoint) isLocal() bool {
	if !e.ip.IsValid() {
		if slices.Contains(localNames, e.host) || strings.HasSuffix(e.host, ".localhost") {
			return true
		}
		name, err := os.Hostname()
		return err == nil && strings.EqualFold(name, e.host)
	}
	if e.ip.IsLoopback() || e.ip.IsUnspecified() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(addrs, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().WithZone("").Unmap() == e.ip
	})
}

// isLinkLocal reports whether an endpoint is link-local, or one where a cloud
// provider gives this machine information about itself.
func (e endpoint) isLinkLocal() bool {
	if !e.ip.IsValid() {
		return slices.Contains(metadataNames, e.host)
	}
	ip := e.ip
	if nat64.Contains(ip) {
		bytes := ip.As16()
		ip = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() || slices.Contains(metadataIPs, ip)
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
