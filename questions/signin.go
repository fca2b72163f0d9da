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
	// maxRealm bounds how much of a server's text viewers receive, in bytes.
	maxRealm = 200
	// maxCredential bounds a name or a password, in bytes.
	maxCredential = 1000
)

// AuthMessage describes a server or proxy that asks for a name and a password.
// With Closed, the question has ended.
type AuthMessage struct {
	Type   string `json:"type"` // auth
	ID     string `json:"id"`
	Origin string `json:"origin,omitempty"` // origin of the server, or host and port of the proxy
	Realm  string `json:"realm,omitempty"`  // the text that the server sends
	Proxy  bool   `json:"proxy,omitempty"`
	Again  bool   `json:"again,omitempty"` // the last answer was wrong
	Closed bool   `json:"closed,omitempty"`
}

// SignIns are the servers and proxies that ask people for a name and a password
// (HTTP authentication). No page waits for an answer: the page shows Chromium's
// own error, and the answer loads the document again.
type SignIns struct {
	open   *register
	proxy  string // the address of the browser's proxy
	secret func(values ...string)

	mu       sync.Mutex               // guards what follows
	tried    map[*browser.Page]string // the origin that a page is now signing in to
	declined map[*browser.Page]string // the origin whose sign-in a page is now declining
}

// signIn holds the fields of a question that are specific to HTTP authentication:
// the document that the server (or a proxy) refused.
type signIn struct {
	url    string // of the document
	origin string // of its server
	proxy  bool   // a proxy asks
}

func newSignIns(open *register, proxy string, secret func(...string)) *SignIns {
	return &SignIns{open: open, proxy: proxy, secret: secret, tried: map[*browser.Page]string{}, declined: map[*browser.Page]string{}}
}

// responded asks people for a name and a password if the response to a document
// requests them. By then, the credentials that scripts set with httpCredentials
// have been tried. Responses need not be held back for this. Any other
// response, except a redirect, ends the question about the document before.
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

// read parses a refusal. It returns false if a name and a password would not
// help.
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

// Answer loads the document again. With accept it signs in; otherwise the page
// shows what the server sends to visitors without credentials. Only Chromium
// and Options.Secret get the name and the password. The error is an
// *invalid.Error. The page shows how the server responds, and a wrong password
// leads to another question.
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
		s.open.log.Debug("sign in", "error", err) // the page shows the error
	}
	return nil
}

// note records the origin of an answer that is on its way to a page, until the
// returned function is called.
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

// headersOf returns all values of a header in a response. Chromium joins them
// with line feeds.
func headersOf(r *browser.Response, name string) []string {
	var values []string
	for _, h := range r.Headers() {
		if strings.EqualFold(h.Name, name) {
			values = append(values, strings.Split(h.Value, "\n")...)
		}
	}
	return values
}

// hostOf returns the part of a proxy's address that people may see.
func hostOf(proxy string) string {
	u, err := url.Parse(proxy)
	if err != nil {
		return ""
	}
	return u.Host
}

// realmOf parses the challenges of a response (RFC 9110, 11.6.1). It returns
// the realm of the first one that a name and a password can answer, and whether
// there is one.
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
