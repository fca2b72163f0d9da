package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"takeover/capture"
	"takeover/session"
	"takeover/static"
	"takeover/web/demo"
	"takeover/web/snippets"
	"takeover/web/views"
)

// immutable is the Cache-Control of assets, whose names change with their
// content.
const immutable = "public, max-age=31536000, immutable"

// page returns the data that every page needs.
func (s *Server) page(c echo.Context) views.Page {
	return views.Page{
		Asset: static.Asset, Imports: static.Imports, Nonce: nonceOf(c), SignedIn: caller(c).operator(), Version: s.cfg.Version, Demo: s.cfg.Demo, Now: time.Now(),
		Embed: strings.Join(s.embedOrigins(c), " "),
	}
}

// render sends a page. It renders the whole page first, so that a failure does
// not send half a page.
func (s *Server) render(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	h := c.Response().Header()
	if h.Get(headerCSP) == contentPolicy { // the page of an error
		h.Set(headerCSP, s.policy(c, false))
	}
	return c.Blob(status, mimeHTML, b.Bytes())
}

// sampleElsewhere is the script that the editor starts with if there is no demo
// site.
const sampleElsewhere = `await page.goto('https://example.com/');

const help = await requestTakeover('Look at this page');
console.log('A person helped for', Math.round(help.durationMs / 1000), 's');

return await page.title();
`

// sample returns the script that the editor starts with.
func (s *Server) sample(base string) string {
	if s.cfg.Demo {
		return demo.SampleScript(base)
	}
	return sampleElsewhere
}

// problemPage returns the page for a failure.
func (s *Server) problemPage(c echo.Context, p problem) views.ProblemPage {
	page := s.page(c)
	switch p.Status {
	case http.StatusNotFound:
		for path, what := range map[string]string{"/sessions/": "session", "/takeover/": "request"} {
			if strings.HasPrefix(c.Request().URL.Path, path) && caller(c).operator() {
				most, age := s.manager.Kept()
				return views.NotKept(page, what, most, age)
			}
		}
		return views.NotFound(page)
	case http.StatusForbidden:
		return views.Forbidden(page)
	}
	return views.ProblemPage{Page: page, Status: p.Status, Title: p.Title, Detail: p.Detail, ActionURL: "/", ActionText: "All sessions"}
}

// pageSession handles GET /sessions/:id.
func (s *Server) pageSession(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	info := one.Info()
	if info.Status.Ended() {
		if !caller(c).operator() {
			return s.render(c, http.StatusGone, views.Problem(views.SessionEnded(s.page(c), info.EndReason)))
		}
		return s.render(c, http.StatusGone, views.Ended(s.endedPage(c, one)))
	}
	base := s.localURL()
	if base == "" {
		base = s.baseURL(c.Request())
	}
	guest := !caller(c).operator()
	role := caller(c).role(info.ID)
	var connections []views.Connection
	if !guest {
		connections = s.programLines(c, info.ID)
	}
	c.Response().Header().Set(headerCSP, s.policy(c, !guest)) // without the exception for the editor, which guests do not have
	return s.render(c, http.StatusOK, views.Session(views.SessionPage{
		Page: s.page(c), Session: sessionCard(one), Width: info.Dimensions.Width, Height: info.Dimensions.Height,
		Sample: s.sample(base), Guest: guest, Watch: role == session.RoleView, Capture: panelCapture(one), Connections: connections,
	}))
}

// programLines returns how programs connect to a session, or, without an id, to one that
// is made for them.
func (s *Server) programLines(c echo.Context, id string) (list []views.Connection) {
	devTools := ""
	if id != "" {
		devTools = s.devToolsURL(c.Request(), id)
	}
	for _, one := range snippets.Connections(s.baseURL(c.Request()), id, devTools) {
		list = append(list, views.Connection(one))
	}
	return list
}

// panelCapture returns the capture configuration of the events panel, combined
// with the configuration of a running capture.
func panelCapture(one *session.Session) string {
	config := capture.PanelConfig()
	if state, already, _ := one.Monitor().State(); state == capture.StateRunning {
		config = config.With(already)
	}
	text, err := json.Marshal(config)
	if err != nil {
		return "" // never happens for a struct of booleans
	}
	return string(text)
}

