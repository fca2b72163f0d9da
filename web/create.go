package web

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a container may have no database of time zones

	"github.com/labstack/echo/v4"
	"golang.org/x/text/language"

	"takeover/door/steel"
	"takeover/egress"
	"takeover/limits"
	"takeover/session"
	"takeover/storagestate"
)

const (
	maxHeaders    = 100      // number of extraHTTPHeaders
	maxHeader     = 8 << 10  // bytes of one header's value
	maxHeaderName = 1 << 10  // bytes
	maxMetadata   = 64 << 10 // bytes as JSON
)

// createRequest is the body of a request to create a session. It has the fields
// of this API, and those of Steel's client (version 0.18). Warnings name the
// fields that have no effect.
type createRequest struct {
	URL               string            `json:"url,omitempty" doc:"The address to open." maxBytes:"32768"`
	Timeout           *int64            `json:"timeout,omitempty" doc:"How long the session lives, in milliseconds. Time in which it waits for people is added. Without it, the session ends 300000 milliseconds (5 minutes) after a program, a script or a person last used it." min:"1000" max:"86400000"`
	IdleTimeout       *int64            `json:"idleTimeout,omitempty" doc:"Ends the session when nobody has used it for so many milliseconds; 0 for never." min:"0" max:"86400000"`
	Dimensions        *sizeRequest      `json:"dimensions,omitempty" doc:"The page's viewport, in CSS pixels. Default: 1280×720."`
	DeviceScaleFactor float64           `json:"deviceScaleFactor,omitempty" doc:"Device pixels per CSS pixel." min:"0.5" max:"3" default:"1"`
	IsMobile          bool              `json:"isMobile,omitempty" doc:"Emulates a phone: touch, and the viewport that pages ask for."`
	UserAgent         string            `json:"userAgent,omitempty" doc:"Replaces Chromium's User-Agent." maxBytes:"1024"`
	Locale            string            `json:"locale,omitempty" doc:"A language tag, such as de-DE." maxBytes:"1024"`
	Timezone          string            `json:"timezone,omitempty" doc:"A name of the IANA database, such as Europe/Berlin." maxBytes:"1024"`
	ProxyURL          string            `json:"proxyUrl,omitempty" doc:"The session's way to the web: http, https or socks5, with a name and a password if it needs them." maxBytes:"32768"`
	AllowedHosts      []string          `json:"allowedHosts,omitempty" doc:"The only hosts that the session reaches, such as example.com or *.example.com."`
	DeniedHosts       []string          `json:"deniedHosts,omitempty" doc:"Hosts that the session does not reach."`
	ExtraHTTPHeaders  map[string]string `json:"extraHTTPHeaders,omitempty" doc:"Headers that are added to each request, by name. At most 100, each of at most 8 KiB."`
	Metadata          map[string]any    `json:"metadata,omitempty" doc:"Values of your own, which come back with the session. At most 64 KiB as JSON."`
	Capture           *bool             `json:"capture,omitempty" doc:"Whether events are captured from the beginning. By default, they are not, unless the server runs with --capture."`
	Profile           string            `json:"profile,omitempty" doc:"The name or the id of a saved profile to start with." maxBytes:"1024"`
	Persist           bool              `json:"persist,omitempty" doc:"Saves the browser's state to the profile at the end. A profile that does not exist is made."`
	SessionContext    json.RawMessage   `json:"sessionContext,omitempty" doc:"Cookies and storage to start with, as GET /v1/sessions/:id/context and Playwright's storageState return them."`
	Checkpoint        string            `json:"checkpoint,omitempty" doc:"The id of a checkpoint: the session begins with its tabs and, if it has one, its state." maxBytes:"1024"`
	Recording         *recordingOptions `json:"recording,omitempty" doc:"Records what programs and people do, from the beginning; see POST /v1/sessions/:id/recording."`
	BlockAds          bool              `json:"blockAds,omitempty" doc:"Refuses hosts of advertising and tracking."`
	Downloads         *bool             `json:"downloads,omitempty" doc:"Whether downloads are allowed." default:"true"`

	DeviceConfig *struct {
		Device string `json:"device,omitempty" doc:"desktop or mobile." one:"desktop,mobile"`
	} `json:"deviceConfig,omitempty" doc:"{device}: desktop or mobile, as in Steel's client."`

	steel.Create
	noEffect

	noJavaScript bool // pages run no scripts of their own

	quiet time.Duration // with no Timeout: how long it lives after it was last used; 0 for the server's default
}

