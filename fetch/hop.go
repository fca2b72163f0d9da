package fetch

import (
	"crypto/tls"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"
)

// hop is one request in a chain of redirects, seen from its connection.
type hop struct {
	url *url.URL

	mu       sync.Mutex // guards what follows, because any goroutine may call a trace
	start    time.Time
	dnsEnd   time.Time
	connect  time.Time // TCP is connected
	tlsStart time.Time
	tlsEnd   time.Time
	got      time.Time // a connection is available
	first    time.Time // first byte of the response
	conn     *headConn
	server   *ServerAddr
	tls      *tls.ConnectionState
	reused   bool
}

// mark records the present time.
func (h *hop) mark(at *time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*at = time.Now()
}

// trace returns the hooks by which net/http reports on the hop.
func (h *hop) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSDone: func(httptrace.DNSDoneInfo) { h.mark(&h.dnsEnd) },
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				h.mark(&h.connect)
			}
		},
		TLSHandshakeDone: func(state tls.ConnectionState, err error) { // through a proxy
			if err == nil {
				h.mark(&h.tlsEnd)
				h.secured(state)
			}
		},
		GotConn: func(info httptrace.GotConnInfo) {
			h.mark(&h.got)
			h.gotConn(info)
		},
		GotFirstResponseByte: func() { h.mark(&h.first) },
	}
}

func (h *hop) secured(state tls.ConnectionState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tls = &state
}

func (h *hop) gotConn(info httptrace.GotConnInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reused = info.Reused
	if addr, ok := addrOf(info.Conn); ok {
		h.server = &addr
	}
	conn, ok := info.Conn.(*headConn)
	if !ok {
		return
	}
	h.conn = conn
	if conn.tls != nil {
		h.tls = conn.tls
		if !h.reused {
			h.tlsEnd = h.got
		}
	}
}

// timing returns when each part happened. The present time is the end.
func (h *hop) timing() Timing {
	h.mu.Lock()
	defer h.mu.Unlock()
	since := func(t time.Time) float64 {
		if t.IsZero() || h.reused && t != h.got && t != h.first {
			return -1
		}
		return float64(t.Sub(h.start).Microseconds()) / 1000
	}
	t := Timing{
		StartTime:       float64(h.start.UnixMilli()),
		DomainLookupEnd: since(h.dnsEnd), DomainLookupStart: -1, ConnectStart: -1, ConnectEnd: since(h.connect),
		SecureConnectionStart: since(h.tlsStart), RequestStart: since(h.got), ResponseStart: since(h.first),
		ResponseEnd: float64(time.Since(h.start).Microseconds()) / 1000,
	}
	if t.DomainLookupEnd >= 0 {
		t.DomainLookupStart = 0
	}
	if t.ConnectEnd >= 0 {
		t.ConnectStart = max(t.DomainLookupEnd, 0)
		t.ConnectEnd = max(t.ConnectEnd, since(h.tlsEnd))
	}
	return t
}

// security describes the hop's TLS connection. It returns nil without TLS.
func (h *hop) security() *Security {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tls == nil {
		return nil
	}
	s := &Security{Protocol: protocolName(h.tls.Version)}
	if len(h.tls.PeerCertificates) > 0 {
		c := h.tls.PeerCertificates[0]
		s.Issuer, s.SubjectName = c.Issuer.CommonName, c.Subject.CommonName
		s.ValidFrom, s.ValidTo = c.NotBefore.Unix(), c.NotAfter.Unix()
	}
	return s
}

// protocolName returns the name that OpenSSL and Node use for a TLS version.
func protocolName(version uint16) string {
	switch version {
	case tls.VersionTLS13:
		return "TLSv1.3"
	case tls.VersionTLS12:
		return "TLSv1.2"
	case tls.VersionTLS11:
		return "TLSv1.1"
	case tls.VersionTLS10:
		return "TLSv1"
	}
	return tls.VersionName(version)
}