// pageTakeover handles GET /takeover/:id.
func (s *Server) pageTakeover(c echo.Context) error {
	t, err := s.findTakeover(c.Param("id"))
	if err != nil {
		return err
	}
	info, of := t.Info(), t.Session().Info()
	return s.render(c, http.StatusOK, views.Takeover(views.TakeoverPage{
		Page: s.page(c), ID: info.ID, SessionID: info.SessionID, Reason: info.Reason, Note: info.RequestNote, Kept: info.KeepsSteps || session.RecordingOf(t.Session()).Recording, For: askedBy(t), State: string(info.State),
		Deadline: info.Deadline, Width: of.Dimensions.Width, Height: of.Dimensions.Height,
	}))
}

// askedBy returns the name of the script that asked for a takeover. It is empty if
// a program asked, or a script that has no name of its own.
func askedBy(t *session.Takeover) string {
	r, err := t.Session().Run(t.Info().RunID)
	if err != nil || r.Info().Filename == session.DefaultFilename {
		return ""
	}
	return r.Info().Filename
}

// favicon handles GET /favicon.ico, which browsers request for responses other
// than our pages, such as pictures and JSON.
func (s *Server) favicon(c echo.Context) error {
	content, err := openAsset(path.Base(static.Asset("icon.svg")))
	if err != nil {
		return echo.ErrNotFound
	}
	defer content.Close()
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, mime.TypeByExtension(".svg"))
	h.Set(echo.HeaderCacheControl, "public, max-age=86400")
	http.ServeContent(c.Response(), c.Request(), "icon.svg", time.Time{}, content)
	return nil
}

// static handles GET /static/*. It serves only files of the build, by name, and
// compressed if the build has that form and the caller accepts it.
func (s *Server) static(c echo.Context) error {
	name := c.Param("*")
	if !fs.ValidPath(name) || path.Base(name) != name || name == ".keep" || name == "manifest.json" || path.Ext(name) == packed {
		return echo.ErrNotFound
	}
	h := c.Response().Header()
	h.Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
	if takesGzip(c.Request()) {
		if content, err := openAsset(name + packed); err == nil {
			defer content.Close()
			h.Set(echo.HeaderContentEncoding, "gzip")
			h.Set(echo.HeaderContentType, mime.TypeByExtension(path.Ext(name)))
			return serveAsset(c, name, content)
		}
	}
	content, err := openAsset(name)
	if err != nil {
		return echo.ErrNotFound
	}
	defer content.Close()
	return serveAsset(c, name, content)
}

// packed is the suffix of compressed assets.
const packed = ".gz"

// takesGzip reports whether a caller accepts gzip.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get(echo.HeaderAcceptEncoding), ",") {
		coding, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if coding == "gzip" && strings.TrimSpace(weight) != "q=0" {
			return true
		}
	}
	return false
}

// asset is a file of the build.
type asset interface {
	fs.File
	io.Seeker
}

func openAsset(name string) (asset, error) {
	f, err := static.Files().Open(name)
	if err != nil {
		return nil, err
	}
	content, ok := f.(asset)
	if info, err := f.Stat(); !ok || err != nil || info.IsDir() {
		return nil, errors.Join(fs.ErrNotExist, f.Close())
	}
	return content, nil
}

func serveAsset(c echo.Context, name string, content asset) error {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, immutable)
	if name == static.Viewer {
		// Pages of other sites load it by a name that does not change, so browsers
		// ask each time whether their copy is still the newest.
		sum := sha256.New()
		_, copied := io.Copy(sum, content)
		_, sought := content.Seek(0, io.SeekStart)
		if err := errors.Join(copied, sought); err != nil {
			return fmt.Errorf("read asset: %w", err)
		}
		h.Set(echo.HeaderCacheControl, "no-cache")
		h.Set("ETag", fmt.Sprintf("%q", hex.EncodeToString(sum.Sum(nil))))
		h.Set(echo.HeaderAccessControlAllowOrigin, "*")
	}
	http.ServeContent(c.Response(), c.Request(), name, time.Time{}, content)
	return nil
}

// forGuests reports whether a request is for a page that share links lead to. Its
// visitor may have a secret in the fragment, which the server never sees.
func (s *Server) forGuests(c echo.Context) bool {
	for _, r := range s.table {
		if r.path == c.Path() {
			return r.access == guests
		}
	}
	return false
}
