package session

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"takeover/browser"
	"takeover/invalid"
	"takeover/text"
)

const (
	// maxRealm bounds what a server can make viewers read.
	maxRealm = 200
	// maxCredential bounds a name or password, in bytes.
	maxCredential = 1000
)

// auths are the servers and proxies that ask people who they are. Guarded by
// Session.mu.
type auths struct {
	open  map[string]*openAuth
	tried map[*browser.Page]string // origins that a person's answer is on its way to

	declined map[*browser.Page]string // the same for a no
}

// openAuth is a document that nobody got because a server asks for a name and a
// password. The page shows Chromium's own error meanwhile, and nothing waits.
type openAuth struct {
	page    *browser.Page
	url     string // of the document
	origin  string // of its server
	message AuthMessage
}

// responded asks people for a name and a password when a document wants them. It
// sees the answer that refused, so that nothing need be held back before; what
// scripts set with httpCredentials was tried by then. It runs on the model's
// goroutine.
func (s *Session) responded(r *browser.Response) {
	if !r.Request.Navigation {
		return
	}
	page := r.Request.Page()
	if r.Request.Frame() != page.MainFrame() {
		return
	}
	if r.Status != http.StatusUnauthorized && r.Status != http.StatusProxyAuthRequired {
		if r.Status < 300 || r.Status >= 400 {
			s.dropAuths(page, "")
		}
		return
	}
	proxy := r.Status == http.StatusProxyAuthRequired
	name := "WWW-Authenticate"
	if proxy {
		name = "Proxy-Authenticate"
	}
	realm, ok := realmOf(headersOf(r, name))
	u, err := url.Parse(r.URL)
	holder, _, _ := s.lease.state()
	if !ok || err != nil || holder != HolderNobody && !holder.isPerson() || len(page.Context().Credentials()) > 0 {
		return
	}
	a := &openAuth{page: page, url: r.URL, origin: u.Scheme + "://" + u.Host, message: AuthMessage{
		Type: "auth", ID: newID("au"), Origin: text.Clip(u.Scheme+"://"+u.Host, maxTitle), Realm: text.Clip(realm, maxRealm), Proxy: proxy,
	}}
	if proxy {
		a.message.Origin = text.Clip(proxyHost(s.opts.ProxyURL), maxTitle)
	}
	s.dropAuths(page, "")
	s.mu.Lock()
	if !s.answerableLocked() || s.auths.declined[page] == a.origin {
		s.mu.Unlock()
		return
	}
	a.message.Again = s.auths.tried[page] == a.origin
	if s.auths.open == nil {
		s.auths.open, s.auths.tried, s.auths.declined = map[string]*openAuth{}, map[*browser.Page]string{}, map[*browser.Page]string{}
	}
	s.auths.open[a.message.ID] = a
	s.mu.Unlock()
	s.tellActors("", a.message)
}

// headersOf are all of an answer's headers of a name; Chromium joins them.
func headersOf(r *browser.Response, name string) []string {
	var values []string
	for _, h := range r.Headers() {
		if strings.EqualFold(h.Name, name) {
			values = append(values, strings.Split(h.Value, "\n")...)
		}
	}
	return values
}

// proxyHost is what people may know of a proxy's address.
func proxyHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// realmOf reads a challenge (RFC 9110, 11.6.1): what it is for, if a name and a
// password answer it.
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

// dropAuths takes back what a page's documents asked, but for the document url.
func (s *Session) dropAuths(page *browser.Page, url string) {
	s.mu.Lock()
	var gone []string
	for id, a := range s.auths.open {
		if a.page == page && (url == "" || a.url != url) {
			delete(s.auths.open, id)
			gone = append(gone, id)
		}
	}
	s.mu.Unlock()
	for _, id := range gone {
		s.tellActors("", AuthMessage{Type: "auth", ID: id, Closed: true})
	}
}

// movedOn takes back the questions of a document that the page has left.
func (s *Session) movedOn(ev browser.FrameNavigated) {
	refusal := strings.HasPrefix(ev.URL, "chrome-error:") // which is shown meanwhile
	if ev.Frame == ev.Frame.Page().MainFrame() && ev.Err == nil && !refusal {
		at, _, _ := strings.Cut(ev.URL, "#")
		s.dropAuths(ev.Frame.Page(), at)
		s.dropPermissions(ev.Frame.Page(), browser.Origin(ev.URL))
	}
}

// dropAllAuths takes back all questions, when nobody is left or the browser died.
// The pages keep showing that they got nothing.
func (s *Session) dropAllAuths() {
	s.mu.Lock()
	pages := map[*browser.Page]bool{}
	for _, a := range s.auths.open {
		pages[a.page] = true
	}
	s.mu.Unlock()
	for p := range pages {
		s.dropAuths(p, "")
	}
}

func (s *Session) openAuths() []AuthMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []AuthMessage
	for _, a := range s.auths.open {
		list = append(list, a.message)
	}
	return list
}

// Auth answers an auth message: the document is loaded again, with accept with the
// name and the password, which are kept nowhere else than in Chromium, and otherwise
// for what the server says to those it refuses. Whoever is
// in control may; when nobody is, any viewer whose role allows to act.
func (v *Viewer) Auth(ctx context.Context, id string, accept bool, username, password string) error {
	if err := v.mayAnswer(); err != nil {
		return err
	}
	if len(username) > maxCredential {
		return invalid.Field("username", "must be at most %d bytes", maxCredential)
	}
	if len(password) > maxCredential {
		return invalid.Field("password", "must be at most %d bytes", maxCredential)
	}
	s := v.session
	s.mu.Lock()
	a := s.auths.open[id]
	delete(s.auths.open, id)
	answered := s.auths.declined
	if accept {
		answered = s.auths.tried
	}
	if a != nil {
		answered[a.page] = a.origin
	}
	s.mu.Unlock()
	if a == nil {
		return invalid.Field("id", "there is no such question")
	}
	s.tellActors("", AuthMessage{Type: "auth", ID: id, Closed: true})
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	var err error
	if accept {
		s.secrets.given(password, base64.StdEncoding.EncodeToString([]byte(username+":"+password)))
		err = a.page.LogIn(ctx, browser.Credentials{Username: username, Password: password, Origin: a.origin}, a.message.Proxy)
	} else {
		err = a.page.DeclineLogin(ctx)
	}
	s.mu.Lock()
	delete(answered, a.page)
	s.mu.Unlock()
	if err != nil {
		s.log.Debug("log in", "error", err) // the page shows it, and a refusal is asked about again
	}
	return nil
}
