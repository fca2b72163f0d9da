package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/confine"
)

// TestSessionMemory opens a page that takes more memory than a session may have. The kernel
// ends it, the session says why, and the other session works on.
func TestSessionMemory(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/greedy" {
			_, _ = io.WriteString(w, `<title>Greedy</title><script>
				const kept = [];
				setInterval(() => { if (kept.length < 100) kept.push(new Uint8Array(32 << 20).fill(kept.length + 1)) }, 20);
			</script>`)
			return
		}
		_, _ = io.WriteString(w, `<title>Modest</title>`)
	}))
	t.Cleanup(site.Close)
	doctor, err := exec.CommandContext(t.Context(), "/proc/self/exe", "doctor", "--json", "--addr", "127.0.0.1:0", "--data-dir", t.TempDir()).Output()
	if err != nil && len(doctor) == 0 {
		t.Fatal(err)
	}
	if measures, refused, _ := strings.Cut(string(doctor), "refused:"); !strings.Contains(measures, confine.Cgroup) || strings.Contains(refused, confine.Cgroup) {
		t.Skip("no control group can be made")
	}
	server := startCommand(t, exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0", "--warm", "0", "--allow-networks", "127.0.0.0/8", "--session-memory", "900000000", "--data-dir", t.TempDir()))
	var greedy, modest struct{ ID, Status string }
	server.do(t, "POST", "/v1/sessions", map[string]any{"url": site.URL, "capture": true, "timeout": 120_000}, &modest)
	server.do(t, "POST", "/v1/sessions", map[string]any{"url": site.URL + "/greedy", "capture": true, "timeout": 120_000}, &greedy)
	browsertest.Until(t, "the session says that its memory is full", func() bool {
		var page struct{ Events []struct{ Type string } }
		server.do(t, "GET", "/v1/sessions/"+greedy.ID+"/events?type=memory_full", nil, &page)
		return len(page.Events) > 0
	})
	var run struct{ Result any }
	server.do(t, "POST", "/v1/sessions/"+modest.ID+"/scripts", map[string]any{"code": "return await page.title()", "wait": true}, &run)
	if run.Result != "Modest" {
		t.Errorf("the other session's page is %v", run.Result)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.base+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	figures, _ := io.ReadAll(resp.Body)
	if strings.Contains(string(figures), `takeover_limit_hits_total{limit="memory"} 0`) || !strings.Contains(string(figures), `takeover_limit_hits_total{limit="memory"}`) {
		t.Error("the metrics do not count it")
	}
}
