package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/links"
	"takeover/session"
)

// keyHeader is the header in which Steel's clients send their key.
const keyHeader = "steel-api-key"

// principalKind is how a caller identified itself.
type principalKind int

const (
	nobody    principalKind = iota
	keyCaller               // a key in a header, or in the query of a socket or stream
	signedIn                // the sign-in cookie
	linkGuest               // a share link's cookie
)

// principal is a caller.
type principal struct {
	kind   principalKind
	name   string // as other people see it: "api", "operator", "link ln_…"
	key    string // id of the key, for logs and limits; not secret
	cookie string // the sign-in cookie's value
	grants []links.Grant
	using  *links.Grant  // the one of grants that admits a guest to this request; guard chooses it
	lost   []lostGrant   // grants of the caller's cookies that have ended
	wrong  bool          // the key is not one of the server's
	wait   time.Duration // if not 0, the key was not checked, because too many wrong ones came from the address
}

// lostGrant is a grant whose link has ended, with the reason.
type lostGrant struct {
	links.Grant
	err error
}

// why returns why a page of a session or a takeover no longer opens, or nil.
func (p *principal) why(id string) error {
	for _, l := range p.lost {
		if l.SessionID == id || l.Takeover == id {
			return l.err
		}
	}
	return nil
}

// operator reports whether the caller holds a key.
func (p *principal) operator() bool { return p.kind == keyCaller || p.kind == signedIn }

// byCookie reports whether a browser added the credentials by itself, so that
// another site may have caused the request.
func (p *principal) byCookie() bool { return p.kind == signedIn || p.kind == linkGuest }

// grant returns the link that admits a guest to the request's session. An
// operator has none.
func (p *principal) grant(sessionID string) (links.Grant, bool) {
	if p.using == nil || p.using.SessionID != sessionID {
		return links.Grant{}, false
	}
	return *p.using, true
}

// choose returns the grant of a session that a guest uses: one that is not for
// another takeover than the given one, if there is such a grant, and of these the
// strongest. It returns nil if the guest has no link to the session.
func (p *principal) choose(sessionID, takeover string) *links.Grant {
	var best *links.Grant
	weight := func(g *links.Grant) int {
		if g.Takeover == "" || g.Takeover == takeover {
			return links.RoleControl.Rank() + g.Role.Rank()
		}
		return g.Role.Rank()
	}
	for i := range p.grants {
		if g := &p.grants[i]; g.SessionID == sessionID && (best == nil || weight(g) > weight(best)) {
			best = g
		}
	}
	return best
}

// role returns the caller's role in a session, or "" without one.
func (p *principal) role(sessionID string) session.Role {
	if p.operator() {
		return session.RoleControl
	}
	g, _ := p.grant(sessionID)
	return g.Role
}

// identify identifies the caller. A wrong key counts as no caller, even beside a
// valid cookie. inQuery permits ?token= and ?apiKey=.
func (s *Server) identify(r *http.Request, inQuery bool) *principal {
	if key, where := keyOf(r, inQuery); where != "" {
		if where == "query" && s.foreignPage(r) {
			return &principal{}
		}
		return s.byKey(r, key, where)
	}
	if c, err := r.Cookie(s.cookieName(r, signInCookie)); err == nil {
		if e := s.signer.check(c.Value); e != nil {
			return &principal{kind: signedIn, name: "operator", key: e.id, cookie: c.Value}
		}
	}
	p, prefix := &principal{}, s.cookieName(r, linkCookiePrefix)
	for _, c := range r.Cookies() {
		if !strings.HasPrefix(c.Name, prefix) {
			continue
		}
		g, ok := s.grants.check(c.Value)
		if !ok {
			continue
		}
		if err := s.manager.CheckGrant(g); err != nil {
			p.lost = append(p.lost, lostGrant{g, err})
			continue
		}
		p.kind, p.name = linkGuest, "link "+g.LinkID
		p.grants = append(p.grants, g)
	}
	return p
}

// queryKeys are the query parameters that may have a key.
var queryKeys = []string{"token", "apiKey"}

// keyOf returns the key in a request, ignoring cookies, and where it is: header,
// query or nowhere.
func keyOf(r *http.Request, inQuery bool) (key, where string) {
	if h := r.Header.Get(keyHeader); h != "" {
		return h, "header"
	}
	if h := r.Header.Get(echo.HeaderAuthorization); h != "" {
		scheme, key, _ := strings.Cut(h, " ")
		if strings.EqualFold(scheme, "Bearer") {
			return strings.TrimSpace(key), "header"
		}
		return "", "header"
	}
	if inQuery {
		q := r.URL.Query()
		for _, name := range queryKeys {
			if q.Has(name) {
				return q.Get(name), "query"
			}
		}
	}
	return "", ""
}

// grantSigner creates and checks the cookies of share links.
type grantSigner struct{ key []byte }

func newGrantSigner(key string) *grantSigner { return &grantSigner{key: []byte(key)} }

func (g *grantSigner) sign(grant links.Grant) string {
	payload, err := json.Marshal(grant)
	if err != nil {
		return "" // a links.Grant has only strings and a time
	}
	return base64.RawURLEncoding.EncodeToString(append(g.mac(payload), payload...))
}

func (g *grantSigner) check(value string) (links.Grant, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || len(raw) < sha256.Size || !hmac.Equal(raw[:sha256.Size], g.mac(raw[sha256.Size:])) {
		return links.Grant{}, false
	}
	var grant links.Grant
	if err := json.Unmarshal(raw[sha256.Size:], &grant); err != nil {
		return links.Grant{}, false
	}
	return grant, true
}

func (g *grantSigner) mac(payload []byte) []byte {
	mac := hmac.New(sha256.New, g.key)
	mac.Write(payload)
	return mac.Sum(nil)
}
