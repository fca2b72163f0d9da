package egress

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Reason says why an address is refused. It is the value of a label in /metrics.
type Reason string

// The reasons for refusing an address.
const (
	ReasonMetadata   Reason = "metadata"         // link-local, or information of a cloud provider about the machine
	ReasonOwn        Reason = "own-address"      // the server itself, or a part of it
	ReasonSpecial    Reason = "special-address"  // unspecified, multicast, broadcast
	ReasonLoopback   Reason = "loopback"         // this machine
	ReasonPrivate    Reason = "private-network"  // networks that the internet does not route
	ReasonDenied     Reason = "denied-host"      // on a list of denied hosts
	ReasonNotAllowed Reason = "host-not-allowed" // not on a list of allowed hosts
)

// Reasons lists every reason, in the order of /metrics.
var Reasons = []Reason{ReasonMetadata, ReasonOwn, ReasonSpecial, ReasonLoopback, ReasonPrivate, ReasonDenied, ReasonNotAllowed}

// sentences say the reasons to people.
var sentences = map[Reason]string{
	ReasonMetadata:   "link-local and cloud metadata addresses are not opened here",
	ReasonOwn:        "the server's own address is not opened here",
	ReasonSpecial:    "unspecified, multicast and broadcast addresses are not opened here",
	ReasonLoopback:   "addresses of the machine on which the browser runs are not opened here",
	ReasonPrivate:    "addresses of private networks are not opened here",
	ReasonDenied:     "this host is on a list of hosts that are not opened here",
	ReasonNotAllowed: "only hosts on a list are opened here, and this one is not on it",
}

// BlockedError is the error for an address that the policy refuses.
type BlockedError struct {
	Host    string // as asked for, in its one form: a name or an address
	Port    uint16
	Address netip.Addr // to which the host resolved; not valid if that was not needed
	Reason  Reason
}

// Error says why, without the address.
func (b *BlockedError) Error() string { return sentences[b.Reason] }

