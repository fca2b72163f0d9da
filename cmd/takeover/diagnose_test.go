package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"takeover/door/diagnose"
)

// TestDiagnoseCommand diagnoses a page with an error, one without, and asks a model.
func TestDiagnoseCommand(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		page := `<title>x</title><link rel=icon href="data:,">`
		if r.URL.Path == "/bad" {
			page += `<button onclick="null.save()">Save</button>`
		}
		_, _ = w.Write([]byte(page))
	}))
	defer site.Close()
	t.Setenv("TAKEOVER_API_KEY", testKey)
	base, _, stop := serve(t, "--data-dir", t.TempDir())
	t.Setenv("TAKEOVER_URL", base)
	code, stdout, stderr := command(t, "", "diagnose", site.URL+"/bad", "save does nothing")
	if code != 1 || !strings.Contains(stdout, "error: ") || !strings.Contains(stdout, "Fix the error") || !strings.Contains(stderr, "1. navigate "+site.URL) || !strings.Contains(stderr, `2. click (the problem names "Save")`) {
		t.Errorf("a page with an error: %d, %q, %q", code, stdout, stderr)
	}
	code, stdout, stderr = command(t, "", "--json", "diagnose", site.URL+"/good")
	var report diagnose.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 || !report.Diagnosed {
		t.Errorf("a page without: %d, %q, %q, %v", code, stdout, stderr, err)
	}
	if code, _, stderr = command(t, "", "diagnose", "ftp://x"); code != 1 || !strings.Contains(stderr, "url") {
		t.Errorf("a bad address: %d, %q", code, stderr)
	}
	stop()

	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"{\"findings\":[{\"title\":\"by a model\",\"suggestion\":\"do it\",\"severity\":\"info\"}]}"}}]}`))
	}))
	defer model.Close()
	t.Setenv("TAKEOVER_ANALYST_URL", model.URL)
	base, _, stop = serve(t, "--data-dir", t.TempDir())
	defer stop()
	t.Setenv("TAKEOVER_URL", base)
	if code, stdout, stderr = command(t, "", "diagnose", site.URL+"/good"); code != 0 || !strings.Contains(stdout, "info: by a model\n  do it\n") {
		t.Errorf("a model: %d, %q, %q", code, stdout, stderr)
	}
}
