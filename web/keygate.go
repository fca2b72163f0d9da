package web

import (
	"net/http"
	"sync"
	"time"

	"takeover/limits"
)

// provenTime is how long after its last use a correct key may be used again from
// the same address, however many wrong keys come from there meanwhile.
const provenTime = time.Hour

// keyGate checks the keys in headers and queries. One address has few tries. A
// correct key that was used from the address before is not a guess, so a program
// with an old key does not lock out other programs at the same address.
type keyGate struct {
	keys  *Keys
	tries *limiter

	mu     sync.Mutex // guards proven
	proven map[provenKey]time.Time
}

// provenKey is a key that was right, with the address that sent it.
type provenKey struct{ address, id string }

func newKeyGate(keys *Keys, every time.Duration, burst int) *keyGate {
	return &keyGate{keys: keys, tries: newLimiter(limits.SignIns, every, burst), proven: map[provenKey]time.Time{}}
}

// check returns the entry of a key, or nil if the key is wrong. If wait is not 0,
// the address must wait, and the result says nothing about the key.
func (g *keyGate) check(address, key string) (e *keyEntry, wait time.Duration) {
	e = g.keys.match(key)
	now := time.Now()
	if e != nil && g.isProven(provenKey{address, e.id}, now) {
		return e, 0
	}
	if wait := g.tries.empty(address); wait > 0 {
		return nil, wait
	}
	if e == nil {
		g.tries.take(address)
		return nil, 0
	}
	g.prove(provenKey{address, e.id}, now)
	return e, 0
}

func (g *keyGate) isProven(k provenKey, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.proven[k]
	if ok = ok && now.Sub(at) < provenTime; ok {
		g.proven[k] = now
	}
	return ok
}

func (g *keyGate) prove(k provenKey, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.proven) >= limiterPeers {
		clear(g.proven)
	}
	g.proven[k] = now
}

// byKey identifies a caller by its key.
func (s *Server) byKey(r *http.Request, key, where string) *principal {
	e, wait := s.gate.check(limitedAs(r.RemoteAddr), key)
	switch {
	case e != nil:
		return &principal{kind: keyCaller, name: "api", key: e.id}
	case wait == 0:
		s.wrongKey(r, where)
	}
	return &principal{wait: wait, wrong: wait == 0 && key != ""}
}

// wrongKey counts and logs a wrong key, which is a guess or comes from a program
// that was not given a new key.
func (s *Server) wrongKey(r *http.Request, where string) {
	s.metrics.wrongKeys.WithLabelValues(where).Inc()
	s.log.Warn("wrong key", "where", where, "from", peerOf(r), "path", r.URL.Path)
}

// foreignPage reports whether a page of another site caused a request. Such a page
// knows no key, but could use up the tries of the person who looks at it.
func (s *Server) foreignPage(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		return !s.sameOrigin(r, origin) && !s.allowedOrigin(origin)
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}
