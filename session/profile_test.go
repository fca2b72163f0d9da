package session

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/limits"
)

// TestProfileOverItsLimit lets a page write to its private file system until the
// session's profile is larger than it may be.
func TestProfileOverItsLimit(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>P</title><script>
			(async () => {
				const root = await navigator.storage.getDirectory();
				for (let i = 0; i < 24; i++) {
					const out = await (await root.getFileHandle('f' + i, { create: true })).createWritable();
					await out.write(new Uint8Array(2 << 20).fill(i));
					await out.close();
				}
				document.title = 'full';
			})();
		</script>`)) // 48 MiB
	}))
	t.Cleanup(srv.Close)
	hits := limits.New()
	m := startManager(t, Options{WarmBrowsers: -1, MaxProfileBytes: 32 << 20, Limits: hits})
	s := create(t, m, CreateOptions{})
	if _, err := s.StartCapture(t.Context(), capture.Config{Console: true}); err != nil {
		t.Fatal(err)
	}
	events := s.monitor.Ring().Read(0)
	startRun(t, s, "await page.goto('"+srv.URL+"'); await page.waitForTimeout(600_000)")
	waitFor(t, "the session's end", s.Ended())
	if info := s.Info(); info.Status != StatusFailed || info.EndReason != "profile over its limit" {
		t.Errorf("the session ended as %s: %s", info.Status, info.EndReason)
	}
	if n := hits.Count(limits.Profile); n != 1 {
		t.Errorf("the limit was reached %d times", n)
	}
	ctx := browsertest.Context(t, "the event")
	for {
		e, err := events.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != capture.TypeProfileFull {
			continue
		}
		var data struct{ Bytes, Limit int64 }
		if err := json.Unmarshal(e.Data, &data); err != nil || data.Limit != 32<<20 || data.Bytes <= data.Limit {
			t.Errorf("event %s: %v", e.Data, err)
		}
		break
	}
}
