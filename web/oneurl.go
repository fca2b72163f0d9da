package web

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"takeover/door/cdp"
	"takeover/session"
)

// This file serves programs that know one address of the server: a socket whose query
// says what session they want, and what Chromium's debugging port answers at its root.

// cdpRoot handles a WebSocket at /. Without a session's id, the connection gets a
// session of its own, which ends with it.
func (s *Server) cdpRoot(c echo.Context) error {
	if c.QueryParam("sessionId") != "" || c.QueryParam("session") != "" {
		return s.cdpSocket(c)
	}
	if !websocketAsked(c.Request()) { // at /chromium, where no page is
		return badField("Upgrade", "connect with a WebSocket, as programs that speak the DevTools protocol do")
	}
	req, err := createRequestOf(c.QueryParams())
	if err != nil {
		return err
	}
	one, end, err := s.ownSession(c, req)
	if err != nil {
		return err
	}
	defer end("its client left")
	return s.serveCDP(c, one, "")
}

// socketOptions are the parameters of an address that gives a session.
var socketOptions = map[string]func(v *checks, r *createRequest, value string){
	"timeout": func(v *checks, r *createRequest, value string) {
		ms, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			v.add("timeout", "must be a number of milliseconds")
		}
		r.Timeout = &ms
	},
	"profile":   func(_ *checks, r *createRequest, value string) { r.Profile = value },
	"persist":   func(v *checks, r *createRequest, value string) { r.Persist = v.flag("persist", value) },
	"proxyUrl":  func(_ *checks, r *createRequest, value string) { r.ProxyURL = value },
	"blockAds":  func(v *checks, r *createRequest, value string) { r.BlockAds = v.flag("blockAds", value) },
	"userAgent": func(_ *checks, r *createRequest, value string) { r.UserAgent = value },
	"viewport":  func(v *checks, r *createRequest, value string) { r.Dimensions = v.size("viewport", value, "x") },
}

// createRequestOf reads the parameters of an address that gives a session. The error
// names all that are wrong, and those that do not exist.
func createRequestOf(query url.Values) (*createRequest, error) {
	var v checks
	r := &createRequest{}
	if values := query["launch"]; len(values) > 0 { // first: what the address itself says wins
		v.launch(r, values[len(values)-1])
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values := query[name]
		switch set := socketOptions[name]; {
		case slices.Contains(queryKeys, name), name == "launch":
		case set == nil:
			v.add(name, "is no option of this address")
		default:
			set(&v, r, values[len(values)-1])
		}
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	return r, checkBounds(r)
}

// flag reads a parameter that is on or off; without a value, it is on.
func (v *checks) flag(field, value string) bool {
	switch value {
	case "", "true", "1":
		return true
	case "false", "0":
	default:
		v.add(field, "must be true or false")
	}
	return false
}

// size reads a width and a height.
func (v *checks) size(field, value, separator string) *sizeRequest {
	width, height, _ := strings.Cut(value, separator)
	w, err := strconv.Atoi(strings.TrimSpace(width))
	h, errH := strconv.Atoi(strings.TrimSpace(height))
	if err != nil || errH != nil {
		v.add(field, "must be a width and a height, such as 1280%s720", separator)
		return nil
	}
	return &sizeRequest{Width: w, Height: h}
}

// launchOptions are what Browserless' clients put into launch: the options of
// puppeteer.launch.
type launchOptions struct {
	Headless        json.RawMessage `json:"headless"` // without effect: every session has a live view
	Timeout         json.RawMessage `json:"timeout"`  // likewise: how long a start may take
	Args            []string        `json:"args"`
	DefaultViewport *struct {
		Width             int     `json:"width"`
		Height            int     `json:"height"`
		DeviceScaleFactor float64 `json:"deviceScaleFactor"`
		IsMobile          bool    `json:"isMobile"`
		HasTouch          bool    `json:"hasTouch"`
		IsLandscape       bool    `json:"isLandscape"`
	} `json:"defaultViewport"`
}

// launch reads launch: JSON, or that in base64. Switches of Chromium that have a field
// of a session are read; others are refused by name.
func (v *checks) launch(r *createRequest, value string) {
	if raw, err := base64.StdEncoding.DecodeString(value); err == nil && json.Valid(raw) {
		value = string(raw)
	}
	var o launchOptions
	if err := decodeObject([]byte(value), &o); err != nil {
		f, ok := errors.AsType[*failure](err)
		if !ok || len(f.fields) == 0 {
			v.add("launch", "must be a JSON object, or one in base64")
			return
		}
		for _, field := range f.fields {
			v.add("launch."+field.Field, "%s", field.Error)
		}
		return
	}
	if d := o.DefaultViewport; d != nil {
		r.Dimensions, r.DeviceScaleFactor, r.IsMobile = &sizeRequest{Width: d.Width, Height: d.Height}, d.DeviceScaleFactor, d.IsMobile
	}
	for i, arg := range o.Args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "--user-agent":
			r.UserAgent = value
		case "--lang":
			r.Locale = value
		case "--proxy-server":
			r.ProxyURL = value
		case "--window-size":
			r.Dimensions = v.size(fmt.Sprintf("launch.args[%d]", i), value, ",")
		case "--no-sandbox", "--disable-setuid-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--headless": // of programs that start a Chromium themselves
		default:
			v.add(fmt.Sprintf("launch.args[%d]", i), "is no switch that a session takes")
		}
	}
}

