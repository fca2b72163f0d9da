package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
)

// lockedBuffer is a buffer for a logger.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// guarded serves pages to ann with the password p4ss-w0rd, and one page to
// everybody. Each page loads a script, and shows in its title who loaded it.
func guarded(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		if r.URL.Path != "/open" && (name != "ann" || password != secretOfAnn) {
			w.Header().Set("WWW-Authenticate", `Basic realm="The <b>vault</b>", charset="UTF-8"`)
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, "<title>nobody gets in</title>")
			return
		}
		if r.URL.Path == "/who.js" {
			_, _ = fmt.Fprintf(w, "document.title = %q", "script for "+name)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<title>page for %s</title><script src="/who.js"></script>`, name)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

const secretOfAnn = "p4ss-w0rd-Übung"

// TestAuth tests the sign-in to a server that asks for a name and a password: at
// the first try, after a wrong password, and declined.
func TestAuth(t *testing.T) {
	logged := &lockedBuffer{}
	m := startManager(t, Options{WarmBrowsers: -1, Logger: slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	s := create(t, m, CreateOptions{})
	if _, err := s.StartCapture(browsertest.Context(t, "capture"), capture.Config{Network: true, Navigation: true}); err != nil {
		t.Fatal(err)
	}
	base := guarded(t)
	onlooker, other, v := join(t, s, RoleView), join(t, s, RoleControl), join(t, s, RoleControl)
	v.take()
	asked := func(what string) AuthMessage {
		t.Helper()
		return await(v, what, func(m AuthMessage) bool { return !m.Closed })
	}
	answer := func(who *viewer, id string, accept bool, password string) error {
		return who.Auth(browsertest.Context(t, "answer"), id, accept, "ann", password)
	}

	if err := v.Navigate(browsertest.Context(t, "navigate"), 0, "goto", base+"/in#part"); err != nil {
		t.Fatal(err)
	}
	first := asked("question")
	if first.Origin != base || first.Realm != "The <b>vault</b>" || first.Proxy || first.Again {
		t.Errorf("asked %+v", first)
	}
	if err := answer(onlooker, first.ID, true, secretOfAnn); !errors.Is(err, ErrRole) {
		t.Errorf("an onlooker answers: %v", err)
	}
	if err := answer(other, first.ID, true, secretOfAnn); !errors.Is(err, ErrNotController) {
		t.Errorf("somebody who is not in control answers: %v", err)
	}
	if err := answer(v, first.ID, true, strings.Repeat("x", 1001)); err == nil {
		t.Error("a password without end was taken")
	}
	if err := answer(v, first.ID, true, "wrong"); err != nil {
		t.Fatal(err)
	}
	again := asked("question again")
	if !again.Again || again.ID == first.ID {
		t.Errorf("asked %+v again", again)
	}
	if err := answer(v, again.ID, true, secretOfAnn); err != nil {
		t.Fatal(err)
	}
	v.titled("script for ann") // the page's resources load without another question
	await(other, "the question's end", func(m AuthMessage) bool { return m.Closed && m.ID == again.ID })

	// At another site there is another question, which ends when the page is left
	// or the person declines.
	elsewhere := guarded(t)
	if err := v.Navigate(browsertest.Context(t, "navigate"), 0, "goto", elsewhere+"/in"); err != nil {
		t.Fatal(err)
	}
	left := asked("question elsewhere")
	if err := v.Navigate(browsertest.Context(t, "leave"), 0, "goto", base+"/in"); err != nil {
		t.Fatal(err)
	}
	await(v, "the question's end", func(m AuthMessage) bool { return m.Closed && m.ID == left.ID })
	v.titled("script for ann")
	if err := v.Navigate(browsertest.Context(t, "navigate"), 0, "goto", elsewhere+"/in"); err != nil {
		t.Fatal(err)
	}
	if err := answer(v, asked("question elsewhere").ID, false, ""); err != nil {
		t.Fatal(err)
	}
	v.titled("nobody gets in") // what the server sends to visitors without credentials
	if open := s.questions.Messages(true); len(open) > 0 {
		t.Errorf("a person who said no is asked %+v", open)
	}

	if got := resultOf[string](t, releaseAndRun(t, v, `return 'it is '+`+strconv.Quote(secretOfAnn))); strings.Contains(got, secretOfAnn) {
		t.Error("a run's result has the password")
	}

	var events strings.Builder
	for reader := s.Monitor().Ring().Read(0); ; {
		ev, more := reader.TryNext()
		if !more {
			break
		}
		raw, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		events.Write(raw)
	}
	if !strings.Contains(events.String(), "who.js") {
		t.Fatal("nothing was captured")
	}
	logged.mu.Lock()
	defer logged.mu.Unlock()
	for name, text := range map[string]string{"log": logged.b.String(), "events": events.String()} {
		for _, secret := range []string{secretOfAnn, base64.StdEncoding.EncodeToString([]byte("ann:" + secretOfAnn))} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s has the password", name)
			}
		}
	}
}

// releaseAndRun gives control back and runs a script.
func releaseAndRun(t *testing.T, v *viewer, code string) *Run {
	t.Helper()
	if err := v.Control("release"); err != nil {
		t.Fatal(err)
	}
	return startRun(t, v.session, code)
}

// TestAuthOfProxy lets people sign in to a proxy.
func TestAuthOfProxy(t *testing.T) {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("ann:"+secretOfAnn))
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.Header.Get("Proxy-Authorization") != want {
			w.Header().Set("Proxy-Authenticate", `Basic realm="way out", charset="UTF-8"`)
			w.WriteHeader(http.StatusProxyAuthRequired)
			_, _ = io.WriteString(w, "<title>no way out</title>")
			return
		}
		_, _ = fmt.Fprintf(w, "<title>%s by proxy</title>", r.URL.Host)
	}))
	t.Cleanup(proxy.Close)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{ProxyURL: proxy.URL})
	v := join(t, s, RoleControl)
	v.take()
	visit := func() AuthMessage {
		t.Helper()
		if err := v.Navigate(browsertest.Context(t, "navigate"), 0, "goto", "http://site.example/"); err != nil {
			t.Fatal(err)
		}
		return await(v, "question", func(m AuthMessage) bool { return !m.Closed })
	}
	asked := visit()
	if !asked.Proxy || asked.Realm != "way out" || "http://"+asked.Origin != proxy.URL {
		t.Errorf("asked %+v", asked)
	}
	if err := v.Auth(browsertest.Context(t, "decline"), asked.ID, false, "", ""); err != nil {
		t.Fatal(err)
	}
	v.titled("no way out")
	if err := v.Auth(browsertest.Context(t, "answer"), visit().ID, true, "ann", secretOfAnn); err != nil {
		t.Fatal(err)
	}
	v.titled("site.example by proxy")
}

// TestAuthOfScript checks that httpCredentials take precedence over people, and
// that nobody is asked about pages that a script opens.
func TestAuthOfScript(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	base := guarded(t)
	v := join(t, s, RoleControl)
	got := resultOf[string](t, startRun(t, s, fmt.Sprintf(`
		const refused = await page.goto(%[1]q).then(r => r.status(), e => 'refused');
		const context = await page.context().browser().newContext({ httpCredentials: { username: 'ann', password: %[2]q } });
		const other = await context.newPage();
		await other.goto(%[1]q);
		const title = await other.title();
		await context.close();
		return refused + ', ' + title`, base+"/in", secretOfAnn)))
	if !strings.HasSuffix(got, ", script for ann") {
		t.Errorf("the script saw %q", got)
	}
	v.take()
	for {
		select {
		case m := <-v.messages:
			if asked, ok := m.(AuthMessage); ok {
				t.Errorf("a person was asked: %+v", asked)
			}
			continue
		default:
		}
		break
	}
}
