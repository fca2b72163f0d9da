package session

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/invalid"
	"takeover/profiles"
	"takeover/storagestate"
	"takeover/store"
)

// newProfiles returns the profiles in a store, with a key of the test's own.
func newProfiles(t *testing.T, kept *store.Store) *profiles.Profiles {
	t.Helper()
	keys, err := profiles.NewKeys(strings.Repeat("5e", 32))
	if err != nil {
		t.Fatal(err)
	}
	return profiles.New(kept, keys)
}

// signInSite sets cookies of several kinds, and has a page that stores more.
func signInSite(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/in" {
			w.Header().Add("Set-Cookie", "visit=v1; Path=/")
			w.Header().Add("Set-Cookie", "login=quince; HttpOnly; Path=/; Max-Age=86400; SameSite=Strict")
			w.Header().Add("Set-Cookie", "part=plum; Secure; Partitioned; SameSite=None; Path=/")
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>"+r.URL.Path+"</title>")
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// storeMore stores an item, a record of a database and a session item in a page.
const storeMore = `async () => {
	localStorage.setItem('local', 'medlar');
	sessionStorage.setItem('tab', 'sorb');
	await new Promise((done, fail) => {
		const open = indexedDB.open('shop', 1);
		open.onupgradeneeded = () => open.result.createObjectStore('orders', { keyPath: 'id' }).put({ id: 3, what: new Uint8Array([1, 2]) });
		open.onsuccess = () => { open.result.close(); done(); };
		open.onerror = () => fail(open.error);
	});
}`

// readMore returns what storeMore stored, as one text.
const readMore = `async () => {
	const record = await new Promise((done, fail) => {
		const open = indexedDB.open('shop');
		open.onsuccess = () => {
			if (!open.result.objectStoreNames.contains('orders')) return done(undefined);
			const get = open.result.transaction('orders').objectStore('orders').get(3);
			get.onsuccess = () => done(get.result);
			get.onerror = () => fail(get.error);
		};
		open.onerror = () => fail(open.error);
	});
	return [localStorage.getItem('local'), sessionStorage.getItem('tab'), record ? [...record.what].join() : null].join(' ');
}`

// TestProfile signs in with one session, and starts a later one with its profile, on
// a server that was restarted.
func TestProfile(t *testing.T) {
	dir, first, second := t.TempDir(), signInSite(t), signInSite(t)
	kept := openKept(t, dir)
	m, err := NewManager(managerOptions(Options{Dir: t.TempDir(), WarmBrowsers: -1, Store: kept, Profiles: newProfiles(t, kept)}))
	if err != nil {
		t.Fatal(err)
	}
	s := create(t, m, CreateOptions{Profile: "shop", Persist: true})
	resultOf[any](t, startRun(t, s, `
		await page.goto('`+second+`/in'); await page.evaluate(`+storeMore+`);
		await page.goto('`+first+`/in'); await page.evaluate(`+storeMore+`)`))
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}

	kept = openKept(t, dir)
	saved := newProfiles(t, kept)
	m = startManager(t, Options{WarmBrowsers: -1, Store: kept, Profiles: saved})
	ctx := browsertest.Context(t, "profiles")
	found, err := saved.Find(ctx, "shop")
	if err != nil {
		t.Fatal(err)
	}
	origins := []string{first, second}
	slices.Sort(origins)
	if found.Cookies != 3 || !slices.Equal(found.Origins, origins) || found.UserData { // both sites have one host
		t.Errorf("profile %+v", found)
	}
	before, err := saved.State(ctx, found.ID)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(before), "sorb") {
		t.Errorf("the profile has session storage: %s", before)
	}
	s = create(t, m, CreateOptions{Profile: "shop", URL: first + "/one"})
	got := resultOf[struct {
		Storage string
		Cookies []struct {
			Name, Value, SameSite, PartitionKey string
			HTTPOnly                            bool
			Expires                             float64
		}
	}](t, startRun(t, s, `return { storage: await page.evaluate(`+readMore+`), cookies: await page.context().cookies() }`))
	if got.Storage != "medlar  1,2" {
		t.Errorf("storage %q", got.Storage)
	}
	for _, c := range got.Cookies {
		switch c.Name {
		case "visit":
			if c.Value != "v1" || c.Expires != -1 {
				t.Errorf("cookie %+v", c)
			}
		case "login":
			if c.Value != "quince" || !c.HTTPOnly || c.SameSite != "Strict" || c.Expires < 0 {
				t.Errorf("cookie %+v", c)
			}
		case "part":
			if c.Value != "plum" || c.PartitionKey == "" {
				t.Errorf("cookie %+v", c)
			}
		}
	}
	if len(got.Cookies) != 3 {
		t.Errorf("%d cookies", len(got.Cookies))
	}
	state, err := s.StorageState(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if names := state.OriginNames(); !slices.Contains(names, second) {
		t.Errorf("the origin that was not visited is not in the state: %q", names)
	}
	resultOf[any](t, startRun(t, s, `await page.evaluate(() => localStorage.setItem('local', 'changed'))`))
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	if after, err := saved.State(ctx, found.ID); err != nil || string(after) != string(before) {
		t.Errorf("a session without persist changed the profile: %v\n%s\n%s", err, before, after)
	}
	if _, err := m.Create(ctx, CreateOptions{Profile: "other"}); !wrongField(err, "profile") {
		t.Errorf("a profile that does not exist: %v", err)
	}
	if _, err := m.Create(ctx, CreateOptions{Persist: true}); !wrongField(err, "persist") {
		t.Errorf("persist without a profile: %v", err)
	}
	if _, err := m.Create(ctx, CreateOptions{ID: s.ID(), Profile: "other", Persist: true}); !wrongField(err, "sessionId") {
		t.Errorf("an id that another session has: %v", err)
	}
	if _, err := saved.Find(ctx, "other"); !errors.Is(err, profiles.ErrNotFound) {
		t.Errorf("a session that was refused left a profile: %v", err)
	}
}

