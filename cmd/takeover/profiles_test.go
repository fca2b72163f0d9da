package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"takeover/browser/browsertest"
)

// secretKey and otherSecretKey are secret keys of tests.
var secretKey, otherSecretKey = strings.Repeat("5e", 32), strings.Repeat("7a", 32)

// TestProfilesCommand keeps profiles with the command line, and checks that nothing
// in the data directory can be read, and what another secret key changes.
func TestProfilesCommand(t *testing.T) {
	const marker = "c00kie-medlar"
	state := `{"cookies":[{"name":"login","value":"` + marker + `","url":"https://a.example"}],"origins":[{"origin":"https://a.example","localStorage":[{"name":"k","value":"` + marker + `"}]}]}`
	dir := t.TempDir()
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte(secretKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TAKEOVER_API_KEY", testKey)
	base, _, stop := serve(t, "--data-dir", dir, "--secret-key-file", keys)
	t.Setenv("TAKEOVER_URL", base)
	says := func(in, want string, args ...string) string {
		t.Helper()
		code, out, errs := command(t, in, args...)
		if code != 0 || !strings.Contains(out+errs, want) {
			t.Errorf("%q: %d %q %q, want %q", args, code, out, errs, want)
		}
		return out
	}
	says("", "No profiles", "profiles")
	says(state, "saved shop-medlar: 1 cookies, storage of 1 sites", "profiles", "import", "shop-medlar", "-")
	says(state, "replaced shop-medlar", "profiles", "import", "shop-medlar", "-")
	says("", "shop-medlar", "profiles", "ls")
	api := &client{base: base, key: testKey, http: &http.Client{}}
	var one sessionInfo
	if err := api.call(t.Context(), "POST", "/v1/sessions", map[string]any{"profile": "shop-medlar", "capture": true}, &one); err != nil {
		t.Fatal(err)
	}
	says("", "saved copy: 1 cookies", "profiles", "save", "copy", one.ID)
	says("", "renamed to second", "profiles", "rename", "copy", "second")
	file := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(file, nil, 0o644); err != nil { // others may read it until something secret is in it
		t.Fatal(err)
	}
	says("", "Keep it safe", "profiles", "export", "second", "-o", file)
	if raw, err := os.ReadFile(file); err != nil || !bytes.Contains(raw, []byte(marker)) {
		t.Errorf("exported %s: %v", raw, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the exported file is open to others: %v, %v", info.Mode(), err)
	}
	says("", "0 profiles", "profiles", "reencrypt")
	says("", "removed second", "profiles", "rm", "second")
	says(state, "saved third", "profiles", "import", "third", "-")
	if code, out, errs := command(t, "", "profiles", "rm", "none", "third"); code != 1 || out != "removed third\n" || !strings.Contains(errs, "none: ") {
		t.Errorf("removal of two, of which one exists: %d %q %q", code, out, errs)
	}
	if code, _, errs := command(t, "", "profiles", "export", "second"); code != 1 || !strings.Contains(errs, "No such profile") {
		t.Errorf("export of a removed profile: %d %q", code, errs)
	}

	said := says("", one.ID, "--json", "open", one.ID)
	var address struct{ URL string }
	if err := json.Unmarshal([]byte(said), &address); err != nil || address.URL != base+"/sessions/"+one.ID {
		t.Errorf("open: %s", said)
	}
	says("", "playwright-mcp", "connect", one.ID)
	for _, program := range []string{"playwright", "puppeteer"} { // each prints the address of the session's page
		code := says("", one.ID, "connect", one.ID, "--for", program) + "console.log(page.url()); await (browser.disconnect?.() ?? browser.close()); process.exit(0);"
		cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", code)
		cmd.Dir, cmd.Env = "../..", append(os.Environ(), "TAKEOVER_API_KEY="+testKey)
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "about:blank" {
			t.Errorf("%s: %s, %v", program, out, err)
		}
	}
	if code, _, errs := command(t, "", "connect", one.ID, "--for", "telnet"); code != 2 || !strings.Contains(errs, "must be one of playwright") {
		t.Errorf("an unknown program: %d %q", code, errs)
	}
	if err := api.call(t.Context(), "POST", "/v1/sessions/"+one.ID+"/events", map[string]any{"type": "custom_quince", "data": map[string]any{"n": 1}}, nil); err != nil {
		t.Fatal(err)
	}
	says("", "custom_quince", "events", one.ID)
	followed := newOutput()
	ended := make(chan int, 1)
	go func() {
		ended <- realMain(t.Context(), []string{"events", one.ID, "--follow"}, streams{nil, followed, newOutput()})
	}()
	followed.find(t, `custom_quince (\{"n":1\})`)
	says("", "released", "sessions", "release", one.ID)
	if code := <-ended; code != 0 {
		t.Errorf("events --follow ended with %d", code)
	}
	if code := stop(); code != 0 {
		t.Fatalf("the server ended with %d", code)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, word := range []string{marker, "shop-medlar", secretKey} {
			if bytes.Contains(raw, []byte(word)) {
				t.Errorf("%s can be read in %s", word, path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}

	t.Setenv("TAKEOVER_SECRET_KEY", otherSecretKey)
	base, _, stop = serve(t, "--data-dir", dir)
	t.Setenv("TAKEOVER_URL", base)
	says("", "locked", "profiles")
	if code, _, errs := command(t, "", "profiles", "export", "shop-medlar"); code != 1 || !strings.Contains(errs, "another key") {
		t.Errorf("with another secret key: %d %q", code, errs)
	}
	stop()
	t.Setenv("TAKEOVER_SECRET_KEY", otherSecretKey+","+secretKey)
	base, _, stop = serve(t, "--data-dir", dir)
	t.Setenv("TAKEOVER_URL", base)
	says("", "1 profiles", "profiles", "reencrypt")
	stop()
	t.Setenv("TAKEOVER_SECRET_KEY", otherSecretKey)
	base, _, _ = serve(t, "--data-dir", dir)
	t.Setenv("TAKEOVER_URL", base)
	says("", marker, "profiles", "export", "shop-medlar")

	t.Setenv("TAKEOVER_SECRET_KEY", "correct horse")
	if code, _, errs := command(t, "", "serve", "--addr", "127.0.0.1:0", "--data-dir", t.TempDir()); code != 2 || !strings.Contains(errs, "openssl rand") || strings.Contains(errs, "correct horse") {
		t.Errorf("a weak secret key: %d %q", code, errs)
	}
}

// TestOwnSecretKey keeps a profile on a server without a given secret key. The server makes
// one at its first start, which opens the profile later, also beside a given key.
func TestOwnSecretKey(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey)
	dir := t.TempDir()
	path := filepath.Join(dir, secretKeyFile)
	start := func() (says func(want string, args ...string), log string) {
		ctx, cancel := context.WithCancel(context.Background())
		out, errs := newOutput(), newOutput()
		ended := make(chan int, 1)
		go func() {
			ended <- realMain(ctx, []string{"serve", "--addr", "127.0.0.1:0", "--warm", "0", "--data-dir", dir}, streams{nil, out, errs})
		}()
		t.Setenv("TAKEOVER_URL", out.find(t, `listening on (http://\S+)\n`))
		return func(want string, args ...string) {
			t.Helper()
			code, out, errs := command(t, `{"cookies":[],"origins":[]}`, args...)
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%q: %d %q %q, want %q", args, code, out, errs, want)
			}
			cancel()
			if code := <-ended; code != 0 {
				t.Errorf("the server ended with %d", code)
			}
		}, errs.String()
	}
	if err := os.WriteFile(path, []byte("\n"), 0o600); err != nil { // as after a crash
		t.Fatal(err)
	}
	says, log := start()
	if !strings.Contains(log, path) {
		t.Errorf("the first start does not say where its key is: %s", log)
	}
	says("saved shop", "profiles", "import", "shop", "-")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	says, log = start()
	if strings.Contains(log, secretKeyFile) {
		t.Errorf("the second start speaks of the key again: %s", log)
	}
	says("shop", "profiles", "ls")
	t.Setenv("TAKEOVER_SECRET_KEY", secretKey)
	says, _ = start()
	says("1 profiles", "profiles", "reencrypt")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	says, _ = start()
	says("shop", "profiles", "ls")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key was made beside a given one: %v", err)
	}
}

// TestKilledWithAnOpenProfile kills the server while a session with persist is open and
// its profile is being written. After a restart, the profile has a state that was
// written as a whole: the last one that was answered, or a later one.
func TestKilledWithAnOpenProfile(t *testing.T) {
	t.Setenv("TAKEOVER_SECRET_KEY", secretKey)
	state := func(n int) map[string]any {
		value := strconv.Itoa(n)
		return map[string]any{
			"cookies": []any{map[string]any{"name": "n", "value": value, "url": "https://a.example"}},
			"origins": []any{map[string]any{"origin": "https://a.example", "localStorage": []any{
				map[string]any{"name": "long", "value": strings.Repeat("long ", 200<<10)}, // more than one piece in the store
				map[string]any{"name": "n", "value": value},
			}}},
		}
	}
	dir := t.TempDir()
	before := startProcess(t, dir)
	var one struct{ ID, Status string }
	before.do(t, "POST", "/v1/profiles", map[string]any{"name": "shop", "storageState": state(0)}, nil)
	const enough = 5
	var answered int
	for n := 1; ; n++ {
		if n == enough {
			// Not earlier: a minute later, the session saves what it began with.
			before.do(t, "POST", "/v1/sessions", map[string]any{"profile": "shop", "persist": true}, &one)
			go func() { _ = before.process.Process.Kill() }() // beside the writes
		}
		if err := before.call(browsertest.Context(t, "a write"), "PUT", "/v1/profiles/shop/state", state(n), nil); err != nil {
			if n < enough {
				t.Fatal(err)
			}
			break
		}
		answered = n
	}
	_ = before.process.Wait() // reports that it was killed

	after := startProcess(t, dir)
	var found struct {
		Cookies []struct{ Value string }
		Origins []struct{ LocalStorage []struct{ Value string } }
	}
	after.do(t, "GET", "/v1/profiles/shop/state", nil, &found)
	if len(found.Cookies) != 1 || len(found.Origins) != 1 || len(found.Origins[0].LocalStorage) != 2 {
		t.Fatalf("the state has %d cookies and %d origins", len(found.Cookies), len(found.Origins))
	}
	value, storage := found.Cookies[0].Value, found.Origins[0].LocalStorage
	if n, err := strconv.Atoi(value); err != nil || n < answered || n > answered+1 || storage[1].Value != value || len(storage[0].Value) != 5*200<<10 {
		t.Errorf("the state is number %s, with the storage of %s, and %d was written", value, storage[1].Value, answered)
	}
	var kept struct {
		Name    string
		Cookies int
		Locked  bool
	}
	after.do(t, "GET", "/v1/profiles/shop", nil, &kept)
	if kept.Name != "shop" || kept.Cookies != 1 || kept.Locked {
		t.Errorf("the profile is %+v", kept)
	}
	after.do(t, "GET", "/v1/sessions/"+one.ID, nil, &one)
	if one.Status != "failed" {
		t.Errorf("the session is %s", one.Status)
	}
	after.do(t, "POST", "/v1/sessions", map[string]any{"profile": "shop", "persist": true}, &one)
	if one.Status != "live" {
		t.Errorf("a session with the profile is %s", one.Status)
	}
}
