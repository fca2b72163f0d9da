package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
)

// maxOutcomes bounds how many hosts and ports are remembered.
const maxOutcomes = 512

// outcomes remembers how the latest connection to each host and port went, because
// Chromium learns from a proxy only that it failed.
type outcomes struct {
	mu    sync.Mutex // guards what follows
	of    map[string]outcome
	order []string // oldest first
}

// outcome is a server's address, or an error.
type outcome struct {
	server net.Addr
	err    error
}

func (o *outcomes) add(to endpoint, latest outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := to.String()
	if former, known := o.of[key]; known && latest.server == nil {
		latest.server = former.server
	} else if !known {
		if len(o.order) >= maxOutcomes {
			delete(o.of, o.order[0])
			o.order = o.order[1:]
		}
		o.order = append(o.order, key)
	}
	o.of[key] = latest
}

func (o *outcomes) get(address string) outcome {
	u, err := url.Parse(address)
	if err != nil {
		return outcome{}
	}
	to, err := endpointOf(u)
	if err != nil {
		return outcome{}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of[to.String()]
}

// failed remembers the error of a request.
func (t *Traffic) failed(to endpoint, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		t.outcomes.add(to, outcome{err: err})
	}
}

// Server returns the address of the server that a URL's requests reach, or an
// empty one.
func (t *Traffic) Server(address string) (ip string, port int) {
	server := t.outcomes.get(address).server
	if server == nil {
		return "", 0
	}
	at, err := netip.ParseAddrPort(server.String())
	if err != nil {
		return "", 0
	}
	return at.Addr().Unmap().String(), int(at.Port())
}

// proxyErrors are Chromium's errors for a request that failed at its proxy.
var proxyErrors = []string{"net::ERR_TUNNEL_CONNECTION_FAILED", "net::ERR_EMPTY_RESPONSE", "net::ERR_PROXY_CONNECTION_FAILED", "net::ERR_CONNECTION_CLOSED", "net::ERR_CONNECTION_RESET"}

// Failure returns the error of a request as Chromium would have reported it without
// its proxy, given what it reported.
func (t *Traffic) Failure(address, text string) string {
	for _, one := range proxyErrors {
		if text != one {
			continue
		}
		if name := errorName(t.outcomes.get(address).err); name != "" {
			return name
		}
	}
	return text
}

// errorName returns Chromium's name for an error of a connection, or empty.
func errorName(err error) string {
	if b, ok := errors.AsType[*BlockedError](err); ok {
		return "net::ERR_BLOCKED_BY_ADMINISTRATOR (" + b.Error() + ")"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "net::ERR_NAME_NOT_RESOLVED"
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return "net::ERR_CONNECTION_REFUSED"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "net::ERR_ADDRESS_UNREACHABLE"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "net::ERR_CONNECTION_RESET"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return "net::ERR_CONNECTION_TIMED_OUT"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "net::ERR_EMPTY_RESPONSE"
	case errors.Is(err, errTooMany):
		return "net::ERR_INSUFFICIENT_RESOURCES"
	case strings.Contains(err.Error(), "malformed HTTP"):
		return "net::ERR_INVALID_HTTP_RESPONSE"
	}
	return ""
}
