package web

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/session"
	"takeover/web/snippets"
	"takeover/webhook"
)

// exampleRunner runs the examples of /docs as programs of their own.
type exampleRunner struct {
	*testServer
	dir       string
	goProgram string           // has all examples in Go
	session   *session.Session // the last one; some examples end it
}

// allExamples runs each example in all languages.
var allExamples = flag.Bool("all-examples", false, "run each example of /docs in all languages")

// sparse is the part of the examples that run in languages whose programs start
// slowly: one of so many.
const sparse = 4

// costly are the calls whose every example takes a Chromium of its own, besides those that
// start a session: they end theirs.
var costly = []string{"browserlessKill", "deleteSession", "forgetSession", "getPicture", "releaseAll", "releaseSession"}

// TestExamplesRun runs every example of /docs against a server. Each one runs by curl
// and in Go; every fourth one, and those of sockets and streams, also in JavaScript
// and Python. What takes a Chromium of its own runs in one language, by turns. With
// -all-examples, all of them run. In place of example.com, they visit the demo site.
func TestExamplesRun(t *testing.T) {
	s := startServer(t, func(o *session.Options, c *Config) {
		away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
		t.Cleanup(away.Close)
		withProfiles(t)(o, c)
		c.Webhooks = exampleWebhooks(t, o, away.URL)
		o.MaxSessions = 30
	})
	run := &exampleRunner{testServer: s, dir: t.TempDir()}
	// Their tables are made before the stream of events reserves the disk.
	run.forgetProfiles()
	if _, err := s.manager.Checkpoints().List(t.Context(), "none"); err != nil {
		t.Fatal(err)
	}
	codes := run.codes(s.docsPages())
	run.buildGo(codes)
	turn := 0
	for i, r := range s.table {
		if _, ok := r.example(s.base); !ok {
			if docsSections[docsSection(r)].id != docsPages && withoutExample[r.name] == "" {
				t.Errorf("%s has no example", r.name)
			}
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			var mine []snippets.Snippet
			for _, language := range snippets.Languages {
				if _, ok := codes[r.name][language.Language]; !ok {
					if r.kind != webSocket || language.Language != "curl" {
						t.Errorf("/docs has no example in %s", language.Label)
					}
					continue
				}
				slow := language.Language == "javascript" || language.Language == "python"
				if slow && !*allExamples && r.kind == plain && i%sparse != 0 {
					continue
				}
				if why := missing(language.Language, r); why != "" {
					t.Logf("not run in %s: %s", language.Label, why)
					continue
				}
				mine = append(mine, language)
			}
			if (r.creates || slices.Contains(costly, r.name)) && !*allExamples {
				turn++
				mine = mine[turn%len(mine):][:1]
			}
			for _, language := range mine {
				run.in(t, func() { run.check(t, r, language.Language, codes[r.name][language.Language]) })
			}
		})
	}
}

// in runs a part of the test whose failures are those of a subtest.
func (run *exampleRunner) in(t *testing.T, part func()) {
	parent := run.t
	run.t = t
	defer func() { run.t = parent }()
	part()
}

// exampleWebhooks returns a sender whose one address never takes a message.
func exampleWebhooks(t *testing.T, o *session.Options, address string) *webhook.Sender {
	t.Helper()
	endpoint, err := webhook.ParseEndpoint(address)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := webhook.New(t.Context(), webhook.Options{Endpoints: []webhook.Endpoint{endpoint}, Secret: webhook.NewSecret(), Server: "examples", Store: o.Store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sender.Close(context.Background()) })
	return sender
}

var breaks = regexp.MustCompile(`</?(?:wbr|span)[^>]*>`) // where a shown line may break, and where not

var shownExample = regexp.MustCompile(`(?s)<pre[^>]* aria-label="(\w+) in [^"]+" data-in="(\w+)"[^>]*><code>(.*?)</code>`)

