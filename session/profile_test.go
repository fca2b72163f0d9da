package session

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/limits"
	"takeover/scripting"
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

// TestProfileIsFilling lets a page fill the session's profile to 90 % of what it
// may have: the session says so once, and goes on. With more it ends.
func TestProfileIsFilling(t *testing.T) {
	const limit = 96 << 20
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>P</title>`))
	}))
	t.Cleanup(srv.Close)
	hits := limits.New()
	m := startManager(t, Options{WarmBrowsers: -1, MaxProfileBytes: limit, Limits: hits})
	s := create(t, m, CreateOptions{})
	if _, err := s.StartCapture(t.Context(), capture.Config{Console: true}); err != nil {
		t.Fatal(err)
	}
	events := s.monitor.Ring().Read(0)
	if end := endOf(t, startRun(t, s, "await page.goto('"+srv.URL+"')")); end.Status != scripting.StatusSucceeded {
		t.Fatal(end.Error)
	}
	eng, err := s.ready()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := eng.proc.Stored(limit)
	if err != nil {
		t.Fatal(err)
	}
	// next reads events up to one of a type, and returns its bytes.
	next := func(ctx context.Context, typ string) int64 {
		t.Helper()
		for {
			e, err := events.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var data struct{ Bytes, Limit int64 }
			switch err := json.Unmarshal(e.Data, &data); {
			case e.Type == typ && (err != nil || data.Limit != limit):
				t.Errorf("event %s: %v", e.Data, err)
			case e.Type == typ:
				return data.Bytes
			case e.Type == capture.TypeProfileFull || e.Type == capture.TypeProfileFilling:
				t.Fatalf("%s instead of %s", e.Type, typ)
			}
		}
	}
	write := func(name string, bytes int64) *Run {
		t.Helper()
		return startRun(t, s, fmt.Sprintf(`await page.evaluate(async ([name, bytes]) => {
			const root = await navigator.storage.getDirectory();
			for (let i = 0; bytes > 0; i++, bytes -= 1 << 20) {
				const out = await (await root.getFileHandle(name + i, { create: true })).createWritable();
				await out.write(new Uint8Array(1 << 20).fill(i));
				await out.close();
			}
		}, [%q, %d])`, name, bytes))
	}
	first := write("first", limit/10*9-stored)
	if bytes := next(browsertest.Context(t, "the profile filling"), capture.TypeProfileFilling); bytes < limit/5*4 || bytes > limit {
		t.Errorf("it is filling with %d bytes of %d", bytes, limit)
	}
	if info := s.Info(); info.Status == StatusFailed || hits.Count(limits.ProfileFilling) != 1 || hits.Count(limits.Profile) != 0 {
		t.Errorf("the session is %s, told %d times", info.Status, hits.Count(limits.ProfileFilling))
	}
	if end := endOf(t, first); end.Status != scripting.StatusSucceeded {
		t.Fatal(end.Error)
	}
	write("second", limit)
	next(browsertest.Context(t, "the profile full"), capture.TypeProfileFull)
	waitFor(t, "the session's end", s.Ended())
	if n := hits.Count(limits.ProfileFilling); n != 1 {
		t.Errorf("told %d times", n)
	}
}
