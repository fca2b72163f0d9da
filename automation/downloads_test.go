package automation_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// downloads serves files to download: /file, and /endless, which never finishes.
func downloads(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<title>start</title>")
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="report.txt"`)
		_, _ = fmt.Fprint(w, "content")
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="endless.bin"`)
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(make([]byte, 64<<10))
		_ = http.NewResponseController(w).Flush()
		<-req.Context().Done()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}
