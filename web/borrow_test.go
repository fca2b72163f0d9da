package web

import (
	"testing"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/session"
)

// lent is what tests borrow: to start a Chromium costs more than what most tests do
// with it.
var lent browsertest.Lent[*lending]

// lending is a server and its session, nil if the next borrower needs a new one.
type lending struct {
	server  *testServer
	session *session.Session
}

// borrow gives a test a server of default options and a session with one tab at a URL;
// the empty one is for an empty tab. The server has what former borrowers left: sessions
// that ended, links, and lines of its log; doortest.Borrow says what the session has. A test that counts these, stops the server or changes options starts one of its own.
func borrow(t *testing.T, url string) (*testServer, *session.Session) {
	t.Helper()
	l := lent.Borrow(t, func(dir string) (*lending, func() error, error) {
		s, end, err := newServer(dir, nil)
		return &lending{server: s}, end, err
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(l.server.log.tail())
		}
	})
	s := *l.server
	s.t = t
	if l.session == nil {
		l.session = s.create(map[string]any{"timeout": session.MaxTimeout.Milliseconds()}) // other tests may run for long in between
	}
	one := l.session
	t.Cleanup(func() { // before the server is given back
		if !doortest.Clean(t, one) {
			l.session = nil
		}
	})
	doortest.Open(t, one, url)
	return &s, one
}