// codes reads the examples from the page, by call and language.
func (run *exampleRunner) codes(page string) map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, m := range shownExample.FindAllStringSubmatch(page, -1) {
		if found[m[1]] == nil {
			found[m[1]] = map[string]string{}
		}
		found[m[1]][m[2]] = strings.ReplaceAll(html.UnescapeString(breaks.ReplaceAllString(m[3], "")), "https://example.com", run.base+"/demo/")
	}
	return found
}

// python returns the path of Python. What PATH names may be a shim, which starts several shells each time.
var python = sync.OnceValue(func() string {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return "python3"
	}
	return strings.TrimSpace(string(out))
})

// missing returns why an example cannot be run on this machine.
func missing(language string, r route) string {
	program := map[string]string{"curl": "curl", "javascript": "node", "python": "python3", "go": "go"}[language]
	if _, err := exec.LookPath(program); err != nil {
		return program + " is not installed"
	}
	if language == "python" && r.kind == webSocket && exec.Command(python(), "-c", "import websockets.sync.client").Run() != nil {
		return "Python has no package websockets"
	}
	return ""
}

// buildGo builds one program from all examples in Go: one function for each. They are
// whole programs on the page.
func (run *exampleRunner) buildGo(codes map[string]map[string]string) {
	run.t.Helper()
	dir := filepath.Join(run.dir, "go")
	if err := os.Mkdir(dir, 0o700); err != nil {
		run.t.Fatal(err)
	}
	files := []string{filepath.Join(dir, "main.go")}
	var cases strings.Builder
	for name, in := range codes {
		code := strings.Replace(in["go"], "func main() {", "func "+name+"Example() {", 1)
		file := filepath.Join(dir, name+"_example.go")
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			run.t.Fatal(err)
		}
		files = append(files, file)
		fmt.Fprintf(&cases, "\tcase %q:\n\t\t%sExample()\n", name, name)
	}
	if err := os.WriteFile(files[0], []byte("package main\n\nimport \"os\"\n\nfunc main() {\n\tswitch os.Args[1] {\n"+cases.String()+"\t}\n}\n"), 0o600); err != nil {
		run.t.Fatal(err)
	}
	run.goProgram = filepath.Join(dir, "examples")
	build := exec.CommandContext(run.t.Context(), "go", append([]string{"build", "-o", run.goProgram}, files...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // so it shares what make build has compiled
	if out, err := build.CombinedOutput(); err != nil {
		run.t.Fatalf("%v\n%s", err, out)
	}
}

// check runs an example, which must succeed.
func (run *exampleRunner) check(t *testing.T, r route, language, code string) {
	t.Helper()
	variables := run.prepare(t, r)
	dir := t.TempDir()
	ctx, stop := context.WithTimeout(browsertest.Context(t, r.name+" in "+language), time.Minute)
	defer stop()
	var cmd *exec.Cmd
	switch language {
	case "curl":
		if err := os.WriteFile(filepath.Join(dir, ".curlrc"), []byte("fail-with-body\nsilent\nshow-error\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd = exec.CommandContext(ctx, "bash", "-c", "exec "+code)
	case "javascript":
		file := filepath.Join(dir, "example.mjs")
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{file}
		if r.kind == webSocket {
			args = append([]string{"--experimental-websocket"}, args...) // Node.js before version 22
		}
		cmd = exec.CommandContext(ctx, "node", args...)
	case "python":
		cmd = exec.CommandContext(ctx, python(), "-c", code)
	default:
		cmd = exec.CommandContext(ctx, run.goProgram, r.name)
	}
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CURL_HOME="+dir, snippets.KeyVariable+"="+testKey)
	for name, value := range variables {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	printed, err := programOutput(cmd, r.kind == stream && r.name != "streamRun")
	if err != nil {
		t.Errorf("in %s: %v\n%s\n%s", language, err, printed, code)
		return
	}
	if answer, file := r.printed(); answer == snippets.File {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
			t.Errorf("in %s: no %s: %v", language, file, err)
		}
	} else if r.answers.status != http.StatusNoContent && len(printed) == 0 {
		t.Errorf("in %s: printed nothing\n%s", language, code)
	}
}

// programOutput runs a program and returns what it printed. A program that follows an
// endless stream is ended when it has printed something.
func programOutput(cmd *exec.Cmd, endless bool) ([]byte, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if !endless {
		out, err := cmd.Output()
		if err != nil {
			return append(out, stderr.Bytes()...), err
		}
		return out, nil
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	first := make([]byte, 4096)
	n, err := out.Read(first)
	if n > 0 {
		err = nil
	}
	kill := cmd.Process.Kill()
	if end, ok := errors.AsType[*exec.ExitError](cmd.Wait()); ok && n == 0 {
		err = end
	}
	return append(first[:n], stderr.Bytes()...), errors.Join(err, ignoreDone(kill))
}

// navigate makes a person use the address bar in a takeover.
func (run *exampleRunner) navigate(one *session.Session) {
	run.t.Helper()
	var asked struct{ ID string }
	run.call("POST", "/v1/sessions/"+one.ID()+"/takeovers", map[string]any{"reason": "help"}, 201, &asked)
	v := run.join(one, nil)
	v.send(map[string]any{"type": "control", "action": "take"})
	v.wait("control", func(m map[string]any) bool { return m["type"] == "control" && m["mine"] == true })
	page := "/demo/catalog?for=" + asked.ID // the session may have been at the catalog before
	v.send(map[string]any{"type": "navigate", "action": "goto", "url": run.base + page})
	v.wait("the catalog", func(m map[string]any) bool { return strings.Contains(fmt.Sprint(m), page) })
	run.call("POST", "/v1/sessions/"+one.ID()+"/takeovers/"+asked.ID+"/done", nil, 200, nil)
}

// ignoreDone drops the error that a process has ended already.
func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// prepare makes what a call needs, and returns the variables of its example.
func (run *exampleRunner) prepare(t *testing.T, r route) map[string]string {
	t.Helper()
	if run.session == nil || run.session.Info().Status.Ended() {
		run.session = run.create(map[string]any{"url": run.base + "/demo/", "capture": true}) // which also keeps pictures
	}
	one := run.session
	for _, other := range run.manager.List() { // of earlier examples
		if other != one && !other.Status().Ended() {
			_ = other.Release("its example is over") // it may have just ended
		}
	}
	path := "/v1/sessions/" + one.ID()
	v := map[string]string{"SESSION": one.ID(), "FILE": "hello.txt"}
	var made struct{ ID string }
	need := func(name, path string, body any, status int) {
		if strings.Contains(variablesIn(r), "{"+name+"}") {
			run.call("POST", path, body, status, &made)
			v[name] = made.ID
		}
	}
	if one.Info().Held { // by the example of hold, for a minute
		run.call("POST", path+"/hold", map[string]any{"action": "go_on"}, 200, nil)
	}
	if open := one.Info().Takeover; open != nil {
		run.call("POST", path+"/takeovers/"+open.ID+"/cancel", nil, 200, nil)
	}
	need("TAKEOVER", path+"/takeovers", map[string]any{"reason": "help", "steps": true}, 201)
	if r.name == "takeoverScript" || r.name == "takeoverRecorder" {
		run.call("POST", path+"/takeovers/"+v["TAKEOVER"]+"/done", nil, 200, nil)
	}
	code := "return 1"
	if r.name == "getRunPicture" {
		code = "throw new Error('no')"
	}
	need("RUN", path+"/scripts", map[string]any{"code": code, "wait": true}, 200)
	if r.name == "getRunPicture" {
		// A page that does not respond soon, as on a busy machine, leaves no picture.
		for ctx := browsertest.Context(t, "a picture"); ctx.Err() == nil && run.do(request{method: "GET", path: path + "/runs/" + v["RUN"] + "/picture"}).status == 404; {
			need("RUN", path+"/scripts", map[string]any{"code": code, "wait": true}, 200)
		}
	}
	need("LINK", path+"/links", map[string]any{"role": "view"}, 201)
	need("SCRIPT", "/v1/saved-scripts", map[string]any{"name": "a", "code": "return 1"}, 201)
	if strings.Contains(r.path, "/profiles") {
		run.forgetProfiles()
	}
	need("PROFILE", "/v1/profiles", map[string]any{"name": "a", "storageState": map[string]any{}}, 201)
	if strings.Contains(variablesIn(r), "{TARGET}") {
		var list []struct{ ID string }
		run.call("GET", path+"/json/list", nil, 200, &list)
		v["TARGET"] = list[0].ID
	}
	if strings.Contains(variablesIn(r), "{AT}") {
		var film filmView
		browsertest.Until(t, "the session has a picture", func() bool {
			run.call("GET", path+"/film", nil, 200, &film)
			return len(film.Pictures) > 0
		})
		v["AT"] = strconv.FormatInt(film.Pictures[0], 10)
	}
	need("CID", path+"/checkpoints", map[string]any{"taskDescription": "help"}, 201)
	if strings.Contains(variablesIn(r), "{TRAJECTORY}") {
		var recorded session.Recording
		run.call("POST", path+"/recording", map[string]any{"action": "start", "trajectoryBundle": true}, 200, nil)
		if r.name == "trajectoryScript" || r.name == "trajectoryRecorder" {
			run.navigate(one)
		}
		run.call("POST", path+"/recording", map[string]any{"action": "stop"}, 200, &recorded)
		v["TRAJECTORY"] = recorded.Bundle.ID
	}
	if strings.Contains(variablesIn(r), "{DELIVERY}") {
		v["DELIVERY"] = run.waitingDelivery(t)
	}
	switch {
	case strings.Contains(r.path, "/files"):
		if got := run.do(request{method: "POST", path: path + "/files?name=hello.txt", body: "hello", header: map[string]string{"Content-Type": "text/plain"}}); got.status != 201 {
			t.Fatalf("upload: %s", got.body)
		}
	case r.name == "getPicture":
		v["SESSION"] = run.pictured(t)
	case r.ofEnded:
		run.call("POST", path+"/release", nil, 200, nil)
	case strings.Contains(r.path, "/events"):
		run.call("POST", path+"/events/start", map[string]any{"console": true, "network": true, "navigation": true}, 200, nil)
		run.call("POST", path+"/scripts", map[string]any{"code": "await page.reload(); await page.evaluate(() => console.log('hello'))", "wait": true}, 200, nil)
	}
	return v
}

// pictured ends the session and returns its id, if it left a picture, or else that of another
// one: a page that does not respond soon, as on a busy machine, leaves none.
func (run *exampleRunner) pictured(t *testing.T) string {
	t.Helper()
	for ctx := browsertest.Context(t, "a session's last picture"); ctx.Err() == nil; {
		path := "/v1/sessions/" + run.session.ID()
		run.call("POST", path+"/release", nil, 200, nil)
		if run.do(request{method: "GET", path: path + "/picture"}).status == http.StatusOK {
			break
		}
		run.session = run.create(map[string]any{"url": run.base + "/demo/", "capture": true})
	}
	return run.session.ID()
}

// forgetProfiles deletes the profiles of earlier examples, whose names are in use.
func (run *exampleRunner) forgetProfiles() {
	run.t.Helper()
	var all struct{ Profiles []struct{ ID string } }
	run.call("GET", "/v1/profiles", nil, 200, &all)
	for _, one := range all.Profiles {
		run.call("DELETE", "/v1/profiles/"+one.ID, nil, 204, nil)
	}
}

// waitingDelivery returns the id of a delivery that its address does not take.
func (run *exampleRunner) waitingDelivery(t *testing.T) string {
	t.Helper()
	ctx := browsertest.Context(t, "a delivery")
	run.call("POST", "/v1/webhooks/test", nil, 202, nil)
	for ctx.Err() == nil {
		var all struct{ Deliveries []webhook.Delivery }
		run.call("GET", "/v1/webhooks/deliveries", nil, 200, &all)
		if len(all.Deliveries) > 0 {
			return all.Deliveries[0].ID
		}
	}
	t.Fatal("there is no delivery")
	return ""
}
