package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/capacity"
	"takeover/capture"
	"takeover/checkpoints"
	"takeover/door/browserless"
	"takeover/door/playwright"
	"takeover/door/steel"
	"takeover/files"
	"takeover/filmstrip"
	"takeover/invalid"
	"takeover/links"
	"takeover/profiles"
	"takeover/savedscripts"
	"takeover/session"
	"takeover/text"
	"takeover/trajectory"
	"takeover/web/views"
	"takeover/webhook"
)

// mimeProblem is RFC 9457's media type.
const mimeProblem = "application/problem+json"

// fullRetryAfter is the Retry-After header of a full server.
const fullRetryAfter = 5 * time.Second

// problem is an error in the form of the API.
type problem struct {
	Type   string               `json:"type" doc:"The kind of error: an address within this page."`
	Title  string               `json:"title" doc:"The kind of error, in words."`
	Status int                  `json:"status" doc:"The status of the response."`
	Detail string               `json:"detail" doc:"What happened, and what to do."`
	Errors []invalid.FieldError `json:"errors,omitempty" doc:"The fields that are wrong, for an invalid request."`

	Position int `json:"position,omitempty" doc:"On a full server: the place in the queue that the call came to in its time, from 1."`
	Waiting  int `json:"waiting,omitempty" doc:"On a full server: how many other calls wait for a session."`
}

// failure is an error with its response. Handlers return one for errors that they
// detect themselves; the table outcomes maps errors of other packages.
type failure struct {
	kind       kind
	detail     string
	fields     []invalid.FieldError
	retryAfter time.Duration
	unbegun    bool   // nothing was done, so another node may do it
	allow      string // the Allow header of a 405
	err        error  // for the log only
}

func (f *failure) Error() string {
	if f.err != nil {
		return f.detail + ": " + f.err.Error()
	}
	return f.detail
}

func (f *failure) Unwrap() error { return f.err }

// kind is a class of failures: the fragment of its type URI, and its status.
type kind struct {
	name   string
	title  string
	status int
}

var (
	kindBadInput     = kind{"bad-input", "The request is not valid", http.StatusBadRequest}
	kindNoKey        = kind{"not-signed-in", "An API key is required", http.StatusUnauthorized}
	kindForbidden    = kind{"forbidden", "Not allowed", http.StatusForbidden}
	kindNotFound     = kind{"not-found", "Not found", http.StatusNotFound}
	kindMethod       = kind{"method", "Method not allowed", http.StatusMethodNotAllowed}
	kindTimeout      = kind{"timeout", "Timed out", http.StatusRequestTimeout}
	kindConflict     = kind{"conflict", "Not possible right now", http.StatusConflict}
	kindEnded        = kind{"ended", "The session has ended", http.StatusGone}
	kindTooLarge     = kind{"too-large", "The request is too large", http.StatusRequestEntityTooLarge}
	kindRange        = kind{"range", "The file has no such bytes", http.StatusRequestedRangeNotSatisfiable}
	kindUpgrade      = kind{"upgrade", "A WebSocket connection is required", http.StatusUpgradeRequired}
	kindPage         = kind{"page", "The page could not be read", http.StatusUnprocessableEntity}
	kindTooMany      = kind{"too-many", "Too many requests", http.StatusTooManyRequests}
	kindInternal     = kind{"internal", "Something went wrong on the server", http.StatusInternalServerError}
	kindNotAvailable = kind{"not-available", "Not available on this server", http.StatusNotImplemented}
	kindFull         = kind{"full", "The server is full", http.StatusServiceUnavailable}
	kindDiskFull     = kind{"disk-full", "The disk is full", http.StatusServiceUnavailable}
	kindNotReady     = kind{"not-ready", "Not ready", http.StatusServiceUnavailable}
)

// kinds lists every class of failures in the order of /docs.
var kinds = []kind{kindBadInput, kindNoKey, kindForbidden, kindNotFound, kindMethod, kindTimeout, kindConflict, kindEnded,
	kindTooLarge, kindRange, kindUpgrade, kindPage, kindTooMany, kindInternal, kindNotAvailable, kindFull, kindDiskFull, kindNotReady}