// cdpListAll handles GET /json/list: the pages of all live sessions.
func (s *Server) cdpListAll(c echo.Context) error {
	all := []cdp.Target{}
	for _, one := range s.manager.List() {
		if one.Status() != session.StatusLive || one.Hibernates() { // a list wakes nobody
			continue
		}
		list, err := cdp.ListTargets(c.Request().Context(), one, s.cdpEndpoint(c, one))
		if err != nil {
			continue // it has just ended, or is starting again
		}
		all = append(all, list...)
	}
	others, _ := ofNodes[[]cdp.Target](s, c, listTime) // the form has no place for nodes that are missing
	all = append(all, slices.Concat(others...)...)
	return c.JSON(http.StatusOK, all)
}

// cdpProtocolAll handles GET /json/protocol.
func (s *Server) cdpProtocolAll(c echo.Context) error {
	return c.JSON(http.StatusOK, cdp.DescribeProtocol())
}

// cdpNew handles PUT /json/new: a session with one page. As at Chromium's debugging port,
// the query is the page's address. A key in the query is no part of it, wherever it stands.
func (s *Server) cdpNew(c echo.Context) error {
	if err := readJSON(c, bodyLimit, &struct{}{}); err != nil { // a body would have no effect
		return err
	}
	address := c.Request().URL.RawQuery
	if _, where := keyOf(c.Request(), true); where == "query" {
		address = strings.Join(slices.DeleteFunc(strings.Split(address, "&"), func(part string) bool {
			name, _, _ := strings.Cut(part, "=")
			name, err := url.QueryUnescape(name)
			return err != nil || slices.Contains(queryKeys, name)
		}), "&")
	}
	address, err := url.PathUnescape(address)
	if err != nil {
		return badField("url", "is not escaped well")
	}
	one, err := s.create(c.Request().Context(), creatorOf(c), &createRequest{URL: address})
	if err != nil {
		return err
	}
	list, err := cdp.ListTargets(c.Request().Context(), one, s.cdpEndpoint(c, one))
	if err == nil && len(list) == 0 {
		err = &failure{kind: kindPage, detail: "The session has no page any more."}
	}
	if err != nil { // nobody would know of it
		_ = one.Release("its page could not be told") // it may have ended by itself
		return err
	}
	return c.JSON(http.StatusOK, list[0])
}
