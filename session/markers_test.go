package session

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/redact"
)

// markers returns the texts of capture's table of secrets, and their secrets.
func markers(t *testing.T) (texts, secrets []string) {
	t.Helper()
	table, err := os.ReadFile("../redact/testdata/secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		_, rest, ok := strings.Cut(strings.TrimSpace(line), "«")
		secret, _, ok2 := strings.Cut(rest, "»")
		if !ok || !ok2 || len(secret) < 6 || strings.HasPrefix(line, "# ") {
			continue // too short to be searched for in everything
		}
		texts = append(texts, strings.NewReplacer("«", "", "»", "", `\n`, "\n").Replace(strings.TrimSpace(line)))
		secrets = append(secrets, secret)
	}
	if len(texts) < 62 {
		t.Fatalf("only %d markers", len(texts))
	}
	return texts, secrets
}

// TestMarkersAreFoundNowhere lets a page show secrets of every form in its
// console, its requests, its address and its title, and a script fail with them,
// and searches every output.
func TestMarkersAreFoundNowhere(t *testing.T) {
	texts, secrets := markers(t)
	secrets = append(secrets, "pair-marker")
	log := &logBuffer{}
	var mu sync.Mutex
	var notices bytes.Buffer
	m := startManager(t, Options{
		WarmBrowsers: -1, Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Notify: func(n Notice) {
			mu.Lock()
			defer mu.Unlock()
			_ = json.NewEncoder(&notices).Encode(n)
		},
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/html")
		}
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		_, _ = w.Write(body.Bytes())
	}))
	t.Cleanup(srv.Close)
	s := create(t, m, CreateOptions{URL: srv.URL})
	if _, err := s.StartCapture(t.Context(), capture.Config{Console: true, Network: true, NetworkResponseBody: true, Navigation: true}); err != nil {
		t.Fatal(err)
	}
	all := s.Journal().Read(0, capture.Filter{})
	given, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	code := `const texts = ` + string(given) + `;
		await page.evaluate(async texts => {
			for (const text of texts) {
				console.warn(text);
				console.log('seen', text, {text});
				await fetch('/echo', { method: 'POST', body: text }).then(r => r.text());
			}
			console.warn('password', 'pair-marker');
			console.log('n', 1, 'userPin', 'pair-marker');
			document.title = 'card 4111 1111 1111 1111';
			history.replaceState(0, '', '/in?code=title-marker&state=1#access_token=title-marker');
			console.log('last');
		}, texts);
		throw new Error(texts.join('\n'))`
	secrets = append(secrets, "title-marker")
	v := join(t, s, RoleView)
	run := endOf(t, startRun(t, s, code))
	if run.Status != RunFailed || !strings.Contains(run.Error.Message, redact.Mark) {
		t.Fatalf("run: %+v", run.Error)
	}
	var events, export bytes.Buffer
	har := capture.NewHARWriter(&export, "test", capture.Range{})
	ctx := browsertest.Context(t, "the last event")
	for {
		e, err := all.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		events.Write(e.JSON())
		if err := har.Add(&e); err != nil {
			t.Fatal(err)
		}
		if e.Type == capture.TypeConsoleLog && strings.Contains(string(e.Data), `"last"`) {
			break
		}
	}
	if err := har.Close(); err != nil {
		t.Fatal(err)
	}
	await(v, "the title", func(m TabsMessage) bool {
		return strings.HasPrefix(m.Tabs[0].Title, "card") && strings.Contains(m.Tabs[0].URL, "/in?")
	})
	info, err := json.Marshal(s.Info())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(info, []byte("access_token="+redact.Mark)) || !bytes.Contains(info, []byte("card "+redact.Mark)) {
		t.Errorf("the session's address and title: %s", info)
	}
	failed, err := json.Marshal(run.Error)
	if err != nil {
		t.Fatal(err)
	}
	background := s.Log()
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for name, output := range map[string]string{
		"events": events.String(), "HAR": export.String(), "log.md": background, "session": string(info), "error": string(failed),
		"webhooks": notices.String(), "log": log.String(),
	} {
		if output == "" {
			t.Errorf("no %s", name)
		}
		for _, secret := range secrets {
			quoted, _ := json.Marshal(secret)
			for _, form := range []string{secret, string(quoted[1 : len(quoted)-1])} {
				if at := strings.Index(output, form); at >= 0 {
					t.Errorf("%q is in %s: …%q…", secret, name, output[max(0, at-80):min(len(output), at+len(form)+20)])
					break
				}
			}
		}
	}
}
