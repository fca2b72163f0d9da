package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/door/steel"
	"takeover/session"
)

// sessionView is a session as the API returns it: the fields of session.Info, and
// those that only this package knows.
type sessionView struct {
	session.Info
	WebsocketURL     string   `json:"websocketUrl" doc:"The browser's socket for programs that speak the DevTools protocol; add the key as ?apiKey= or in a header."`
	DevToolsURL      string   `json:"devtoolsUrl,omitempty" doc:"Opens Chrome's DevTools on the page that people see: append the key, and open it in Chrome. Only if the server was started with --allowed-origins devtools://devtools."`
	DebugURL         string   `json:"debugUrl" doc:"The same as sessionViewerUrl."`
	SessionViewerURL string   `json:"sessionViewerUrl" doc:"The page in which people see the session and take it over."`
	Script           string   `json:"script,omitempty" doc:"What the session ran last: the script's name, or what its first comment says. Not for share links."`
	Node             string   `json:"node,omitempty" doc:"In a cluster: the name of the server that has the session."`
	Warnings         []string `json:"warnings,omitempty" doc:"Fields of the request that have no effect. Only in the answer to a create."`
	*steel.Session            // for Steel's client
}

// releasedView is the response to a release.
type releasedView struct {
	sessionView
	Success bool   `json:"success" doc:"true."`
	Message string `json:"message" doc:"What happened, for a person."`
}

// releaseAllView is the response to releasing all sessions.
type releaseAllView struct {
	Success  bool     `json:"success" doc:"Whether all of them ended."`
	Message  string   `json:"message" doc:"What happened, for a person."`
	Released []string `json:"released" doc:"Ids of the sessions."`
	Missing  []string `json:"missing,omitempty" doc:"Nodes of the cluster that did not answer in time. Their sessions may live on."`
}

// changeRequest is the body of a change.
type changeRequest struct {
	Timeout    *int64          `json:"timeout,omitempty" doc:"The session's life from its start, in milliseconds. If that has passed, the session ends." min:"1000" max:"86400000"`
	Metadata   *map[string]any `json:"metadata,omitempty" doc:"Replaces the metadata. At most 64 KiB as JSON."`
	Dimensions *sizeRequest    `json:"dimensions,omitempty" doc:"The size of the session's tabs and of those that open later, in CSS pixels."`
}

// viewOf returns a session in the form for the caller. A guest sees neither
// metadata nor addresses that need a key.
func (s *Server) viewOf(c echo.Context, one *session.Session) sessionView {
	info := one.Info()
	base := s.baseURL(c.Request())
	v := sessionView{Info: info, SessionViewerURL: base + "/sessions/" + info.ID, DebugURL: base + "/sessions/" + info.ID}
	if !caller(c).operator() {
		v.Metadata, v.StartURL = map[string]any{}, ""
		if grant, _ := caller(c).grant(info.ID); v.Takeover != nil && grant.Takeover != "" && grant.Takeover != v.Takeover.ID {
			v.Takeover = nil // it is another person's
		} else if v.Takeover != nil {
			v.Takeover = new(v.Takeover.ForGuests(grant.Role))
		}
		if !mayLook(c, one) {
			v.URL, v.Title, v.Tabs = "", "", []session.Tab{}
		}
		return v
	}
	if lost, ok := lostOf(c); ok {
		v.Node = lost.node
	} else if s.cfg.Cluster != nil {
		v.Node = s.cfg.Cluster.Name()
	}
	v.Script = cmp.Or(scriptOf(one, time.Time{}))
	v.WebsocketURL = s.cdpURL(c.Request(), info.ID)
	v.DevToolsURL = s.devToolsURL(c.Request(), info.ID)
	if forSteel(c) {
		v.Session, v.Status = steel.SessionOf(one), session.Status(steel.Status(info.Status))
	}
	return v
}

// mayLook reports whether the caller may see the session's page. A guest with a
// takeover's link may see it while the takeover is open.
func mayLook(c echo.Context, one *session.Session) bool {
	grant, guest := caller(c).grant(one.ID())
	if !guest || grant.Takeover == "" {
		return true
	}
	t, err := one.Takeover(grant.Takeover)
	return err == nil && t.Info().State.Open()
}

var statuses = []string{"starting", "live", "crashed", "released", "failed"}

// listSessions handles GET /v1/sessions.
func (s *Server) listSessions(c echo.Context) error {
	all := s.manager.List()
	if want := c.QueryParam("status"); want != "" {
		if !slices.Contains(statuses, want) {
			return badField("status", "must be one of %s", strings.Join(statuses, ", "))
		}
		all = slices.DeleteFunc(all, func(one *session.Session) bool { return string(one.Status()) != want })
	}
	return listOfNodes(s, c, "sessions", all, newestFirst,
		func(one *session.Session) position { return position{one.Info().CreatedAt, one.ID()} },
		func(one *session.Session) sessionView { return s.viewOf(c, one) })
}

