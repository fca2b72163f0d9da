package web

import (
	"context"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"takeover/door/browserless"
	"takeover/door/cdp"
	"takeover/door/page"
	"takeover/session"
	"takeover/text"
)

// This file mounts the calls of Browserless' API, package door/browserless. All of
// them take the key as ?token=.

// launchQuery names the parameters of the calls that open a session of their own.
var launchQuery = append(slices.Sorted(maps.Keys(socketOptions)), "launch")

// carriedKey returns the part of a query that carries the caller's key on, if it
// came in the query.
func carriedKey(c echo.Context) string {
	query := url.Values{}
	for _, name := range queryKeys {
		if value := c.QueryParam(name); value != "" {
			query.Set(name, value)
		}
	}
	return query.Encode()
}

// browserlessVersion handles GET /json/version.
func (s *Server) browserlessVersion(c echo.Context) error {
	socket := s.socketURL(c.Request()) + "/"
	if key := carriedKey(c); key != "" {
		socket += "?" + key
	}
	version := browserless.Version{Browser: "Takeover/" + s.cfg.Version, ProtocolVersion: cdp.ProtocolVersion, WebSocketDebuggerURL: socket}
	if b, ok := session.DescribeChromium(s.manager); ok {
		version.Browser, version.UserAgent, version.V8Version, version.WebKitVersion = b.Product, b.UserAgent, b.JSVersion, b.WebKit()
	}
	return c.JSON(http.StatusOK, version)
}

// browserlessSessions handles GET /sessions.
func (s *Server) browserlessSessions(c echo.Context) error {
	if c.Request().Method == http.MethodGet && wantsHTML(c.Request()) {
		return c.Redirect(http.StatusSeeOther, "/") // somebody has typed it
	}
	key := carriedKey(c)
	list := []browserless.Session{}
	for _, one := range s.manager.List() {
		if one.Status().Ended() {
			continue
		}
		id, base := one.ID(), s.baseURL(c.Request())
		socket, kill := s.cdpURL(c.Request(), id), base+"/kill/"+id
		if key != "" {
			socket, kill = socket+"&"+key, kill+"?"+key
		}
		list = append(list, browserless.SessionOf(one, socket, base+"/sessions/"+id, kill))
	}
	others, _ := ofNodes[[]browserless.Session](s, c, listTime) // the form has no place for nodes that are missing
	list = append(list, slices.Concat(others...)...)
	return c.JSON(http.StatusOK, list)
}

// browserlessKill handles GET /kill/:id.
func (s *Server) browserlessKill(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	if err := one.Release("released"); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// browserlessContent handles POST /content.
func (s *Server) browserlessContent(c echo.Context) error {
	req := &browserless.ContentRequest{}
	return s.answerPage(c, req, &req.PageRequest)
}

// browserlessScreenshot handles POST /screenshot.
func (s *Server) browserlessScreenshot(c echo.Context) error {
	req := &browserless.ScreenshotRequest{}
	return s.answerPage(c, req, &req.PageRequest)
}

// browserlessPDF handles POST /pdf.
func (s *Server) browserlessPDF(c echo.Context) error {
	req := &browserless.PDFRequest{}
	return s.answerPage(c, req, &req.PageRequest)
}

// pageReader is the request of a call that reads one page.
type pageReader interface {
	Check() error
	Read(context.Context, page.Page) (*browserless.Answer, error)
}

// answerPage reads a request and answers it. common is a part of the request. Its fields
// win over those of the query.
func (s *Server) answerPage(c echo.Context, req pageReader, common *browserless.PageRequest) error {
	if err := readJSON(c, createBodyLimit, req); err != nil {
		return err
	}
	if err := req.Check(); err != nil {
		return err
	}
	create, err := createRequestOf(c.QueryParams())
	if err != nil {
		return err
	}
	create.ExtraHTTPHeaders, create.noJavaScript = common.SetExtraHTTPHeaders, common.NoJavaScript()
	if common.UserAgent != "" {
		create.UserAgent = common.UserAgent
	}
	if v := common.Viewport; v != nil {
		create.Dimensions, create.DeviceScaleFactor, create.IsMobile = &sizeRequest{Width: v.Width, Height: v.Height}, v.DeviceScaleFactor, v.IsMobile
	}
	if len(common.Cookies) > 0 {
		state, err := json.Marshal(map[string]json.RawMessage{"cookies": common.Cookies})
		if err != nil {
			return badField("cookies", "must be a list of cookies")
		}
		create.SessionContext = state
	}
	var answer *browserless.Answer
	err = s.onPage(c, create, func(ctx context.Context, p page.Page) (err error) {
		answer, err = req.Read(ctx, p)
		return err
	})
	if err != nil {
		return pageFailure(err)
	}
	return sendAnswer(c, answer.Type, answer.Body)
}

// sendAnswer sends what a page gave. It is not a page of ours, so browsers must give
// it none of the rights of this origin.
func sendAnswer(c echo.Context, mime string, content []byte) error {
	h := c.Response().Header()
	h.Set(headerCSP, "sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(echo.HeaderCacheControl, "no-store")
	return c.Blob(http.StatusOK, mime, content)
}

// browserlessFunction handles POST /function: a JSON body with the code, or the
// code itself.
func (s *Server) browserlessFunction(c echo.Context) error {
	var req browserless.FunctionRequest
	kind, _, _ := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType)) // without a type, the body is JSON
	if strings.HasSuffix(kind, "/javascript") || strings.HasSuffix(kind, "/typescript") {
		raw, err := readBody(c, scriptLimit)
		if err != nil {
			return err
		}
		req.Code = string(raw)
	} else if err := readJSON(c, scriptBodyLimit, &req); err != nil {
		return err
	}
	create, err := createRequestOf(c.QueryParams())
	if err != nil {
		return err
	}
	code, err := req.Script()
	if err != nil {
		return err
	}
	opts, err := s.runOptions(c, &scriptRequest{Code: code, Args: req.Context, Filename: "function.js"})
	if err != nil {
		return err
	}
	one, end, err := s.ownSession(c, create)
	if err != nil {
		return err
	}
	defer end("its function ended")
	run, err := one.StartRun(opts)
	if err != nil {
		return err
	}
	select {
	case <-run.Done():
	case <-c.Request().Context().Done():
		return c.Request().Context().Err()
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	info := run.Info()
	if info.Status != session.RunSucceeded {
		detail := "The function ended as " + string(info.Status) + "."
		if info.Error != nil {
			detail = text.Sentence(info.Error.Name + ": " + info.Error.Message)
		}
		return &failure{kind: kindPage, detail: detail}
	}
	answer, err := browserless.FunctionAnswer(info.Result)
	if err != nil {
		return err
	}
	return sendAnswer(c, answer.Type, answer.Body)
}