var (
	// metadataNames and metadataIPs are, besides link-local addresses, those under
	// which cloud providers give a machine information about itself.
	metadataNames = []string{"metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "instance-data"}
	metadataIPs   = []netip.Addr{
		netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("fd00:42::42"),
		netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("168.63.129.16"),
	}

	// special are networks in which no server has an address.
	special = prefixes("0.0.0.0/8", "240.0.0.0/4", "100::/64")
	// private are networks that the internet does not route, besides those that
	// netip.Addr.IsPrivate knows.
	private = prefixes("100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "fec0::/10", "64:ff9b:1::/48")

	// Networks whose addresses hold an IPv4 address.
	nat64      = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052, in the last four bytes
	sixToFour  = netip.MustParsePrefix("2002::/16")    // RFC 3056, in bytes 2 to 5
	teredo     = netip.MustParsePrefix("2001::/32")    // RFC 4380, the server in bytes 4 to 7, the client inverted in the last four
	compatible = netip.MustParsePrefix("::/96")        // RFC 4291, in the last four bytes
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// Options configures a Policy. The zero value refuses loopback and private
// networks, and allows every public host.
type Options struct {
	AllowPrivate bool           // allows loopback and private networks
	Networks     []netip.Prefix // allowed although they are loopback or private

	// Own are the listeners of the server and of its parts, as host:port, which are
	// never reached. An unspecified host means every address of the machine.
	Own []string
	// PublicURL returns the present address of the server for people, which is its
	// own too. Default: none.
	PublicURL func() string
	// OwnPage reports whether the path of a server's own page may be opened after
	// all. Default: none may.
	OwnPage func(path string) bool

	Hosts Hosts

	// Files is how many files the process may open: connections take a share of
	// them. Default: the limit of the process.
	Files int

	// Resolver resolves the names in Own. Default: the system's.
	Resolver *net.Resolver
}

// Policy decides which addresses may be reached. All methods may be called from
// any goroutine.
type Policy struct {
	options Options
	own     []endpoint
	lists   []Hosts
	shared  *shared
}

// shared is what a policy has in common with those made from it.
type shared struct {
	blocked map[Reason]*atomic.Uint64 // how often each reason applied
	budget  *connBudget
	names   names

	mu    sync.Mutex                  // guards what follows
	ports map[netip.AddrPort]struct{} // listeners of this process that only one Chromium may use
}

// NewPolicy returns a policy. The error says which option is not valid.
func NewPolicy(o Options) (*Policy, error) {
	p := &Policy{options: o, shared: &shared{blocked: map[Reason]*atomic.Uint64{}, budget: newConnBudget(o.Files), ports: map[netip.AddrPort]struct{}{}}}
	p.shared.names = names{resolver: o.Resolver, of: map[string]resolved{}}
	for _, reason := range Reasons {
		p.shared.blocked[reason] = new(atomic.Uint64)
	}
	for _, address := range o.Own {
		at, err := listener(address)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", address, err)
		}
		p.own = append(p.own, at)
	}
	if err := o.Hosts.check(); err != nil {
		return nil, err
	}
	if !o.Hosts.empty() {
		p.lists = []Hosts{o.Hosts}
	}
	return p, nil
}

// listener parses the address of a listener, whose host may be missing.
func listener(address string) (endpoint, error) {
	if strings.HasPrefix(address, ":") {
		address = "[::]" + address
	}
	return dialed(address)
}

// With returns a policy that also asks these lists. It allows nothing that p
// refuses.
func (p *Policy) With(h Hosts) (*Policy, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	narrow := *p
	if !h.empty() {
		narrow.lists = append(slices.Clip(slices.Clone(p.lists)), h)
	}
	return &narrow, nil
}

// ForOperator returns a policy for addresses that the operator configured: it allows
// private networks and this machine, and has no lists.
func (p *Policy) ForOperator() *Policy {
	wide := *p
	wide.options.AllowPrivate, wide.lists = true, nil
	return &wide
}

// Blocked returns how often each reason applied, for this policy and all made from
// it.
func (p *Policy) Blocked() map[Reason]uint64 {
	counts := map[Reason]uint64{}
	for reason, n := range p.shared.blocked {
		counts[reason] = n.Load()
	}
	return counts
}

// protect makes a listener of this process an own one. The returned function ends
// that.
func (p *Policy) protect(at netip.AddrPort) func() {
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	p.shared.ports[at] = struct{}{}
	return func() {
		p.shared.mu.Lock()
		defer p.shared.mu.Unlock()
		delete(p.shared.ports, at)
	}
}

func (p *Policy) isGuarded(at netip.AddrPort) bool {
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	_, ok := p.shared.ports[at]
	return ok
}

// CheckURL returns why a URL may not be requested, or nil. It does not ask DNS, so
// the address to which the host resolves must be checked too, when it is dialed.
func (p *Policy) CheckURL(u *url.URL) error {
	if u.Host == "" {
		return nil
	}
	to, err := endpointOf(u)
	if err != nil {
		return err
	}
	path := ""
	if u.Scheme != "https" && u.Scheme != "wss" {
		path = u.Path
	}
	return p.check(to, path)
}

// CheckURLBehind is CheckURL for a request that goes through a proxy, which resolves
// the name.
func (p *Policy) CheckURLBehind(u *url.URL) error {
	if err := p.CheckURL(u); err != nil || u.Host == "" {
		return err
	}
	to, err := endpointOf(u)
	if err != nil {
		return err
	}
	return p.checkNamed(to)
}

// check judges an endpoint without asking DNS. path is empty if it is not known.
func (p *Policy) check(to endpoint, path string) error {
	if p.isOwn(to) {
		if p.options.OwnPage != nil && path != "" && p.options.OwnPage(path) {
			return nil
		}
		return to.blocked(netip.Addr{}, ReasonOwn)
	}
	if slices.Contains(metadataNames, to.host) {
		return to.blocked(netip.Addr{}, ReasonMetadata)
	}
	if to.ip.IsValid() {
		return p.checkIP(to, to.ip)
	}
	for _, list := range p.lists {
		if reason := list.judgeName(to.host); reason != "" {
			return to.blocked(netip.Addr{}, reason)
		}
	}
	if isLocalName(to.host) {
		if reason := p.judgeRange(netip.AddrFrom4([4]byte{127, 0, 0, 1})); reason != "" {
			return to.blocked(netip.Addr{}, reason)
		}
	}
	return nil
}

// checkBehind judges an endpoint that a proxy reaches, which also resolves its name.
// Its address will not be known, so an allowed network allows no name.
func (p *Policy) checkBehind(to endpoint) error {
	if err := p.check(to, ""); err != nil {
		return err
	}
	return p.checkNamed(to)
}

func (p *Policy) checkNamed(to endpoint) error {
	if to.ip.IsValid() {
		return nil
	}
	for _, list := range p.lists {
		if len(list.Allowed) > 0 && !matchesName(list.Allowed, to.host) {
			return to.blocked(netip.Addr{}, ReasonNotAllowed)
		}
	}
	return nil
}

// checkIP judges an address to which an endpoint resolved, or that it is.
func (p *Policy) checkIP(to endpoint, ip netip.Addr) error {
	ip = ip.WithZone("").Unmap()
	for _, form := range append(embedded(ip), ip) {
		if p.isOwn(endpoint{ip: form, port: to.port}) || p.isOwnByName(form, to.port) {
			return to.blocked(ip, ReasonOwn)
		}
		if reason := p.judgeRange(form); reason != "" {
			return to.blocked(ip, reason)
		}
	}
	for _, list := range p.lists {
		if reason := list.judgeIP(to.host, ip); reason != "" {
			return to.blocked(ip, reason)
		}
	}
	return nil
}

func (e endpoint) blocked(ip netip.Addr, why Reason) error {
	return &BlockedError{Host: e.name(), Port: e.port, Address: ip, Reason: why}
}

// isOwn reports whether an endpoint is the server or a part of it, as far as that
// is known without DNS.
func (p *Policy) isOwn(to endpoint) bool {
	if public := p.public(); public.port != 0 && to == public {
		return true
	}
	for _, own := range p.own {
		if to.port == own.port && (to == own || own.isLocal() && to.isLocal()) {
			return true
		}
	}
	if ip := to.ip; ip.IsValid() && (ip.IsLoopback() || ip.IsUnspecified()) {
		return p.isGuarded(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), to.port))
	}
	return false
}

