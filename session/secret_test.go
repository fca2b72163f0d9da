package session

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/redact"
)

// secretPage reports everything that it receives: it sends each change to the
// console, and to the server in the body and the address of requests, and shows
// it in its title.
const secretPage = `<!doctype html><title>Sign in</title><style>body{margin:0}input{position:absolute;left:10px;width:300px;height:30px;box-sizing:border-box}</style>
	<form method=post action=/in>
	<input id=user name=user style="top:10px"><input id=pw name=p type=password style="top:60px">
	<input class=d autocomplete=one-time-code maxlength=1 style="top:110px;width:30px"><input class=d autocomplete=one-time-code maxlength=1 style="top:110px;left:50px;width:30px">
	<input class=d autocomplete=one-time-code maxlength=1 style="top:110px;left:90px;width:30px"><input class=d autocomplete=one-time-code maxlength=1 style="top:110px;left:130px;width:30px">
	<input id=card name=c autocomplete=cc-number style="top:160px"></form><script>
	const boxes = [...document.querySelectorAll('.d')];
	boxes.forEach((b, i) => b.oninput = () => boxes[i + 1]?.focus());
	const tell = (v) => { console.log('value ' + v, {v}); console.log(encodeURIComponent(v) + ' ' + btoa('u:' + v) + ' ' + btoa('us:' + v) + ' ' + btoa('use:' + v)); };
	pw.oninput = () => tell(pw.value);
	card.oninput = () => tell(card.value.replaceAll(' ', ''));
	let told = 0;
	addEventListener('keydown', (e) => { if (e.key == 'F3') {
		document.title = 'Typed ' + pw.value;
		history.replaceState(0, '', '/at?q=' + encodeURIComponent(pw.value));
	} });
	addEventListener('keydown', (e) => { if (e.key == 'F2') {
		const code = boxes.map(b => b.value).join('');
		for (const v of [pw.value, code, card.value]) if (v) tell(v);
		fetch('/json', {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify({a: pw.value, b: +code, c: {d: card.value}})});
		fetch('/form', {method: 'POST', body: new URLSearchParams({x: pw.value, y: code})}).then(r => r.text()).then(t => console.error('answer ' + t));
	} });
	</script>`

// secretSite serves secretPage and echoes what it is sent.
func secretSite(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		var b bytes.Buffer
		_, _ = b.ReadFrom(r.Body)
		switch r.URL.Path {
		case "/form":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write(b.Bytes())
		case "/in":
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1"})
			_, _ = w.Write([]byte("<title>In</title>in"))
		default:
			_, _ = w.Write([]byte(secretPage))
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// minSearched is the length of the shortest secret that no other text contains by chance.
const minSearched = 6

// encodings returns the forms in which a secret is searched for.
func encodings(secret string) map[string]string {
	quoted, _ := json.Marshal(secret)
	escaped := url.QueryEscape(secret)
	wide := make([]byte, 0, 2*len(secret))
	for _, u := range utf16.Encode([]rune(secret)) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	all := map[string]string{
		"plain": secret, "JSON": string(quoted[1 : len(quoted)-1]), "HTML": html.EscapeString(secret), "UTF-16": string(wide),
		"form": escaped, "path": url.PathEscape(secret), "lower percent": strings.ToLower(escaped), "spaces as percent": strings.ReplaceAll(escaped, "+", "%20"),
	}
	for shift := range 3 {
		if len(secret) < minSearched {
			break // its base64 is too short to be distinguished from other text
		}
		s := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret + "xx"))
		from := (shift*8 + 5) / 6
		all["base64 "+string(rune('0'+shift))] = s[from : (shift+len(secret))*8/6]
	}
	return all
}

// absent fails if a text contains one of the secrets in any encoding. A short code is no finding
// within a longer number or word: times and ids have its digits by chance.
func absent(t *testing.T, where, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		for name, form := range encodings(secret) {
			at := strings.Index(text, form)
			if len(secret) < minSearched {
				at = indexOf(regexp.MustCompile(`(?:^|[^0-9A-Za-z.])`+regexp.QuoteMeta(form)+`(?:[^0-9A-Za-z.]|$)`), text)
			}
			if at >= 0 {
				t.Errorf("%q is in %s (%s): …%q…", secret, where, name, text[max(0, at-60):min(len(text), at+len(form)+20)])
			}
		}
	}
}

func indexOf(form *regexp.Regexp, text string) int {
	if at := form.FindStringIndex(text); at != nil {
		return at[0]
	}
	return -1
}

