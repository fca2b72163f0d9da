package questions

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"takeover/browser"
	"takeover/id"
	"takeover/invalid"
	"takeover/text"
)

const (
	// maxRealm bounds what a server can make viewers read, in bytes.
	maxRealm = 200
	// maxCredential bounds a name or a password, in bytes.
	maxCredential = 1000
)

// AuthMessage is a server that asks who is there, or, with Closed, no more.
type AuthMessage struct {
	Type   string `json:"type"` // auth
	ID     string `json:"id"`
	Origin string `json:"origin,omitempty"` // of the server; a proxy's host and port
	Realm  string `json:"realm,omitempty"`  // the server's words
	Proxy  bool   `json:"proxy,omitempty"`
	Again  bool   `json:"again,omitempty"` // the last answer was wrong
	Closed bool   `json:"closed,omitempty"`
}

// SignIns are the servers and proxies that ask people for a name and a password
// (HTTP authentication). No page waits for them: it shows Chromium's own error, and
// an answer loads the document again.
type SignIns struct {
	open   *register
	proxy  string // the address of the browser's proxy
	secret func(values ...string)

	mu       sync.Mutex               // guards what follows
	tried    map[*browser.Page]string // the origin that a page is signing in to just now
	declined map[*browser.Page]string // the origin that a page is declining just now
}

// signIn is what a question keeps of a document that a server refused.
type signIn struct {
	url    string // of the document
	origin string // of its server
	proxy  bool   // a proxy asks
}

func newSignIns(open *register, proxy string, secret func(...string)) *SignIns {
	return &SignIns{open: open, proxy: proxy, secret: secret, tried: map[*browser.Page]string{}, declined: map[*browser.Page]string{}}
}

// responded asks people for a name and a password when the answer to a document
// wants them. Nothing has to be held back for that, and what scripts set with
// httpCredentials was tried before. Any other answer ends what was asked for the
// document before.
func (s *SignIns) responded(r *browser.Response) {
	if !r.Request.Navigation {
		return
	}
	page := r.Request.Page()
	if r.Request.Frame() != page.MainFrame() {
		return
	}
	refused := r.Status == http.StatusUnauthorized || r.Status == http.StatusProxyAuthRequired
	if redirect := r.Status >= 300 && r.Status < 400; redirect {
		return
	}
	if !refused {
		s.drop(page)
		return
	}
	asked, message, ok := s.read(r)
	if !ok || s.open.host.Control() == Program || len(page.Context().Credentials()) > 0 {
		return
	}
	s.drop(page)
	s.mu.Lock()
	declined := s.declined[page] == asked.origin
	message.Again = s.tried[page] == asked.origin
	s.mu.Unlock()
	if declined {
		return
	}
	s.open.add(&question{
		id: message.ID, page: page, to: Acting, about: asked, message: message,
		closed: AuthMessage{Type: "auth", ID: message.ID, Closed: true},
		stays: func(url string) bool {
			document, _, _ := strings.Cut(url, "#")
			return document == asked.url
		},
	})
}

// read reads a refusal. It reports false when a name and a password do not answer it.
func (s *SignIns) read(r *browser.Response) (*signIn, AuthMessage, bool) {
	proxy := r.Status == http.StatusProxyAuthRequired
	header := "WWW-Authenticate"
	if proxy {
		header = "Proxy-Authenticate"
	}
	realm, ok := realmOf(headersOf(r, header))
	u, err := url.Parse(r.URL)
	if !ok || err != nil {
		return nil, AuthMessage{}, false
	}
	asked := &signIn{url: r.URL, origin: u.Scheme + "://" + u.Host, proxy: proxy}
	server := asked.origin
	if proxy {
		server = hostOf(s.proxy)
	}
	return asked, AuthMessage{
		Type: "auth", ID: id.New("au"), Origin: text.Clip(server, maxAddress), Realm: text.Clip(realm, maxRealm), Proxy: proxy,
	}, true
}

func (s *SignIns) drop(page *browser.Page) {
	s.open.dropIf(func(q *question) bool { return isAbout[*signIn](q) && q.page == page })
}

// Answer loads the document again: with accept it signs in, otherwise the page shows
// what the server says to those it refuses. Nothing but Chromium keeps the name and
// the password. The error is an *invalid.Error; how the server answers is seen in the
// page, and a wrong password makes another question.
func (s *SignIns) Answer(ctx context.Context, id string, accept bool, username, password string) error {
	if len(username) > maxCredential {
		return invalid.Field("username", "must be at most %d bytes", maxCredential)
	}
	if len(password) > maxCredential {
		return invalid.Field("password", "must be at most %d bytes", maxCredential)
	}
	q := s.open.take(id, isAbout[*signIn])
	if q == nil {
		return invalid.Field("id", "there is no such question")
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	asked, page := q.about.(*signIn), q.page
	var err error
	if accept {
		defer s.note(s.tried, page, asked.origin)()
		s.secret(password, base64.StdEncoding.EncodeToString([]byte(username+":"+password)))
		err = page.LogIn(ctx, browser.Credentials{Username: username, Password: password, Origin: asked.origin}, asked.proxy)
	} else {
		defer s.note(s.declined, page, asked.origin)()
		err = page.DeclineLogin(ctx)
	}
	if err != nil {
		s.open.log.Debug("sign in", "error", err) // the page shows it
	}
	return nil
}

// note keeps the origin that a page's answer is on its way to, until the returned
// function runs.
func (s *SignIns) note(answered map[*browser.Page]string, page *browser.Page, origin string) (forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answered[page] = origin
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(answered, page)
	}
}

// headersOf returns all of an answer's headers of a name. Chromium joins them.
func headersOf(r *browser.Response, name string) []string {
	var values []string
	for _, h := range r.Headers() {
		if strings.EqualFold(h.Name, name) {
			values = append(values, strings.Split(h.Value, "\n")...)
		}
	}
	return values
}

// hostOf returns what people may know of a proxy's address.
func hostOf(proxy string) string {
	u, err := url.Parse(proxy)
	if err != nil {
		return ""
	}
	return u.Host
}

// realmOf reads a challenge (RFC 9110, 11.6.1). It reports whether a name and a
// password answer the challenge, and for what.
func realmOf(challenges []string) (realm string, ok bool) {
	for _, c := range challenges {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(c), " ")
		if !strings.EqualFold(scheme, "Basic") && !strings.EqualFold(scheme, "Digest") {
			continue
		}
		if at := strings.Index(strings.ToLower(rest), "realm=\""); at >= 0 {
			realm, _, _ = strings.Cut(rest[at+len("realm=\""):], "\"")
		}
		return realm, true
	}
	return "", false
}