// public returns the address under which people reach the server, or the zero
// endpoint if none is known.
func (p *Policy) public() endpoint {
	if p.options.PublicURL == nil {
		return endpoint{}
	}
	u, err := url.Parse(p.options.PublicURL())
	if err != nil || u.Host == "" {
		return endpoint{}
	}
	public, err := endpointOf(u)
	if err != nil {
		return endpoint{}
	}
	return public
}

// isOwnByName reports whether an address is one to which the name of a part of the
// server resolves. The public name does not count: behind a CDN, its address is also
// that of other people's sites.
func (p *Policy) isOwnByName(ip netip.Addr, port uint16) bool {
	for _, own := range p.own {
		if own.port == port && own.host != "" && slices.Contains(p.shared.names.addresses(own.host), ip) {
			return true
		}
	}
	return false
}

// judgeRange judges an address by its network alone.
func (p *Policy) judgeRange(ip netip.Addr) Reason {
	switch {
	case ip.IsLinkLocalUnicast(), ip.IsLinkLocalMulticast(), slices.Contains(metadataIPs, ip):
		return ReasonMetadata
	case ip.IsUnspecified(), ip.IsMulticast(), within(special, ip):
		return ReasonSpecial
	case p.options.AllowPrivate, within(p.options.Networks, ip):
		return ""
	case ip.IsPrivate(), within(private, ip):
		return ReasonPrivate
	case isLocalIP(ip):
		return ReasonLoopback
	}
	return ""
}

func within(list []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// embedded returns the IPv4 addresses that an IPv6 address holds and that a gateway
// may connect to.
func embedded(ip netip.Addr) []netip.Addr {
	if !ip.Is6() {
		return nil
	}
	b := ip.As16()
	last := netip.AddrFrom4([4]byte(b[12:]))
	switch {
	case nat64.Contains(ip):
		return []netip.Addr{last}
	case compatible.Contains(ip) && !ip.IsLoopback() && !ip.IsUnspecified():
		return []netip.Addr{last}
	case sixToFour.Contains(ip):
		return []netip.Addr{netip.AddrFrom4([4]byte(b[2:6]))}
	case teredo.Contains(ip):
		return []netip.Addr{netip.AddrFrom4([4]byte(b[4:8])), netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})}
	}
	if isatap := [4]byte(b[8:12]); isatap == [4]byte{0, 0, 0x5e, 0xfe} || isatap == [4]byte{2, 0, 0x5e, 0xfe} {
		return []netip.Addr{last} // RFC 5214
	}
	return nil
}

// ParseNetworks parses networks such as 10.0.0.0/8, and single addresses.
func ParseNetworks(texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range texts {
		network, ok := parseNetwork(strings.TrimSpace(text))
		if !ok {
			return nil, fmt.Errorf("%q is not a network such as 10.0.0.0/8, nor an address", text)
		}
		list = append(list, network)
	}
	return list, nil
}

func parseNetwork(text string) (netip.Prefix, bool) {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		return netip.PrefixFrom(ip, ip.BitLen()), true
	}
	network, err := netip.ParsePrefix(text)
	if err != nil || network.Addr().Is4In6() {
		return netip.Prefix{}, false
	}
	return network.Masked(), true
}

// HostPort returns host:port of a URL, with the scheme's own port if it has none.
func HostPort(u *url.URL, port string) string {
	if own := u.Port(); own != "" {
		port = own
	}
	return net.JoinHostPort(u.Hostname(), port)
}