// sizeRequest is a viewport in a request.
type sizeRequest struct {
	Width  int `json:"width" doc:"CSS pixels." min:"100" max:"4096"`
	Height int `json:"height" doc:"CSS pixels." min:"100" max:"4096"`
}

// noEffect lists fields that are accepted but have no effect. A value that means
// "off" (false, null, an empty list) causes no warning.
type noEffect struct {
	Headless             json.RawMessage `json:"headless,omitempty" doc:"Has no effect: the browser always has a live view."`
	Concurrency          json.RawMessage `json:"concurrency,omitempty" doc:"Has no effect."`
	DebugConfig          json.RawMessage `json:"debugConfig,omitempty" doc:"Has no effect."`
	ExperimentalFeatures json.RawMessage `json:"experimentalFeatures,omitempty" doc:"Has no effect."`
	Namespace            json.RawMessage `json:"namespace,omitempty" doc:"Has no effect."`
	ProjectID            json.RawMessage `json:"projectId,omitempty" doc:"Has no effect."`
	Region               json.RawMessage `json:"region,omitempty" doc:"Has no effect."`
	SolveCaptcha         json.RawMessage `json:"solveCaptcha,omitempty" doc:"Has no effect."`
	StealthConfig        json.RawMessage `json:"stealthConfig,omitempty" doc:"Has no effect."`
}

// warnings returns a warning for each given field that has no effect.
func (n *noEffect) warnings() []string {
	out := []string{}
	for _, f := range []struct {
		name  string
		value json.RawMessage
	}{
		{"concurrency", n.Concurrency}, {"debugConfig", n.DebugConfig}, {"experimentalFeatures", n.ExperimentalFeatures},
		{"namespace", n.Namespace},
		{"projectId", n.ProjectID},
		{"region", n.Region}, {"solveCaptcha", n.SolveCaptcha}, {"stealthConfig", n.StealthConfig},
	} {
		if steel.Asks(f.value) {
			out = append(out, f.name+" has no effect on this server")
		}
	}
	if string(n.Headless) == "false" {
		out = append(out, "headless: false has no effect on this server: the browser is always headless")
	}
	return out
}

// options checks what no tag says, and converts a request to the options of package
// session.
func (r *createRequest) options() (session.CreateOptions, error) {
	var v checks
	o := session.CreateOptions{
		URL: r.URL, DeviceScaleFactor: r.DeviceScaleFactor, IsMobile: r.IsMobile || r.DeviceConfig != nil && r.DeviceConfig.Device == "mobile",
		UserAgent: r.UserAgent, Locale: r.Locale, Timezone: r.Timezone, ProxyURL: r.ProxyURL, Hosts: egress.Hosts{Allowed: r.AllowedHosts, Denied: r.DeniedHosts},
		ExtraHTTPHeaders: r.ExtraHTTPHeaders, Metadata: r.Metadata, Capture: r.Capture,
		Checkpoint: r.Checkpoint, Profile: r.Profile, Persist: r.Persist, BlockAds: r.BlockAds, NoDownloads: r.Downloads != nil && !*r.Downloads, NoJavaScript: r.noJavaScript,
		Timeout: duration(r.Timeout), IdleTimeout: duration(r.IdleTimeout),
	}
	if o.Timeout == 0 && r.quiet > 0 {
		o.Timeout, o.Rolling = r.quiet, true
	}
	if d := r.Dimensions; d != nil {
		o.Dimensions = session.Dimensions{Width: d.Width, Height: d.Height}
	}
	if steel.Asks(r.SessionContext) {
		o.State = v.sessionContext(r.SessionContext)
	}
	if r.Recording != nil {
		o.Recording = new(r.Recording.options(&v, "recording."))
	}
	v.header("userAgent", r.UserAgent)
	if _, err := language.Parse(r.Locale); r.Locale != "" && err != nil {
		v.add("locale", "must be a language tag, such as de-DE")
	}
	if _, err := time.LoadLocation(r.Timezone); err != nil || r.Timezone == "Local" {
		v.add("timezone", "must be a name of the IANA database, such as Europe/Berlin")
	}
	if len(r.ExtraHTTPHeaders) > maxHeaders {
		v.add("extraHTTPHeaders", "must have at most %d entries", maxHeaders)
	}
	for name, value := range r.ExtraHTTPHeaders {
		v.headerName("extraHTTPHeaders", name)
		if lower := strings.ToLower(name); slices.Contains(ownHeaders, lower) || strings.HasPrefix(lower, "proxy-") {
			v.add("extraHTTPHeaders."+name, "is a header that only the browser may set")
		}
		v.atMost("extraHTTPHeaders."+name, value, maxHeader)
		v.header("extraHTTPHeaders."+name, value)
	}
	v.metadata(r.Metadata)
	v.fields = append(v.fields, r.Apply(&o)...)
	return o, v.err()
}

