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

// WayOut is the forward proxy of one Chromium, which reaches the network only
// through it.
type WayOut interface {
	// Serve starts to answer on a listener and returns. It answers only processes
	// of the user id, or everybody for AnyUser. It ends when the listener is closed.
	Serve(listener net.Listener, uid int)
	// Close closes all listeners and connections.
	Close() error
}

// ErrNoWayOut is returned by OpenWay for a Chromium without a WayOut.
var ErrNoWayOut = errors.New("this chromium has no proxy of its own")

// errNoAddress is returned by OpenWay when all loopback addresses are in use.
var errNoAddress = errors.New("there is no further address for chromium's proxy")

// maxAddress bounds the number of a way's address: 127.0.0.0/8 without the last one.
const maxAddress = 1<<24 - 2

// wayOut is a WayOut and where it listens: at 127.0.0.1, and for each context that
// needs another proxy at the next loopback address, with the same port.
type wayOut struct {
	proxy WayOut
	uid   int  // AnyUser in a network namespace
	rooms bool // the listener is in a network namespace, and answers at all addresses
	port  int

	mu   sync.Mutex
	last int // number of the address that was given last; none is given twice
}

// leadOut starts a way out on the listener that Chromium was told to use.
func leadOut(proxy WayOut, listener net.Listener, uid int, rooms confine.Report) *wayOut {
	w := &wayOut{proxy: proxy, uid: uid, rooms: rooms.On(confine.Network), last: 1}
	w.port = listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // all of them are TCP listeners
	if w.rooms {
		w.uid = AnyUser
	}
	proxy.Serve(listener, w.uid)
	return w
}

// open returns a further address, and what closes it.
func (w *wayOut) open() (string, func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.last < maxAddress {
		w.last++
		n := w.last
		address := net.JoinHostPort(net.IPv4(127, byte(n>>16), byte(n>>8), byte(n)).String(), strconv.Itoa(w.port))
		if w.rooms {
			return address, func() {}, nil
		}
		listener, err := net.Listen("tcp4", address) //nolint:noctx // it does not wait
		if err == nil {
			w.proxy.Serve(listener, w.uid)
			return address, func() { _ = listener.Close() }, nil // the WayOut may have closed it
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return "", nil, fmt.Errorf("start chromium's proxy: %w", err)
		}
	}
	return "", nil, errNoAddress
}

// WayOut returns the way out that LaunchOptions.WayOut made, or nil.
func (p *Process) WayOut() WayOut {
	if p.way == nil {
		return nil
	}
	return p.way.proxy
}

// OpenWay opens a further address of the way out, as host:port, for a context that
// needs another proxy. end closes it; otherwise it ends with Chromium.
func (p *Process) OpenWay() (address string, end func(), err error) {
	if p.way == nil {
		return "", nil, ErrNoWayOut
	}
	return p.way.open()
}

// endWay closes the way out of a Chromium that has ended.
func (p *Process) endWay() {
	if p.way == nil {
		return
	}
	if err := p.way.proxy.Close(); err != nil {
		p.log.Warn("close chromium's proxy", "error", err)
	}
}
