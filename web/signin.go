package web

import (
	"crypto/sha256"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/cluster"
	"takeover/limits"
	"takeover/web/views"
)

const (
	// codeTime is how long a sign-in link is valid.
	codeTime = 24 * time.Hour
	// maxCodes bounds the open sign-in links.
	maxCodes = 100
	// formLimit bounds the sign-in form, in bytes.
	formLimit = 64 << 10
)

// signInCodes are the one-time codes of sign-in links. A link contains a code
// instead of the key, so that a terminal's scrollback or a log does not reveal
// the key. In a cluster, the node that made a code redeems it.
type signInCodes struct {
	limits *limits.Hits

	mu    sync.Mutex // guards codes
	codes map[[sha256.Size]byte]signInCode
}

type signInCode struct {
	entry   *keyEntry
	expires time.Time
}

func newSignInCodes(hits *limits.Hits) *signInCodes {
	return &signInCodes{limits: hits, codes: map[[sha256.Size]byte]signInCode{}}
}

// create returns a code for a key. A named one says the key's id, for other nodes, before its
// secret.
func (s *signInCodes) create(e *keyEntry, named bool) string {
	code := newSecret()
	if named {
		code = e.id + "." + code
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.codes) >= maxCodes {
		s.limits.Add(limits.SignInLinks, 1)
		clear(s.codes)
	}
	s.codes[sha256.Sum256([]byte(code))] = signInCode{entry: e, expires: time.Now().Add(codeTime)}
	return code
}

// take redeems a code.
func (s *signInCodes) take(code string) *keyEntry {
	hash := sha256.Sum256([]byte(code))
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.codes[hash]
	delete(s.codes, hash)
	if !ok || time.Now().After(found.expires) {
		return nil
	}
	return found.entry
}

// SignInPath returns a sign-in link for one use within a day, as a path on the
// server. It leads to the path next or, if next is empty, to the list of sessions.
func (s *Server) SignInPath(next string) string {
	q := url.Values{"code": {s.withNode(s.codes.create(&s.keys.entries[0], s.cfg.Cluster != nil))}}
	if next != "" {
		q.Set("next", next)
	}
	return "/login?" + q.Encode()
}

// pageLogin handles GET /login: the form, or the target of a sign-in link. It does
// not redeem the code, because pages of other sites can make a browser load this
// address: they could use up the code, or the operator's tries. The page posts the
// code instead.
func (s *Server) pageLogin(c echo.Context) error {
	if c.QueryParam("code") != "" && caller(c).operator() { // the link was opened twice in the same browser
		return c.Redirect(http.StatusSeeOther, localPath(c.QueryParam("next")))
	}
	return s.renderLogin(c, http.StatusOK, "")
}

// login handles POST /login, as a form or as JSON.
func (s *Server) login(c echo.Context) error {
	given, raw, err := readLogin(c)
	if err != nil {
		return err
	}
	if given.Code != "" && caller(c).operator() { // the link was opened twice in the same browser
		return c.Redirect(http.StatusSeeOther, localPath(given.Next))
	}
	if wait := s.signIns.empty(limitedAs(c.Request().RemoteAddr)); wait > 0 {
		return s.tooMany(s.signIns, wait)
	}
	e, where, wrong := s.keys.match(strings.TrimSpace(given.Key)), "sign-in", "This key is not correct."
	if given.Code != "" {
		code, node, err := s.nodeOfSecret(c.Request(), given.Code)
		if err != nil {
			return err
		}
		where, wrong = "code", "This sign-in link was used before or has expired. Sign in with the key, or restart the server for a new link."
		switch id, _, _ := strings.Cut(code, "."); {
		case node == nil:
			e = s.codes.take(code)
		case s.keys.byID(id) != nil:
			return s.loginAt(c, node, raw)
		default: // its cookie would be worth nothing here
			wrong = "This server does not have the key of this sign-in link. Open the link at the server that made it, and give all servers of the cluster the same keys."
		}
	}
	if e == nil {
		s.signIns.take(limitedAs(c.Request().RemoteAddr))
		s.wrongKey(c.Request(), where)
		if given.asForm && wantsHTML(c.Request()) {
			return s.renderLogin(c, http.StatusUnauthorized, wrong)
		}
		return &failure{kind: kindNoKey, detail: wrong}
	}
	s.setSignIn(c, e)
	if !given.asForm {
		return c.NoContent(http.StatusNoContent)
	}
	return c.Redirect(http.StatusSeeOther, localPath(given.Next))
}

// loginAt redeems a code at the node that made it. A wrong code counts here, too.
func (s *Server) loginAt(c echo.Context, node *cluster.Node, raw []byte) error {
	err := s.forward(c, node, raw)
	if c.Response().Status == http.StatusUnauthorized {
		s.signIns.take(limitedAs(c.Request().RemoteAddr))
	}
	return err
}

// loginRequest is the body of a sign-in, with a key or the code of a link.
type loginRequest struct {
	Key  string `json:"key,omitempty"`
	Code string `json:"code,omitempty"`
	Next string `json:"next,omitempty"`

	asForm bool
}

// readLogin reads a sign-in; raw is the body as it came.
func readLogin(c echo.Context) (given loginRequest, raw []byte, err error) {
	if raw, err = readBody(c, formLimit); err != nil {
		return given, nil, err
	}
	kind, _, _ := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
	if kind == echo.MIMEApplicationJSON {
		err = decodeObject(raw, &given)
		return given, raw, err
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return given, raw, &failure{kind: kindBadInput, detail: "The form cannot be read.", err: err}
	}
	return loginRequest{Key: form.Get("key"), Code: form.Get("code"), Next: form.Get("next"), asForm: true}, raw, nil
}

func (s *Server) setSignIn(c echo.Context, e *keyEntry) {
	value, expires := s.signer.sign(e)
	s.noteProxy(c.Request())
	s.log.Info("signed in", "key", e.id, "from", peerOf(c.Request()))
	c.SetCookie(s.newCookie(c.Request(), signInCookie, value, expires))
}

// logout handles POST /logout.
func (s *Server) logout(c echo.Context) error {
	// Also one that has ended here already, because other nodes may not know that yet.
	if cookie, err := c.Request().Cookie(s.cookieName(c.Request(), signInCookie)); err == nil {
		if err := s.signer.revoke(cookie.Value); err != nil {
			return err
		}
	}
	gone := s.newCookie(c.Request(), signInCookie, "", time.Unix(1, 0))
	gone.MaxAge = -1
	c.SetCookie(gone)
	return c.Redirect(http.StatusSeeOther, "/login")
}

func (s *Server) renderLogin(c echo.Context, status int, message string) error {
	next := c.QueryParam("next")
	if status == http.StatusUnauthorized && c.Path() != "/login" && c.Request().Method == http.MethodGet {
		next = c.Request().URL.Path
	}
	if next = localPath(next); next == "/" {
		next = ""
	}
	code := ""
	if status == http.StatusOK {
		code = c.QueryParam("code")
	}
	return s.render(c, status, views.Login(views.LoginPage{Page: s.page(c), Next: next, Code: code, Error: message}))
}

// localPath returns next if it is a path of this server, and otherwise "/", the
// list of sessions. Browsers treat "//host" and "/\host" as other servers.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
