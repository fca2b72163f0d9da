package chromium

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"

	"takeover/confine"
)

// AnyUser is the user id for a listener that only one Chromium can reach.
const AnyUser = -1

// Proxy is the forward proxy of one Chromium, which reaches the network only
// through it.
type Proxy interface {
	// Serve starts to answer on a listener and returns. It answers only processes
	// of the user id, or everybody for AnyUser. It ends when the listener is closed.
	Serve(listener net.Listener, uid int)
	// Close closes all listeners and connections.
	Close() error
}

// ErrNoProxy is returned by OpenProxyAddress for a Chromium without a Proxy.
var ErrNoProxy = errors.New("this chromium has no proxy of its own")

// errNoAddress is returned by OpenProxyAddress when all loopback addresses are in use.
var errNoAddress = errors.New("there is no further address for chromium's proxy")

// maxAddress bounds the number of an address: 127.0.0.0/8 without the last one.
const maxAddress = 1<<24 - 2

// listeningProxy is a Proxy and where it listens: at 127.0.0.1, and for each context that
// needs another proxy at the next loopback address, with the same port.
type listeningProxy struct {
	Proxy
	uid       int  // AnyUser in a network namespace
	namespace bool // the listener is in a network namespace, and answers at all addresses
	port      int

	mu   sync.Mutex
	last int // number of the address that was given last; none is given twice
}

// serveProxy starts a proxy on the listener that Chromium was told to use.
func serveProxy(proxy Proxy, listener net.Listener, uid int, report confine.Report) *listeningProxy {
	l := &listeningProxy{Proxy: proxy, uid: uid, namespace: report.On(confine.Network), last: 1}
	l.port = listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // all of them are TCP listeners
	if l.namespace {
		l.uid = AnyUser
	}
	proxy.Serve(listener, l.uid)
	return l
}

// open returns a further address, and what closes it.
func (l *listeningProxy) open() (string, func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.last < maxAddress {
		l.last++
		n := l.last
		address := net.JoinHostPort(net.IPv4(127, byte(n>>16), byte(n>>8), byte(n)).String(), strconv.Itoa(l.port))
		if l.namespace {
			return address, func() {}, nil
		}
		listener, err := net.Listen("tcp4", address) //nolint:noctx // it does not wait
		if err == nil {
			l.Serve(listener, l.uid)
			return address, func() { _ = listener.Close() }, nil // the Proxy may have closed it
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return "", nil, fmt.Errorf("start chromium's proxy: %w", err)
		}
	}
	return "", nil, errNoAddress
}

// Proxy returns the proxy that LaunchOptions.Proxy made, or nil.
func (p *Process) Proxy() Proxy {
	if p.proxy == nil {
		return nil
	}
	return p.proxy.Proxy
}

// OpenProxyAddress opens a further address of the proxy, as host:port, for a context that
// needs another proxy. end closes it; otherwise it ends with Chromium.
func (p *Process) OpenProxyAddress() (address string, end func(), err error) {
	if p.proxy == nil {
		return "", nil, ErrNoProxy
	}
	return p.proxy.open()
}

// closeProxy closes the proxy of a Chromium that has ended.
func (p *Process) closeProxy() {
	if p.proxy == nil {
		return
	}
	if err := p.proxy.Close(); err != nil {
		p.log.Warn("close chromium's proxy", "error", err)
	}
}
