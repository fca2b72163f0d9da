package web

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

const (
	nonceKey  = "nonce"
	headerCSP = "Content-Security-Policy"
)

// headKey marks the context of a HEAD request.
type headKey struct{}

// nonceOf returns the CSP nonce of the request.
func nonceOf(c echo.Context) string {
	n, _ := c.Get(nonceKey).(string)
	return n
}

// policy returns the Content-Security-Policy of our pages. They load only our own
// scripts, styles and pictures. blob: is for the canvas and the editor's worker,
// data: for favicons of remote pages. Pages with an editor permit style
// attributes, with which the editor positions its lines. Markup from outside never
// gets into a page.
func (s *Server) policy(c echo.Context, editor bool) string {
	nonce := nonceOf(c)
	ancestors := strings.Join(s.embedOrigins(c), " ")
	if ancestors == "" {
		ancestors = "'none'"
	}
	styleAttributes := "'none'"
	if editor {
		styleAttributes = "'unsafe-inline'"
	}
	return strings.Join([]string{
		"default-src 'none'",
		"script-src 'self' 'nonce-" + nonce + "'",
		"style-src 'self' 'nonce-" + nonce + "'",
		"style-src-attr " + styleAttributes,
		"img-src 'self' data: blob:",
		"font-src 'self'",
		"connect-src 'self'",
		"worker-src 'self' blob:",
		"manifest-src 'self'",
		"form-action 'self'",
		"base-uri 'none'",
		"object-src 'none'",
		"frame-ancestors " + ancestors,
	}, "; ")
}

// contentPolicy is the Content-Security-Policy of everything that is not a page of
// ours. Such a response may contain what a page or a script wrote. A browser that
// shows it as a document gives it an origin of its own, without our cookies.
const contentPolicy = "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'"

// secure sets the security headers of every response.
func (s *Server) secure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var b [18]byte
		_, _ = rand.Read(b[:]) // never fails
		nonce := base64.RawStdEncoding.EncodeToString(b[:])
		c.Set(nonceKey, nonce)
		h := c.Response().Header()
		h.Set(headerCSP, s.policy(c, false))
		h.Set("X-Frame-Options", "DENY") // allowFraming removes it
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(self), payment=(), usb=()")
		h.Set("Cache-Control", "no-store") // static assets override it
		if s.https() || overTLS(c.Request()) {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		return next(c)
	}
}

// record gives every request an id, counts it, and logs it without its query,
// which may contain a key.
func (s *Server) record(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		id := uuid.NewString()
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		s.metrics.inFlight.Inc()
		defer s.metrics.inFlight.Dec()
		if err := survive(next, c); err != nil {
			c.Error(err)
		}
		status := c.Response().Status
		if c.Response().Header().Get("Upgrade") != "" {
			status = http.StatusSwitchingProtocols
		}
		s.metrics.request(c.Request().Method, c.Path(), status, time.Since(start))
		level := slog.LevelDebug
		if status >= http.StatusInternalServerError {
			level = slog.LevelWarn
		}
		s.log.Log(c.Request().Context(), level, "request", "id", id, "method", c.Request().Method, "path", c.Request().URL.Path,
			"status", status, "took", time.Since(start).Round(time.Microsecond), "from", peerOf(c.Request()), "caller", caller(c).name, "key", caller(c).key)
		return nil
	}
}

// survive turns a panic of a handler into an error, so that only one request
// fails.
func survive(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return next(c)
}

// headAsGet serves HEAD with the route of GET; net/http omits the body.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.Clone(context.WithValue(r.Context(), headKey{}, true))
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// isHead reports whether a request is a HEAD.
func isHead(r *http.Request) bool { return r.Context().Value(headKey{}) != nil }

// fields splits a comma-separated header value into its words, in lower case.
func fields(value string) []string {
	words := strings.Split(strings.ToLower(value), ",")
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	return words
}
