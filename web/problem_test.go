package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/labstack/echo/v4"

	"takeover/session"
)

// TestCallerGoneIsNoError checks that a caller who leaves is not logged as a
// server error, and that other reasons for the end of a context are.
func TestCallerGoneIsNoError(t *testing.T) {
	s := startServer(t, nil)
	err := fmt.Errorf("take screenshot: %w", context.Canceled)
	answer := func(ctx context.Context) int {
		rec := httptest.NewRecorder()
		s.renderError(err, echo.New().NewContext(httptest.NewRequestWithContext(ctx, "GET", "/v1/sessions/x/screenshot", nil), rec))
		return rec.Code
	}
	begun := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder())
	if err := begun.String(http.StatusOK, "the beginning"); err != nil {
		t.Fatal(err)
	}
	s.renderError(fmt.Errorf("write: %w", syscall.EPIPE), begun)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if got := answer(gone); got != 499 || strings.Contains(s.log.String(), "level=ERROR") {
		t.Errorf("the caller has gone: %d\n%s", got, s.log.tail())
	}
	if got := answer(t.Context()); got != 500 || !strings.Contains(s.log.String(), "level=ERROR") {
		t.Errorf("the caller is there: %d\n%s", got, s.log.tail())
	}
}

func TestNotReadySaysWhen(t *testing.T) {
	f := asFailure(fmt.Errorf("click: %w", session.ErrNotReady))
	if f.kind.status != 503 || f.retryAfter <= 0 {
		t.Errorf("%+v", f)
	}
}

// TestRefusalsAreReadByWhoStillSends checks that a caller gets a refusal even if
// it is still sending its body, and the route reads none.
func TestRefusalsAreReadByWhoStillSends(t *testing.T) {
	s := startServer(t, nil)
	for _, path := range []string{"/v1/sessions/none/files/x", "/v1/no-such-path"} {
		body := bytes.NewReader(make([]byte, 32<<20)) // more than the buffers on the way can hold
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.base+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+testKey)
		resp, err := noRedirects.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound || body.Len() > 0 {
			t.Errorf("%s: status %d with %d bytes still to send", path, resp.StatusCode, body.Len())
		}
	}
}

// TestMetricsKnowTheirMethods checks that callers cannot create labels.
func TestMetricsKnowTheirMethods(t *testing.T) {
	s := startServer(t, nil)
	for _, method := range []string{"AAAA1", "AAAA2", "get"} {
		s.do(request{method: method, path: "/healthz"})
	}
	text := string(s.do(request{method: "GET", path: "/metrics"}).body)
	if strings.Contains(text, "AAAA") || strings.Contains(text, `method="get"`) || !strings.Contains(text, `method="other"`) {
		t.Error("methods of the callers' making are in the figures, or none is")
	}
}

// TestNothingBeginsAfterClose checks that no work starts after Close has waited
// for the last.
func TestNothingBeginsAfterClose(t *testing.T) {
	s := startServer(t, nil)
	done, err := s.begin()
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.Close()
	}()
	<-s.ctx.Done()
	select {
	case <-closed:
		t.Error("Close did not wait")
	default:
	}
	done()
	<-closed
	if _, err := s.begin(); asFailure(err).kind != kindNotReady {
		t.Errorf("begun after Close: %v", err)
	}
}
