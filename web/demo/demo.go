// Package demo is a small site under /demo/: a sign-in form, a slider captcha, a
// code from a phone, a welcome page, and a small page for each kind of task that
// a script may have to do. The sample script, the examples and the tests use it,
// so that they work without the internet. It needs no key and protects nothing.
package demo

import (
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"math/big"
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
)

// The account of the demo site. Its sign-in page shows both.
const (
	Email    = "demo@example.com"
	Password = "open-sesame"
	UserName = "Demo User"
)

const (
	cookieName = "takeover_demo"
	prefix     = "/demo/"
	// maxForm bounds the forms of this site in bytes. The longest contains the
	// positions of a dragged slider.
	maxForm = 64 << 10
)

//go:embed site
var files embed.FS

// pages are the templates by name, each inside the common frame. They are parsed
// when the first page is shown, because most processes of this program, such as
// the workers of scripts, show none.
var pages = sync.OnceValue(func() map[string]*template.Template {
	all := template.Must(template.ParseFS(files, "site/*.html"))
	parsed := map[string]*template.Template{}
	for _, page := range all.Templates() {
		whole := template.Must(all.Clone())
		parsed[page.Name()] = template.Must(whole.AddParseTree("content", page.Tree))
	}
	return parsed
})

// view is the data for the templates.
type view struct {
	Data     any // data for one page only
	Page     string
	Title    string
	Email    string
	Password string
	Name     string
	Code     string
	Error    string
	Puzzle   int
	Width    int
	Height   int
	Piece    int
	Top      int
}

// Register adds the site's routes to a group whose prefix is /demo.
func Register(g *echo.Group) {
	s := &site{visits: newVisits()}
	g.GET("", func(c echo.Context) error { return c.Redirect(http.StatusFound, prefix) })
	g.GET("/", s.index)
	g.GET("/login", s.showLogin)
	g.POST("/login", s.login)
	g.GET("/captcha", s.showCaptcha)
	g.GET("/captcha/:image", s.captchaImage)
	g.POST("/captcha", s.captcha)
	g.GET("/code", s.showCode)
	g.POST("/code", s.code)
	g.GET("/phone", s.phone)
	g.GET("/welcome", s.welcome)
	g.POST("/logout", s.logout)
	g.GET("/demo.css", asset("site/demo.css", "text/css; charset=utf-8"))
	g.GET("/demo.js", asset("site/demo.js", "text/javascript; charset=utf-8"))
	g.GET("/pages.js", asset("site/pages.js", "text/javascript; charset=utf-8"))
	s.registerShop(g)
	s.registerService(g)
	s.registerTransfer(g)
}

func asset(name, contentType string) echo.HandlerFunc {
	data, err := files.ReadFile(name)
	if err != nil { // the file is part of the source tree
		panic(err)
	}
	return func(c echo.Context) error {
		c.Response().Header().Set("Cache-Control", "no-cache")
		return c.Blob(http.StatusOK, contentType, data)
	}
}

type site struct{ visits *visits }

