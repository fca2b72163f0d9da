package browser_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"takeover/browser"
	"takeover/browser/browsertest"
)

// TestDeclineLogin checks that the page shows the server's response to visitors
// without credentials, even if it is empty.
func TestDeclineLogin(t *testing.T) {
	for name, body := range map[string]string{"with a text": "<title>refused</title>", "without a text": ""} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("WWW-Authenticate", `Basic realm="vault"`)
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, body)
			}))
			t.Cleanup(srv.Close)
			p := newPage(t, attach(t))
			_, err := p.MainFrame().Navigate(wait(t, "navigate"), srv.URL+"/in", browser.NavigateOptions{WaitUntil: browser.LifecycleCommit})
			if err == nil {
				t.Fatal("the document came without a password")
			}
			err = p.DeclineLogin(wait(t, "decline"))
			if body == "" { // Chromium then shows an error page of its own
				if _, ok := errors.AsType[*browser.NavigationError](err); !ok {
					t.Errorf("declined: %v", err)
				}
				return
			}
			must(t, err)
			browsertest.Until(t, "the refusal's title", func() bool { return p.Title() == "refused" })
			if p.URL() != srv.URL+"/in" {
				t.Errorf("the page shows %s", p.URL())
			}
		})
	}
}
