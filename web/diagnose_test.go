package web

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"takeover/door/diagnose"
	"takeover/session"
)

// TestDiagnose diagnoses a page of the demo site, with and without a stream.
func TestDiagnose(t *testing.T) {
	s := startServer(t, nil)
	body := `{"url":"` + s.base + `/demo/none","problem":"it is gone","maxSteps":2}`
	var report diagnose.Report
	s.do(request{method: "POST", path: "/v1/diagnose", body: body}).decode(&report)
	if !report.Diagnosed || len(report.Findings) == 0 || report.Findings[0].Rule != "client-error" {
		t.Errorf("the report is %+v", report)
	}
	if one, err := s.manager.Get(report.SessionID); err != nil || one.Status() != session.StatusReleased {
		t.Errorf("the session is still there, %v", err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/v1/diagnose", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := noRedirects.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	streamed, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"event: step\n", "event: findings\n", "event: report\n"} {
		if !strings.Contains(string(streamed), event) {
			t.Errorf("the stream has no %q: %.300s", event, streamed)
		}
	}
	for body, want := range map[string]string{
		`{"url":"ftp://a/"}`:                            `"field":"url"`,
		`{"url":"http://a/","maxSteps":0}`:              `"field":"maxSteps"`,
		`{"url":"http://a/","timeout":0}`:               `"field":"timeout"`,
		`{"url":"http://a/","problem":"x","maxstep":1}`: `maxstep`,
	} {
		if got := s.do(request{method: "POST", path: "/v1/diagnose", body: body}); got.status != 400 || !strings.Contains(string(got.body), want) {
			t.Errorf("%s gave %d %s", body, got.status, got.body)
		}
	}
}
