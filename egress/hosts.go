package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// maxHosts bounds the entries of one list, and maxHost the bytes of an entry.
const (
	maxHosts = 1000
	maxHost  = 253
)

// Hosts are lists of hosts. An entry is a name ("example.com", that host only), a
// name with a star ("*.example.com", every host below it), an IP address, or a
// network such as 10.0.0.0/8.
type Hosts struct {
	Allowed []string // if there are any, all other hosts are refused
	Denied  []string
}

func (h *Hosts) empty() bool { return len(h.Allowed) == 0 && len(h.Denied) == 0 }

func (h *Hosts) check() error {
	return errors.Join(CheckHosts(h.Allowed), CheckHosts(h.Denied))
}

// CheckHosts returns what is wrong with a list of hosts, or nil.
func CheckHosts(list []string) error {
	if len(list) > maxHosts {
		return fmt.Errorf("must have at most %d hosts", maxHosts)
	}
	for _, entry := range list {
		if len(entry) > maxHost {
			return fmt.Errorf("an entry must have at most %d bytes", maxHost)
		}
		if _, ok := parseNetwork(entry); ok {
			continue
		}
		name := strings.TrimPrefix(entry, "*.")
		if at, err := hostOf(name); err != nil || at.ip.IsValid() || strings.ContainsAny(name, "*/:@?# ") {
			return fmt.Errorf("%q must be a name such as example.com or *.example.com, an IP address, or a network such as 10.0.0.0/8, without a scheme or port", entry)
		}
	}
	return nil
}

// judgeName judges a name whose address is not known yet.
func (h *Hosts) judgeName(host string) Reason {
	if matchesName(h.Denied, host) {
		return ReasonDenied
	}
	if len(h.Allowed) > 0 && !matchesName(h.Allowed, host) && !hasNetwork(h.Allowed) {
		return ReasonNotAllowed
	}
	return ""
}

// judgeIP judges the address of a host. host is empty if it is only an address.
func (h *Hosts) judgeIP(host string, ip netip.Addr) Reason {
	if matchesIP(h.Denied, ip) {
		return ReasonDenied
	}
	if len(h.Allowed) > 0 && !matchesName(h.Allowed, host) && !matchesIP(h.Allowed, ip) {
		return ReasonNotAllowed
	}
	return ""
}

func matchesName(list []string, host string) bool {
	if host == "" {
		return false
	}
	for _, entry := range list {
		name, below := strings.CutPrefix(entry, "*.")
		at, err := hostOf(name)
		if err != nil || at.ip.IsValid() {
			continue
		}
		if !below && host == at.host || below && strings.HasSuffix(host, "."+at.host) {
			return true
		}
	}
	return false
}

func matchesIP(list []string, ip netip.Addr) bool {
	for _, entry := range list {
		if network, ok := parseNetwork(entry); ok && network.Contains(ip) {
			return true
		}
	}
	return false
}

func hasNetwork(list []string) bool {
	for _, entry := range list {
		if _, ok := parseNetwork(entry); ok {
			return true
		}
	}
	return false
}
