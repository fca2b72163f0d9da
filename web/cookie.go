package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// signInCookie holds a sign-in: expiry and nonce, signed with the key that
	// was used. Removing that key ends the sign-in.
	signInCookie = "takeover_key"
	// linkCookiePrefix is the beginning of the names of share links' cookies. The
	// id of what the link opens follows, a takeover or a session, so that a browser
	// may use several links at the same time.
	linkCookiePrefix = "takeover_link_"
	// hostPrefix begins the names of all cookies over HTTPS. Browsers accept such a
	// cookie only from this very host, over TLS. So no other host of the same site
	// can set one.
	hostPrefix = "__Host-"
	// SignInTime is how long a sign-in lasts.
	SignInTime = 7 * 24 * time.Hour

	nonceSize = 16
)

// signer creates and checks the values of sign-in cookies. It remembers a
// sign-out until the cookie would have expired.
type signer struct {
	keys *Keys
	now  func() time.Time
	file signOuts
	tell func(nonce string, expires time.Time) error // tells other servers of a sign-out

	mu      sync.Mutex           // guards what follows
	revoked map[string]time.Time // nonce → when it may be forgotten
}

// newSigner returns a signer that keeps sign-outs in a file.
func newSigner(keys *Keys, file signOuts) (*signer, error) {
	revoked, err := file.load(time.Now())
	if err != nil {
		return nil, err
	}
	return &signer{keys: keys, now: time.Now, file: file, tell: func(string, time.Time) error { return nil }, revoked: revoked}, nil
}

// sign returns the value of a cookie: the key's id, expiry, nonce and signature.
func (s *signer) sign(e *keyEntry) (value string, expires time.Time) {
	expires = s.now().Add(SignInTime)
	nonce := sha256.Sum256([]byte(newSecret()))
	payload := binary.BigEndian.AppendUint64(nil, uint64(expires.Unix()))
	payload = append(payload, nonce[:nonceSize]...)
	return e.id + "." + base64.RawURLEncoding.EncodeToString(append(payload, macOf(e, payload)...)), expires
}

// check returns the key that a cookie was signed with, or nil.
func (s *signer) check(value string) *keyEntry {
	e, nonce, expires := s.open(value)
	if e == nil || !s.now().Before(expires) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, gone := s.revoked[nonce]; gone {
		return nil
	}
	return e
}

// revoke ends a sign-in early. If it returns an error, the sign-in has ended, but becomes
// valid again when the server starts again, or is valid at other servers of the cluster.
func (s *signer) revoke(value string) error {
	e, nonce, expires := s.open(value)
	if e == nil {
		return nil
	}
	s.forget(nonce, expires)
	return errors.Join(s.file.add(nonce, expires), s.tell(nonce, expires))
}

func (s *signer) forget(nonce string, expires time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, until := range s.revoked {
		if s.now().After(until) {
			delete(s.revoked, n)
		}
	}
	s.revoked[nonce] = expires
}

// open parses a value and checks its signature.
func (s *signer) open(value string) (e *keyEntry, nonce string, expires time.Time) {
	id, body, _ := strings.Cut(value, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || len(raw) != 8+nonceSize+sha256.Size {
		return nil, "", time.Time{}
	}
	e = s.keys.byID(id)
	payload, sum := raw[:8+nonceSize], raw[8+nonceSize:]
	if e == nil || !hmac.Equal(sum, macOf(e, payload)) {
		return nil, "", time.Time{}
	}
	return e, string(payload[8:]), time.Unix(int64(binary.BigEndian.Uint64(payload)), 0)
}

func macOf(e *keyEntry, payload []byte) []byte {
	mac := hmac.New(sha256.New, e.mac[:])
	mac.Write(payload)
	return mac.Sum(nil)
}

// newCookie returns a cookie that scripts cannot read and other sites cannot
// send.
func (s *Server) newCookie(r *http.Request, name, value string, expires time.Time) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(r, name), Value: value, Path: "/", Expires: expires,
		HttpOnly: true, Secure: s.onlyTLS(r), SameSite: http.SameSiteStrictMode,
	}
}

// cookieName returns the name under which a caller sends and gets a cookie.
func (s *Server) cookieName(r *http.Request, name string) string {
	if s.onlyTLS(r) {
		return hostPrefix + name
	}
	return name
}

// onlyTLS reports whether the caller's cookies are for TLS only.
func (s *Server) onlyTLS(r *http.Request) bool { return s.https() || overTLS(r) }