func wrongField(err error, field string) bool {
	wrong, ok := errors.AsType[*invalid.Error](err)
	return ok && wrong.Fields[0].Field == field
}

// TestProfileAfterACrash lets Chromium die in a session with persist: what unvisited
// sites stored stays in the profile.
func TestProfileAfterACrash(t *testing.T) {
	first, second := signInSite(t), signInSite(t)
	kept := openKept(t, t.TempDir())
	saved := newProfiles(t, kept)
	m := startManager(t, Options{WarmBrowsers: -1, Store: kept, Profiles: saved})
	ctx := browsertest.Context(t, "profiles")
	var state storagestate.State
	if err := json.Unmarshal([]byte(`{"cookies":[],"origins":[{"origin":"`+second+`","localStorage":[{"name":"n","value":"v"}]}]}`), &state); err != nil {
		t.Fatal(err)
	}
	content, err := ProfileState(&state)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := saved.Create(ctx, "shop", content); err != nil {
		t.Fatal(err)
	}
	s := create(t, m, CreateOptions{Profile: "shop", Persist: true, URL: first + "/in"})
	v := join(t, s, RoleView)
	kill(t, s.pid(t))
	await(v, "recovered", func(m StateMessage) bool { return m.Type == "recovered" })
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	found, err := saved.Find(ctx, "shop")
	if err != nil || !slices.Equal(found.Origins, []string{second}) || found.Cookies == 0 {
		t.Errorf("profile %+v: %v", found, err)
	}
}