// sessionContext reads a storage state, in Playwright's form or in Steel's.
func (v *checks) sessionContext(raw json.RawMessage) *storagestate.State {
	raw, err := steel.ReadContext(raw)
	if err == nil {
		var state *storagestate.State
		if state, err = storagestate.Parse(raw); err == nil {
			return state
		}
	}
	v.collect(inField(err, "sessionContext"))
	return nil
}

func (v *checks) metadata(m map[string]any) {
	if raw, err := json.Marshal(m); err != nil || len(raw) > maxMetadata {
		v.add("metadata", "must have at most %d bytes as JSON", maxMetadata)
	}
}

// header refuses a value that is not allowed in a header (RFC 9110, 5.5).
func (v *checks) header(field, value string) {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		v.add(field, "must not have control characters")
	}
}

// ownHeaders are headers with which Chromium refuses to send a request
// (net::ERR_INVALID_ARGUMENT), as it does with all that begin with Proxy-.
var ownHeaders = []string{"connection", "content-length", "cookie2", "host", "keep-alive", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade"}

// headerName refuses a name that is not a token (RFC 9110, 5.6.2).
func (v *checks) headerName(field, name string) {
	const symbols = "!#$%&'*+-.^_`|~"
	ok := name != "" && len(name) <= maxHeaderName && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(symbols, r))
	})
	if !ok {
		v.add(field, "%.64q is not a header's name", name)
	}
}

// createSession handles POST /v1/sessions.
func (s *Server) createSession(c echo.Context) error {
	var req createRequest
	if err := readJSON(c, createBodyLimit, &req); err != nil {
		return err
	}
	created, err := s.create(c.Request().Context(), creatorOf(c), &req)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/v1/sessions/"+created.ID())
	view := s.viewOf(c, created)
	view.Warnings = req.warnings()
	return c.JSON(201, view)
}

// creator is who creates a session, for the limits of callers and of keys.
type creator struct {
	key     string // its id
	address string // as limitedAs returns it
}

func creatorOf(c echo.Context) creator {
	return creator{caller(c).key, limitedAs(c.Request().RemoteAddr)}
}

// create starts a session for a request, within the caller's rate limit and the quota of
// its key. On a full server, it waits for a place.
func (s *Server) create(ctx context.Context, by creator, req *createRequest) (*session.Session, error) {
	opts, err := req.options()
	if err != nil {
		return nil, err
	}
	if s.draining.Load() {
		f := stoppingFailure()
		f.unbegun = true
		return nil, f
	}
	if wait := s.creates.take(by.key + " " + by.address); wait > 0 {
		return nil, s.tooMany(s.creates, wait)
	}
	opts.Key = by.key
	start := time.Now()
	created, err := s.manager.Create(ctx, opts)
	switch {
	case errors.Is(err, session.ErrFull):
		s.limitHit(limits.Sessions)
		return nil, err
	case errors.Is(err, session.ErrQuota):
		s.limitHit(limits.KeySessions)
		return nil, err
	case err != nil:
		return nil, err
	}
	s.metrics.creates.Observe(time.Since(start).Seconds())
	return created, nil
}