// visit returns the visitor's state, and creates it on the first visit.
func (s *site) visit(c echo.Context) *visit {
	if cookie, err := c.Cookie(cookieName); err == nil {
		if v := s.visits.get(cookie.Value); v != nil {
			return v
		}
	}
	id, v := s.visits.create()
	c.SetCookie(&http.Cookie{Name: cookieName, Value: id, Path: prefix, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	return v
}

func (s *site) render(c echo.Context, status int, v view) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
	c.Response().WriteHeader(status)
	if err := pages()[v.Page].ExecuteTemplate(c.Response(), "page", v); err != nil {
		return fmt.Errorf("render demo page: %w", err)
	}
	return nil
}

func (s *site) showLogin(c echo.Context) error {
	s.visit(c)
	return s.render(c, http.StatusOK, loginView(""))
}

func loginView(problem string) view {
	return view{Page: "login", Title: "Sign in", Email: Email, Password: Password, Error: problem}
}

func (s *site) login(c echo.Context) error {
	limitBody(c)
	v := s.visit(c)
	email, password := strings.TrimSpace(c.FormValue("email")), c.FormValue("password")
	if !strings.EqualFold(email, Email) || !same(password, Password) {
		return s.render(c, http.StatusUnprocessableEntity, loginView("That email and password do not match."))
	}
	v.signIn()
	return c.Redirect(http.StatusSeeOther, prefix+"captcha")
}

func (s *site) showCaptcha(c echo.Context) error {
	v := s.visit(c)
	if v.at() < atCaptcha {
		return c.Redirect(http.StatusFound, prefix+"login")
	}
	p := v.newPuzzle()
	return s.render(c, http.StatusOK, view{
		Page: "captcha", Title: "One more check", Puzzle: p.number, Width: sceneWidth, Height: sceneHeight, Piece: pieceSize, Top: p.top,
	})
}

func (s *site) captchaImage(c echo.Context) error {
	p := s.visit(c).currentPuzzle()
	if p == nil {
		return echo.ErrNotFound
	}
	var data []byte
	var err error
	switch c.Param("image") {
	case "scene.png":
		data, err = p.scene()
	case "piece.png":
		data, err = p.piece()
	default:
		return echo.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("draw captcha: %w", err)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Blob(http.StatusOK, "image/png", data)
}

// captcha checks a drag. The page sends the positions of the handle with their
// times.
func (s *site) captcha(c echo.Context) error {
	limitBody(c)
	v := s.visit(c)
	var answer struct {
		Trail []point `json:"trail"`
	}
	if err := c.Bind(&answer); err != nil {
		return c.JSON(http.StatusBadRequest, map[string]any{"ok": false})
	}
	if err := v.solve(answer.Trail); err != nil {
		p := v.newPuzzle()
		return c.JSON(http.StatusOK, map[string]any{"ok": false, "why": err.Error(), "puzzle": p.number, "top": p.top})
	}
	return c.JSON(http.StatusOK, map[string]any{"ok": true, "next": prefix + "code"})
}

func (s *site) showCode(c echo.Context) error {
	v := s.visit(c)
	if v.at() < atCode {
		return c.Redirect(http.StatusFound, prefix+"login")
	}
	return s.render(c, http.StatusOK, view{Page: "code", Title: "Enter the code", Code: v.code()})
}

func (s *site) code(c echo.Context) error {
	limitBody(c)
	v := s.visit(c)
	typed := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, c.FormValue("code"))
	if err := v.enter(typed); err != nil {
		if errors.Is(err, errTooEarly) {
			return c.Redirect(http.StatusSeeOther, prefix+"login")
		}
		return s.render(c, http.StatusUnprocessableEntity, view{Page: "code", Title: "Enter the code", Code: v.code(), Error: "That is not the code. A new one was sent."})
	}
	return c.Redirect(http.StatusSeeOther, prefix+"welcome")
}

// phone shows the device that receives the code.
func (s *site) phone(c echo.Context) error {
	return s.render(c, http.StatusOK, view{Page: "phone", Title: "Messages", Code: s.visit(c).code()})
}

func (s *site) welcome(c echo.Context) error {
	if s.visit(c).at() < atWelcome {
		return c.Redirect(http.StatusFound, prefix+"login")
	}
	return s.render(c, http.StatusOK, view{Page: "welcome", Title: "Welcome", Name: UserName})
}

func (s *site) logout(c echo.Context) error {
	if cookie, err := c.Cookie(cookieName); err == nil {
		s.visits.drop(cookie.Value)
	}
	return c.Redirect(http.StatusSeeOther, prefix+"login")
}

func limitBody(c echo.Context) {
	c.Request().Body = http.MaxBytesReader(c.Response(), c.Request().Body, maxForm)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func newCode() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil { // crypto/rand does not fail on our systems
		panic(err)
	}
	return fmt.Sprintf("%06d", n)
}

func newID() string {
	b := make([]byte, 18)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// SampleScript returns the script that the editor starts with. It signs in to the
// demo site and asks a person for the parts that it cannot do. baseURL is the
// server's address for the session's browser, without a slash at the end.
func SampleScript(baseURL string) string {
	return fmt.Sprintf(sample, baseURL, Email)
}

const sample = `// Signs in to the demo site, with a person's help
// for the password, the slider and the code.
await page.goto('%s/demo/login');
await page.getByLabel('Email').fill('%s');

const help = await requestTakeover('Sign in to the demo site', {
  note: 'The password is on the page. Then comes a slider, then a code.',
});
console.log('A person helped for', Math.round(help.durationMs / 1000), 's');

await page.waitForURL('**/demo/welcome');
return await page.locator('#user-name').textContent();
`