// TestSaveProfile saves the state of a session and its user data directory, and
// starts another session with them.
func TestSaveProfile(t *testing.T) {
	base := signInSite(t)
	kept := openKept(t, t.TempDir())
	saved := newProfiles(t, kept)
	m := startManager(t, Options{WarmBrowsers: -1, Store: kept, Profiles: saved})
	ctx := browsertest.Context(t, "profiles")
	s := create(t, m, CreateOptions{URL: base + "/in"})
	resultOf[any](t, startRun(t, s, `await page.evaluate(async () => {
		const cache = await caches.open('pages'); // not in a storage state
		await cache.put('/kept', new Response('damson'));
	})`))
	made, err := m.SaveProfile(ctx, s, "whole", true)
	if err != nil || made.UserData {
		t.Fatalf("saved %+v: %v", made, err)
	}
	if _, err := m.SaveProfile(ctx, s, "whole", false); !errors.Is(err, profiles.ErrExists) {
		t.Errorf("the same name twice: %v", err)
	}
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	if made, err = saved.Find(ctx, "whole"); err != nil || !made.UserData {
		t.Fatalf("after the end: %+v, %v", made, err)
	}
	const look = `return await page.evaluate(async () => document.cookie + ' ' + await (await caches.match('/kept'))?.text())`
	s = create(t, m, CreateOptions{Profile: "whole", Persist: true, URL: base + "/two"})
	if got := resultOf[string](t, startRun(t, s, look)); !strings.Contains(got, "visit=v1") || !strings.HasSuffix(got, " damson") {
		t.Errorf("the second session has %q", got)
	}
	if s.opts.saved.state != nil || s.opts.saved.folder != nil {
		t.Error("the session keeps what its browser has got, which may be large")
	}

	// A later Chromium of the session has it, too, and the whole of it is saved again.
	v := join(t, s, RoleView)
	kill(t, s.pid(t))
	await(v, "recovered", func(m StateMessage) bool { return m.Type == "recovered" })
	resultOf[any](t, startRun(t, s, `await page.goto('`+base+`/three'); await page.evaluate(async () => {
		await (await caches.open('pages')).put('/kept', new Response(await (await caches.match('/kept')).text() + ' jam'));
	})`))
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	s = create(t, m, CreateOptions{Profile: "whole", Persist: true, URL: base + "/four"})
	if got := resultOf[string](t, startRun(t, s, look)); !strings.HasSuffix(got, " damson jam") {
		t.Errorf("the third session has %q", got)
	}

	// A failure is an event: of the state, and of the directory.
	if _, err := s.StartCapture(ctx, capture.Config{Console: true}); err != nil {
		t.Fatal(err)
	}
	events := s.Journal().Read(0, capture.Filter{})
	if err := saved.Delete(ctx, made.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	failures := 0
	for {
		e, err := events.Next(ctx)
		if err != nil {
			break // the session's events have ended
		}
		if e.Type == capture.TypeProfileNotSaved && strings.Contains(string(e.Data), made.ID) {
			failures++
		}
	}
	if failures != 2 {
		t.Errorf("%d events say that something was not saved, want 2", failures)
	}
}

// TestSessionContext starts a session with cookies and storage.
func TestSessionContext(t *testing.T) {
	base := signInSite(t)
	m := startManager(t, Options{WarmBrowsers: -1})
	state, err := storagestate.Parse([]byte(`{"cookies":[{"name":"login","value":"fig","url":"` + base + `","httpOnly":true}],
		"origins":[{"origin":"` + base + `","localStorage":[{"name":"local","value":"date"}],"sessionStorage":[{"name":"tab","value":"sorb"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := create(t, m, CreateOptions{URL: base + "/one", State: state})
	got := resultOf[string](t, startRun(t, s, `
		const read = () => page.evaluate(() => localStorage.getItem('local') + ' ' + sessionStorage.getItem('tab'));
		const first = (await page.context().cookies())[0].value + ' ' + await read();
		await page.evaluate(() => sessionStorage.clear()); // as at the end of a sign-in
		await page.reload();
		return first + ', ' + await read()`))
	if got != "fig date sorb, date null" {
		t.Errorf("the session has %q", got)
	}
	state.Cookies[0].Name = "a;b"
	if _, err := m.Create(browsertest.Context(t, "create"), CreateOptions{State: state}); !wrongField(err, "sessionContext") {
		t.Errorf("a cookie that Chromium refuses: %v", err)
	}
}

// TestPasskeysOfProfile registers a passkey in a session with a profile. It works
// after Chromium has died, and in a later session.
func TestPasskeysOfProfile(t *testing.T) {
	base := strings.Replace(signInSite(t), "127.0.0.1", "localhost", 1)
	kept := openKept(t, t.TempDir())
	saved := newProfiles(t, kept)
	m := startManager(t, Options{WarmBrowsers: -1, Store: kept, Profiles: saved})
	s := create(t, m, CreateOptions{Profile: "shop", Persist: true, URL: base + "/one"})
	made := resultOf[string](t, startRun(t, s, `return await page.evaluate(async () => (await navigator.credentials.create({ publicKey: {
		challenge: new Uint8Array(16), rp: { name: 'R', id: 'localhost' }, user: { id: new Uint8Array([7]), name: 'n', displayName: 'N' },
		pubKeyCredParams: [{ type: 'public-key', alg: -7 }], authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
	} })).id)`))
	const use = `return await page.evaluate(async () => (await navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16), rpId: 'localhost' } })).id)`
	v := join(t, s, RoleView)
	kill(t, s.pid(t))
	await(v, "recovered", func(m StateMessage) bool { return m.Type == "recovered" })
	if used := resultOf[string](t, startRun(t, s, use)); used != made {
		t.Errorf("after the crash, passkey %s was used, want %s", used, made)
	}
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	found, err := saved.Find(browsertest.Context(t, "profile"), "shop")
	if err != nil || found.Passkeys != 1 {
		t.Errorf("profile %+v: %v", found, err)
	}
	s = create(t, m, CreateOptions{Profile: "shop", URL: base + "/two"})
	if used := resultOf[string](t, startRun(t, s, use)); used != made {
		t.Errorf("the later session used %s, want %s", used, made)
	}
	copied := resultOf[string](t, startRun(t, s, `
		const context = await browser.newContext({ storageState: await page.context().storageState({ credentials: true }) });
		const page2 = await context.newPage();
		await page2.goto('`+base+`/three');
		await page2.bringToFront();
		return await page2.evaluate(async () => (await navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16), rpId: 'localhost' } })).id)`))
	if copied != made {
		t.Errorf("another context used %s, want %s", copied, made)
	}
}

// TestProfileWhileTheSessionLives checks that the state is saved during a session
// with persist, so that a server that is killed loses little.
func TestProfileWhileTheSessionLives(t *testing.T) {
	base := signInSite(t)
	kept := openKept(t, t.TempDir())
	saved := newProfiles(t, kept)
	m := startManager(t, Options{WarmBrowsers: -1, Store: kept, Profiles: saved})
	m.saveEvery = 50 * time.Millisecond
	ctx := browsertest.Context(t, "the saved state")
	s := create(t, m, CreateOptions{Profile: "shop", Persist: true, URL: base + "/in"})
	browsertest.Until(t, "the first save", func() bool {
		found, err := saved.Find(ctx, "shop")
		return err == nil && found.Cookies == 3
	})
	before, err := saved.Find(ctx, "shop")
	if err != nil {
		t.Fatal(err)
	}
	resultOf[any](t, startRun(t, s, `await page.evaluate(() => localStorage.setItem('k', 'v'))`))
	browsertest.Until(t, "the next save", func() bool {
		found, err := saved.Find(ctx, "shop")
		return err == nil && len(found.Origins) == 1 && found.UpdatedAt.After(before.UpdatedAt)
	})
}

// TestChoicesOfCreate checks that choices of a session's creator have an effect:
// a proxy with a password, refused advertising, and refused downloads.
func TestChoicesOfCreate(t *testing.T) {
	var asked atomic.Pointer[http.Request]
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", "attachment")
			_, _ = io.WriteString(w, "content")
			return
		}
		if r.URL.String() == "http://far.test/page" {
			asked.Store(r)
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>through the proxy</title><a href="/file">file</a>`)
	}))
	t.Cleanup(proxy.Close)
	address := strings.Replace(proxy.URL, "http://", "http://ann:pass@", 1)
	m := startManager(t, Options{WarmBrowsers: -1})
	s := create(t, m, CreateOptions{ProxyURL: address, BlockAds: true, NoDownloads: true})
	if _, err := s.StartCapture(browsertest.Context(t, "capture"), capture.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	got := resultOf[string](t, startRun(t, s, `
		await page.goto('http://far.test/page');
		const [download] = await Promise.all([page.waitForEvent('download'), page.click('a')]);
		const failure = await download.failure();
		const ads = await page.goto('http://ads.doubleclick.net/').then(() => 'loaded', () => 'refused');
		return failure + ' ' + ads`))
	if got != "Pass { acceptDownloads: true } when you are creating your browser context. refused" { // Playwright's words
		t.Errorf("download and advertising: %q", got)
	}
	if r := asked.Load(); r == nil || r.Header.Get("Proxy-Authorization") != "Basic YW5uOnBhc3M=" || r.URL.String() != "http://far.test/page" {
		t.Errorf("the proxy was asked %+v", r)
	}
	if ev := awaitEvent(t, s, capture.TypeEgressBlocked); !strings.Contains(string(ev.Data), `"host":"ads.doubleclick.net"`) || !strings.Contains(string(ev.Data), `"denied-host"`) {
		t.Errorf("event %s", ev.Data)
	}
	folder, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if list, err := folder.List(); err != nil || len(list) != 0 {
		t.Errorf("files %v: %v", list, err)
	}
	if text := told(t, s); strings.Contains(text, "ann") && strings.Contains(text, "pass@") {
		t.Error("the API tells the proxy's password")
	}
}