// logBuffer collects a log from any goroutine.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// typeText presses the keys of a text.
func (v *viewer) typeText(t *testing.T, epoch uint64, text string) {
	t.Helper()
	for _, r := range text {
		v.stroke(t, epoch, string(r), string(r))
	}
}

func (v *viewer) stroke(t *testing.T, epoch uint64, key, text string) {
	t.Helper()
	for _, k := range []Key{{Event: "down", Key: key, Text: text}, {Event: "up", Key: key}} {
		if err := v.Key(k, Stamp{Epoch: epoch}); err != nil {
			t.Fatal(err)
		}
	}
}

// focused waits until viewers are notified of a focus of this kind.
func (v *viewer) focused(kind string) {
	v.t.Helper()
	await(v, "focus in "+kind, func(m FocusMessage) bool { return m.Kind == kind })
}

// TestSecretsAreFoundNowhere lets a person sign in on a page that reports
// everything it gets, and searches everything that is kept for what the person
// typed.
func TestSecretsAreFoundNowhere(t *testing.T) {
	const password, code, card = `pä55 w/"ö<rd>&+%~'x`, "7319", "4000 0566 5566 5556"
	secrets := []string{password, card, strings.ReplaceAll(card, " ", "")}
	log := &logBuffer{}
	m := startManager(t, Options{WarmBrowsers: -1, Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	s := create(t, m, CreateOptions{URL: secretSite(t)})
	if _, err := s.StartCapture(t.Context(), capture.Config{Console: true, Network: true, NetworkResponseBody: true, Navigation: true, Interactions: true, Screenshots: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := StartRecording(s, RecordingOptions{Bundle: true}); err != nil {
		t.Fatal(err)
	}
	r := startRun(t, s, `
		await context.tracing.start({ snapshots: true });
		await context.tracing.startHar('whole.har', { content: 'embed' });
		const other = await browser.newContext({ recordHar: { path: 'other.zip' } });
		const done = await requestTakeover('sign in', { steps: true });
		const echo = await other.newPage();
		await echo.goto(page.url().replace(/[^/]*$/, ''));
		await echo.evaluate(v => fetch('/form', { method: 'POST', body: new URLSearchParams({ v }) }).then(r => r.text()), await page.locator('#pw').inputValue());
		await other.close();
		console.log('typed', await page.locator('#pw').inputValue());
		await page.locator('#pw').press('F4');
		await page.evaluate(() => document.querySelector('form').requestSubmit());
		await page.waitForURL('**/in');
		await context.tracing.stopHar();
		await context.tracing.stop({ path: 'trace.zip' });
		return { done, all: [await page.title()], card: args };`)
	to := openTakeoverOf(t, r)
	v, epoch := claim(t, s, to)
	events := s.monitor.Ring().Read(0)

	v.press(t, epoch, 100, 75)
	v.focused("password")
	v.typeText(t, epoch, password[:len(password)-1]+"yz")
	v.stroke(t, epoch, "Backspace", "") // a typing mistake
	v.stroke(t, epoch, "Backspace", "")
	v.typeText(t, epoch, "x")
	v.press(t, epoch, 20, 125)
	v.focused("otp")
	v.typeText(t, epoch, code)
	v.press(t, epoch, 100, 175)
	v.focused("card")
	if err := v.Text(Text{Text: card}, Stamp{Epoch: epoch}); err != nil { // pasted
		t.Fatal(err)
	}
	v.stroke(t, epoch, "F2", "")
	ctx := browsertest.Context(t, "the page's answer")
	for {
		e, err := events.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "console_error" && strings.Contains(string(e.Data), "answer x=") {
			if !strings.Contains(string(e.Data), redact.Mark) {
				t.Errorf("the answer has no secret: %s", e.Data)
			}
			break
		}
	}
	inFiles(t, m.opts.Dir, "of a live session", secrets...)

	// An address or a title with a secret stays in the browser's own history while
	// the browser runs.
	v.stroke(t, epoch, "F3", "")
	await(v, "the address and the title", func(m TabsMessage) bool {
		return strings.Contains(m.Tabs[0].URL, "/at?q=") && strings.HasPrefix(m.Tabs[0].Title, "Typed ")
	})
	info, err := json.Marshal(s.Info())
	if err != nil {
		t.Fatal(err)
	}
	absent(t, "the session's state", string(info), append(secrets, code)...)
	if !strings.Contains(string(info), "Typed "+redact.Mark) {
		t.Errorf("the page's title is not what it was made: %s", info)
	}
	if err := v.Takeover("done", to.ID(), "the password is "+password); err != nil {
		t.Fatal(err)
	}
	run := endOf(t, r)
	if run.Status != RunSucceeded {
		t.Fatalf("run: %+v", run.Error)
	}
	all, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	absent(t, "the run", string(all), append(secrets, code)...)
	if !strings.Contains(string(all), "typed "+redact.Mark) {
		t.Errorf("the script did not read the field: %s", all)
	}
	absent(t, "the background log", r.Log()+s.Log(), append(secrets, code)...)
	if !strings.Contains(r.Log(), "value "+redact.Mark) {
		t.Errorf("the background log has no secret: %s", r.Log())
	}
	recordings(t, s, append(secrets, code)...)
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	inFiles(t, m.opts.Dir, "after the end", secrets...)
	absent(t, "the log", log.String(), append(secrets, code)...)

	// The ring has all events, and none of them is a key of the person.
	ring := s.monitor.Ring().Read(0)
	types := map[string]int{}
	person := false
	for last := s.monitor.Ring().Last(); ; {
		e, err := ring.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		types[e.Type]++
		switch e.Type {
		case capture.TypeTakeoverClaimed, capture.TypeTakeoverDone:
			person = e.Type == capture.TypeTakeoverClaimed
		case capture.TypeScreenshot:
			if person {
				t.Error("a picture was taken while a person was in control")
			}
		}
		whole, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		absent(t, "event "+e.Type, string(whole), secrets...)
		absent(t, "data of event "+e.Type, string(e.Data), code)
		if e.Seq >= last {
			break
		}
	}
	for _, want := range []string{"console_log", "console_error", "network_request", "network_response", "interaction_click", "takeover_done"} {
		if types[want] == 0 {
			t.Errorf("no event %s was recorded: %v", want, types)
		}
	}
	if n := types["interaction_key"]; n > 1 { // F4 comes from the script
		t.Errorf("what a person did was recorded: %v", types)
	}
}

// recordings searches the files in which the script recorded requests and
// actions while secrets were entered.
func recordings(t *testing.T, s *Session, secrets ...string) {
	t.Helper()
	folder, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"whole.har", "other.zip", "trace.zip"} {
		data, err := folder.Read(name, 64<<20)
		if err != nil {
			t.Fatal(err)
		}
		parts := map[string]string{name: string(data)}
		if strings.HasSuffix(name, ".zip") {
			archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range archive.File {
				in, err := archive.Open(part.Name)
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(in)
				if err := errors.Join(err, in.Close()); err != nil {
					t.Fatal(err)
				}
				parts[name+" "+part.Name] = string(data)
			}
		}
		all := ""
		for part, text := range parts {
			if strings.HasSuffix(part, ".har") && !json.Valid([]byte(text)) {
				t.Errorf("%s is no JSON", part)
			}
			absent(t, part, text, secrets...)
			all += text
		}
		if !strings.Contains(all, redact.Mark) {
			t.Errorf("%s had no secret", name)
		}
	}
}

// inFiles searches every file below a folder. It skips a session's socket and
// lock, which are not regular files.
func inFiles(t *testing.T, dir, when string, secrets ...string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // gone since it was listed
		}
		data, err := os.ReadFile(path)
		if err == nil {
			absent(t, "file "+path+" "+when, string(data), secrets...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoPictureOfSecrets requests pictures while a person is in a password field.
func TestNoPictureOfSecrets(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: secretSite(t)})
	v := join(t, s, RoleControl)
	v.picture("page")
	before, _, err := s.Thumbnail(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	epoch := v.control(t)
	v.press(t, epoch, 100, 75)
	v.focused("password")
	v.typeText(t, epoch, "secret")
	v.picture("what they type") // viewers see it
	if _, _, err := s.Screenshot(t.Context(), "", false); !errors.Is(err, ErrSecret) {
		t.Errorf("a screenshot gave %v", err)
	}
	s.stills.thumb.at = s.stills.thumb.at.Add(-thumbnailEvery)
	if now, _, err := s.Thumbnail(t.Context()); err != nil || !bytes.Equal(now, before) {
		t.Errorf("a thumbnail of the secret was made: %v", err)
	}
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if s.unveiled(ended, p) == nil {
		t.Error("scripts may take pictures")
	}
	r := startRun(t, s, `const shot = await page.screenshot(); await page.pdf(); return { length: shot.length }`)
	v.press(t, epoch, 100, 25) // the user name
	v.focused("text")
	if got := resultOf[struct{ Length int }](t, r); got.Length == 0 {
		t.Error("no picture after the person went on")
	}
	if _, _, err := s.Screenshot(t.Context(), "", false); err != nil {
		t.Errorf("a screenshot afterwards gave %v", err)
	}
}

// TestPagesInventSecrets opens a page that tells hundreds of invented contents of secret
// fields while a person types a password. The password stays hidden, and harmless texts
// stay readable.
func TestPagesInventSecrets(t *testing.T) {
	site := serve(t, `<!doctype html><style>body{margin:0}input{position:absolute;left:10px;width:300px;height:30px}</style>
		<input id=pw type=password style="top:60px"><input id=other type=password style="top:120px"><p id=told></p><script>
		const tell = (value) => { other.value = value; other.dispatchEvent(new InputEvent('input', { bubbles: true })); };
		let told = 0;
		setInterval(() => {
			for (const value of ['http', 'error', '","', location.host]) tell(value);
			for (let i = 0; i < 20; i++) tell('filler number ' + ++told);
			document.title = 'told ' + told;
		}, 20);</script>`)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site})
	told := func(s *Session) (n int) {
		_, _ = fmt.Sscanf(s.Info().Title, "told %d", &n)
		return n
	}
	v := join(t, s, RoleControl)
	v.picture("page")
	epoch := v.control(t)
	v.press(t, epoch, 100, 75)
	v.focused("password")
	const password = "Tr0ub4dor&3"
	v.typeText(t, epoch, password)
	from := told(s)
	browsertest.Until(t, "400 more contents are told", func() bool { return told(s) > from+400 })
	v.press(t, epoch, 300, 400)
	hide := s.monitor.Redactor().Text
	if got := hide("it is " + password); strings.Contains(got, password) {
		t.Errorf("the password stays in %q", got)
	}
	harmless := `error: GET ` + site + `/ ["a","b"]`
	if got := hide(harmless); got != harmless {
		t.Errorf("%q became %q", harmless, got)
	}
	readable := 0
	for i := range 400 {
		if text := fmt.Sprintf("filler number %d", from+i+1); hide(text) == text {
			readable++
		}
	}
	if readable < 300 {
		t.Errorf("only %d of 400 texts that the page told are readable", readable)
	}
}

// TestLateAnswers types a name and then a password, by mouse and by Tab, and answers which
// fields the keys went to only at the end. The name stays readable, the password does not.
func TestLateAnswers(t *testing.T) {
	site := serve(t, `<!doctype html><style>body{margin:0}input{position:absolute;left:10px;width:300px;height:30px}</style>
		<input type=email style="top:10px"><input type=password style="top:60px">`)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site})
	v := join(t, s, RoleControl)
	v.picture("page")
	epoch := v.control(t)
	late := newFocusProbe(s) // it does not answer until it is told to
	eng := s.tabs.browser()
	late.tracker = eng.tracker
	page := s.shown().page
	press := func(y float64) {
		late.moves(page)
		v.press(t, epoch, 100, y)
	}
	typed := func(text string) {
		for _, r := range text {
			late.typed(page, Key{Event: "down", Key: string(r), Text: string(r)})
		}
	}
	hidden := func(text string) bool { return !strings.Contains(s.monitor.Redactor().Text("it is "+text), text) }

	press(25)
	v.focused("email")
	typed("somebody")
	press(75)
	v.focused("password")
	if late.answerAll(); hidden("somebody") {
		t.Error("a name is hidden like a password")
	}

	before, _ := eng.tracker.Reported(page)
	press(25)
	v.focused("email")
	browsertest.Until(t, "the focus is reported", func() bool { n, _ := eng.tracker.Reported(page); return n > before })
	before, _ = eng.tracker.Reported(page)
	press(25) // where the focus is already
	browsertest.Until(t, "the focus is reported again", func() bool { n, _ := eng.tracker.Reported(page); return n > before })
	typed("another")
	late.typed(page, Key{Event: "down", Key: "Tab"})
	v.stroke(t, epoch, "Tab", "")
	v.focused("password")
	typed("correct horse")
	if late.answerAll(); hidden("another") {
		t.Error("a name before Tab is hidden like a password")
	}
	if !hidden("correct horse") {
		t.Error("a password is readable")
	}

	press(25)
	v.focused("email")
	late.moves(page)
	typed("battery staple")
	v.press(t, epoch, 100, 75)
	v.focused("password")
	if late.answerAll(); !hidden("battery staple") {
		t.Error("a password is readable that was typed before the page said where the focus is")
	}
}