// getSession handles GET /v1/sessions/:id.
func (s *Server) getSession(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, s.viewOf(c, one))
}

// changeSession handles PATCH /v1/sessions/:id.
func (s *Server) changeSession(c echo.Context) error {
	var req changeRequest
	one, err := s.actOn(c, &req)
	if err != nil {
		return err
	}
	var v checks
	if req.Metadata != nil {
		v.metadata(*req.Metadata)
	}
	if err := v.err(); err != nil {
		return err
	}
	if d := req.Dimensions; d != nil {
		if err := one.Resize(c.Request().Context(), session.Dimensions{Width: d.Width, Height: d.Height}); err != nil {
			return err
		}
	}
	if req.Timeout != nil {
		if err := one.Extend(duration(req.Timeout)); err != nil {
			return err
		}
	}
	if req.Metadata != nil {
		if err := one.SetMetadata(*req.Metadata); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, s.viewOf(c, one))
}

// releaseSession handles POST /v1/sessions/:id/release and DELETE
// /v1/sessions/:id.
func (s *Server) releaseSession(c echo.Context) error {
	if err := readJSON(c, bodyLimit, &struct{}{}); err != nil {
		return err
	}
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	if err := one.Release(endReason(c)); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, releasedView{sessionView: s.viewOf(c, one), Success: true, Message: "The session was released."})
}

// endReason returns why a session ends that a caller releases: programs have a key, and
// people on our pages a sign-in.
func endReason(c echo.Context) string {
	if caller(c).kind == signedIn {
		return "ended by a person"
	}
	return "released"
}

// forgetSession handles POST /v1/sessions/:id/forget. DELETE does not do this, because it is
// another name of release, and programs repeat it.
func (s *Server) forgetSession(c echo.Context) error {
	if err := readJSON(c, bodyLimit, &struct{}{}); err != nil {
		return err
	}
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	if err := s.manager.Forget(c.Request().Context(), one); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// releaseAll handles POST /v1/sessions/release.
func (s *Server) releaseAll(c echo.Context) error {
	if err := readJSON(c, bodyLimit, &struct{}{}); err != nil {
		return err
	}
	out := releaseAllView{Success: true, Released: []string{}}
	all := slices.DeleteFunc(s.manager.List(), func(one *session.Session) bool { return one.Status().Ended() })
	released := make([]bool, len(all))
	var work sync.WaitGroup
	reason := endReason(c)
	for i, one := range all { // in parallel, because each waits for its Chromium to end
		work.Go(func() { released[i] = one.Release(reason) == nil }) // false if it has ended by itself meanwhile
	}
	work.Wait()
	for i, one := range all {
		if released[i] {
			out.Released = append(out.Released, one.ID())
		}
	}
	others, missing := ofNodes[releaseAllView](s, c, releaseTime)
	for _, other := range others {
		out.Released = append(out.Released, other.Released...)
	}
	out.Success, out.Missing = len(missing) == 0, missing
	out.Message = fmt.Sprintf("%d sessions were released.", len(out.Released))
	return c.JSON(http.StatusOK, out)
}

// getContext handles GET /v1/sessions/:id/context.
func (s *Server) getContext(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	state, err := one.StorageState(c.Request().Context())
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	if forSteel(c) {
		both, err := steel.AddContext(state)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, both)
	}
	return c.JSON(http.StatusOK, state)
}

// getScreenshot handles GET /v1/sessions/:id/screenshot.
func (s *Server) getScreenshot(c echo.Context) error {
	format := c.QueryParam("format")
	switch format {
	case "":
		format = "png"
	case "jpg":
		format = "jpeg"
	case "png", "jpeg", "webp":
	default:
		return badField("format", "must be one of png, jpeg, webp")
	}
	full := false
	if text := c.QueryParam("fullPage"); text != "" {
		var err error
		if full, err = strconv.ParseBool(text); err != nil {
			return badField("fullPage", "must be true or false")
		}
	}
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	image, mime, err := one.Screenshot(c.Request().Context(), format, full)
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, mime, image)
}

// getThumbnail handles GET /v1/sessions/:id/thumbnail.
func (s *Server) getThumbnail(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	if !mayLook(c, one) {
		return session.ErrTakeoverState
	}
	if one.Info().Status.Ended() {
		if image, err := session.LastFilmPicture(one); err == nil {
			return c.Blob(http.StatusOK, "image/jpeg", image)
		}
	}
	image, mime, err := one.Thumbnail(c.Request().Context())
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, mime, image)
}

// getPicture handles GET /v1/sessions/:id/picture.
func (s *Server) getPicture(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	image, err := one.LastPicture(c.Request().Context())
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "image/jpeg", image)
}