// outcomes maps the sentinels of other packages to a class of failures. The first
// match counts.
var outcomes = []struct {
	err  error
	kind kind
}{
	{session.ErrNotFound, kindNotFound},
	{links.ErrNotFound, kindNotFound},
	{savedscripts.ErrNotFound, kindNotFound},
	{filmstrip.ErrNotFound, kindNotFound},
	{profiles.ErrNotFound, kindNotFound},
	{profiles.ErrNoFolder, kindNotFound},
	{profiles.ErrExists, kindConflict},
	{profiles.ErrChanged, kindConflict},
	{profiles.ErrWrongKey, kindConflict},
	{profiles.ErrDamaged, kindConflict},
	{profiles.ErrTooMany, kindConflict},
	{profiles.ErrTooLarge, kindTooLarge},
	{profiles.ErrNoKey, kindNotAvailable},
	{profiles.ErrNoStore, kindNotAvailable},
	{session.ErrEnded, kindEnded},
	{session.ErrFull, kindFull},
	{session.ErrQuota, kindTooMany},
	{playwright.ErrNoNode, kindNotAvailable},
	{playwright.ErrNoPackage, kindNotAvailable},
	{playwright.ErrUnconfined, kindNotAvailable},
	{playwright.ErrUnusable, kindNotAvailable},
	{playwright.ErrFull, kindFull},
	{session.ErrNotReady, kindNotReady},
	{session.ErrDirectory, kindNotReady},
	{session.ErrRole, kindForbidden},
	{links.ErrInvalid, kindForbidden},
	{session.ErrTooMany, kindConflict},
	{session.ErrLive, kindConflict},
	{links.ErrTooMany, kindConflict},
	{links.ErrBusy, kindTooMany},
	{savedscripts.ErrTooMany, kindConflict},
	{session.ErrNotController, kindConflict},
	{savedscripts.ErrChanged, kindConflict},
	{savedscripts.ErrNoRoom, kindDiskFull},
	{savedscripts.ErrReserved, kindNotAvailable},
	{savedscripts.ErrNoStore, kindNotAvailable},
	{session.ErrRunning, kindConflict},
	{session.ErrTakeoverOpen, kindConflict},
	{session.ErrTakeoverState, kindConflict},
	{session.ErrNothingWaits, kindConflict},
	{session.ErrTabCrashed, kindConflict},
	{session.ErrSecret, kindConflict},
	{checkpoints.ErrNotFound, kindNotFound},
	{checkpoints.ErrNoStore, kindNotAvailable},
	{checkpoints.ErrTooMany, kindConflict},
	{trajectory.ErrID, kindNotFound},
	{trajectory.ErrFile, kindNotFound},
	{trajectory.ErrRecording, kindConflict},
	{trajectory.ErrNotScanned, kindConflict},
	{trajectory.ErrLeak, kindConflict},
	{session.ErrRecording, kindConflict},
	{session.ErrNotRecording, kindConflict},
	{session.ErrWorking, kindConflict},
	{session.ErrClaimed, kindConflict},
	{files.ErrNotFound, kindNotFound},
	{files.ErrFull, kindTooLarge},
	{files.ErrName, kindBadInput},
	{session.ErrScriptTooLarge, kindTooLarge},
	{capture.ErrOff, kindConflict},
	{capture.ErrNotReady, kindNotReady},
	{capture.ErrClosed, kindEnded},
	{webhook.ErrNotFound, kindNotFound},
	{webhook.ErrFull, kindConflict},
	{context.DeadlineExceeded, kindTimeout},
	{errStalled, kindTimeout},
	{errStopping, kindNotReady},
}

// unbegun are the errors of outcomes after which a session was not begun.
var unbegun = []error{session.ErrFull, session.ErrQuota, session.ErrDirectory}

// kindCallerGone is only for the log and the metrics, because nobody reads the
// response. So it is not in kinds. Its status is the one that nginx uses.
var kindCallerGone = kind{"caller-gone", "The caller went away", 499}

// asFailure returns the response to an error. An unknown error becomes an
// internal one, and its text appears only in the log.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if in, ok := errors.AsType[*invalid.Error](err); ok {
		return &failure{kind: kindBadInput, detail: describe(in.Fields), fields: in.Fields}
	}
	if errors.Is(err, links.ErrInvalid) {
		return &failure{kind: kindForbidden, detail: linkWords(err), err: err}
	}
	if he, ok := errors.AsType[*echo.HTTPError](err); ok {
		return echoFailure(he)
	}
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			f := &failure{kind: o.kind, detail: text.Sentence(err.Error()), err: err, unbegun: slices.Contains(unbegun, o.err)}
			if slices.Contains([]kind{kindFull, kindDiskFull, kindNotReady, kindTooMany}, o.kind) {
				f.retryAfter = fullRetryAfter
			}
			return f
		}
	}
	return &failure{kind: kindInternal, err: err}
}

// linkWords returns why a link does not open anything, and what to do.
func linkWords(err error) string {
	words := text.Sentence(err.Error())
	if why, ok := errors.AsType[*links.Error](err); ok && why.State == links.Ended {
		return words + " There is nothing more to do here."
	}
	return words + " Ask the person who sent it for a new one."
}

// echoFailure translates the errors of Echo's router.
func echoFailure(he *echo.HTTPError) *failure {
	switch he.Code {
	case http.StatusNotFound:
		return &failure{kind: kindNotFound, detail: "No such path."}
	case http.StatusMethodNotAllowed:
		return &failure{kind: kindMethod, detail: "The header Allow lists the methods that are allowed."}
	case http.StatusRequestEntityTooLarge:
		return &failure{kind: kindTooLarge, detail: "The body is too large."}
	}
	if he.Code < http.StatusInternalServerError {
		return &failure{kind: kind{kindBadInput.name, kindBadInput.title, he.Code}, detail: http.StatusText(he.Code) + "."}
	}
	return &failure{kind: kindInternal, err: he}
}

// describe lists the errors of fields in one sentence.
func describe(fields []invalid.FieldError) string {
	return text.Sentence((&invalid.Error{Fields: fields}).Error())
}

// callerGone reports whether an error only means that the caller no longer waits.
// The request's context shows that, or a failed write.
func callerGone(c echo.Context, err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return c.Response().Committed
	}
	return c.Request().Context().Err() != nil && errors.Is(err, context.Canceled)
}

// renderError sends the response to a handler's error.
func (s *Server) renderError(err error, c echo.Context) {
	f := asFailure(err)
	if errors.Is(err, echo.ErrNotFound) {
		path := c.Request().URL.Path
		if why := steel.Missing(path); why != "" {
			f = &failure{kind: kindNotAvailable, detail: "Steel's API has this call, but this server does not: " + why + "."}
		} else if why := browserless.Missing(path); why != "" {
			f = &failure{kind: kindNotAvailable, detail: "Browserless' API has this call, but this server does not: " + why + "."}
		}
	}
	if callerGone(c, err) {
		f = &failure{kind: kindCallerGone, detail: "The caller did not wait for the answer.", err: err}
	}
	requestID := c.Response().Header().Get(echo.HeaderXRequestID)
	if f.kind == kindInternal {
		f.detail = "The server's log has the details under request " + requestID + "."
		s.log.Error("request failed", "path", c.Path(), "request", requestID, "error", f.err)
	}
	if c.Response().Committed {
		return
	}
	drain(c, f.kind, min(drainTime, s.cfg.RequestTime))
	h := c.Response().Header()
	h.Del(echo.HeaderContentType) // of what a handler began to write
	if f.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(max(1, int(f.retryAfter.Seconds()+0.999))))
	}
	if f.kind == kindNoKey {
		h.Set("WWW-Authenticate", `Bearer realm="takeover"`)
	}
	if f.allow != "" {
		h.Set("Allow", f.allow)
	}
	if f.unbegun && fromNode(c.Request()) {
		h.Set(refusedHeader, "unbegun")
	}
	p := problem{Type: "/docs#" + f.kind.name, Title: f.kind.title, Status: f.kind.status, Detail: f.detail, Errors: f.fields}
	if full, ok := errors.AsType[*capacity.FullError](f.err); ok {
		p.Position, p.Waiting = full.Position, full.Waiting
	}
	if err := s.writeProblem(c, f, p); err != nil {
		s.log.Debug("write problem", "status", p.Status, "error", err)
	}
}

// lostWords returns why a visitor has lost access, or "".
func lostWords(c echo.Context) string {
	if err := caller(c).why(c.Param("id")); err != nil {
		return linkWords(err)
	}
	return ""
}

func (s *Server) writeProblem(c echo.Context, f *failure, p problem) error {
	if wantsHTML(c.Request()) {
		switch {
		case s.forGuests(c) && (f.kind == kindNoKey || f.kind == kindForbidden && !caller(c).operator()):
			// A guest may have followed another link, whose secret only the page sees.
			following := "session.js"
			if strings.HasPrefix(c.Request().URL.Path, "/takeover/") {
				following = "takeover.js"
			}
			return s.render(c, kindNoKey.status, views.Locked(views.LockedPage{Page: s.page(c), Next: c.Request().URL.Path, Lost: lostWords(c), Following: following}))
		case f.kind == kindNoKey:
			return s.renderLogin(c, p.Status, "")
		case errors.Is(f.err, links.ErrInvalid):
			return s.render(c, p.Status, views.Problem(views.LinkExpired(s.page(c))))
		}
		return s.render(c, p.Status, views.Problem(s.problemPage(c, p)))
	}
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode problem: %w", err)
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.Blob(p.Status, mimeProblem, body)
}

// wantsHTML reports whether the caller is a browser that opens a page. Programs
// that accept anything get JSON.
func wantsHTML(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "text/html") && !strings.Contains(accept, "application/json")
}

// badField returns the failure for one field.
func badField(field, format string, args ...any) *failure {
	fields := []invalid.FieldError{{Field: field, Error: fmt.Sprintf(format, args...)}}
	return &failure{kind: kindBadInput, detail: describe(fields), fields: fields}
}
