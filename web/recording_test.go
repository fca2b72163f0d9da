package web

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/checkpoints"
	"takeover/contract"
	"takeover/door/cdp"
	"takeover/profiles"
	"takeover/redact"
	"takeover/session"
	"takeover/trajectory"
)

const recordedSecret = "super-secret-fixture-password"

// recordedSite serves a page with a name, a password and a button.
func recordedSite(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>Fixture</title><h1>Example Domain</h1><input id=name><input id=password type=password><button onclick="document.title += '!'; console.log('it is ' + password.value + btoa(password.value)); fetch('/?p=' + password.value)">press</button>`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// recorded is a server whose data directory a test reads.
type recorded struct {
	*testServer
	dir string
}

func startRecorded(t *testing.T) *recorded {
	t.Helper()
	r := &recorded{}
	r.testServer = startServer(t, func(o *session.Options, _ *Config) { r.dir = o.Dir })
	return r
}

func (r *recorded) recording(one *session.Session, body string) (now session.Recording) {
	r.t.Helper()
	r.call("POST", "/v1/sessions/"+one.ID()+"/recording", body, 200, &now)
	return now
}

// run runs a script to its end.
func (r *recorded) run(one *session.Session, code string) {
	r.t.Helper()
	var run session.RunInfo
	r.call("POST", "/v1/sessions/"+one.ID()+"/scripts", map[string]any{"code": code, "wait": true}, 200, &run)
	if run.Status != session.RunSucceeded {
		r.t.Fatalf("%s: %s %+v", code, run.Status, run.Error)
	}
}

// events reads the events of a bundle, and checks that their numbers rise.
func (r *recorded) events(dir string) (list []trajectory.Event) {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, dir, "events.jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		var e trajectory.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			r.t.Fatalf("%s: %v", lines.Text(), err)
		}
		if n := len(list); n > 0 && e.Seq <= list[n-1].Seq {
			r.t.Errorf("event %d comes after %d", e.Seq, list[n-1].Seq)
		}
		list = append(list, e)
	}
	return list
}

// search returns the files of a bundle that contain a text.
func (r *recorded) search(dir, text string) (found []string) {
	r.t.Helper()
	root := filepath.Join(r.dir, dir)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(root, name))
		if bytes.Contains(raw, []byte(text)) {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// TestRecording records what each door and a person do in one session, in one
// bundle: in order, each with its actor, without the password that a script types.
func TestRecording(t *testing.T) {
	r := startRecorded(t)
	site := recordedSite(t)
	one := r.create(map[string]any{"url": site, "capture": true})
	path := "/v1/sessions/" + one.ID()
	if off := r.recording(one, `{"action":"status"}`); off.Recording || off.Bundle.Enabled {
		t.Errorf("before the start: %+v", off)
	}
	r.do(request{method: "POST", path: path + "/recording", body: `{"action":"stop"}`}).problem(409)
	r.do(request{method: "POST", path: path + "/recording", body: `{"action":"start","screenshots":"some"}`}).problem(400)
	const earlier = "typed-before-the-recording"
	r.run(one, `await page.fill('#password', '`+earlier+`')`)
	started := r.recording(one, `{"action":"start","trajectoryBundle":true}`)
	dir := started.Bundle.Dir
	r.run(one, `await page.fill('#name', '`+earlier+`')`)
	if !started.Recording || !started.Bundle.Enabled || dir != "trajectories/"+started.Bundle.ID || !trajectory.ValidID(started.Bundle.ID) {
		t.Errorf("started: %+v", started)
	}
	r.do(request{method: "POST", path: path + "/recording", body: `{"action":"start"}`}).problem(409)

	r.run(one, `await page.fill('#name', 'Ada'); await page.fill('#password', '`+recordedSecret+`'); await page.locator('button').click(); return page.inputValue('#password')`)

	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	mcp, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: r.base + "/mcp", MaxRetries: -1, HTTPClient: &http.Client{Transport: withKey{transport}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := mcp.CallTool(t.Context(), &sdk.CallToolParams{Name: "browser_navigate", Arguments: map[string]any{"session": one.ID(), "url": site + "/?token=abcdefgh"}}); err != nil || answer.IsError {
		t.Fatal(answer, err)
	}
	typed := &sdk.CallToolParams{Name: "browser_type", Arguments: map[string]any{"session": one.ID(), "target": "#name", "text": "Grace"}}
	if answer, err := mcp.CallTool(t.Context(), typed); err != nil || answer.IsError {
		raw, _ := json.Marshal(answer)
		t.Fatalf("%s %v", raw, err)
	}
	if err := mcp.Close(); err != nil {
		t.Error(err)
	}
	r.call("POST", path+"/actions", `{"type":"click","selector":"button"}`, 200, nil)
	commands := r.socket(path + "/commands")
	if a, err := commands.ask(map[string]any{"type": "command", "commandId": "1", "method": "title"}, "1"); err != nil || a["error"] != nil {
		t.Fatal(a, err)
	}
	r.run(one, `await context.newPage()`)
	var pages []cdp.Target
	r.call("GET", path+"/json/list", nil, 200, &pages)
	if len(pages) != 2 {
		t.Fatalf("the pages are %+v", pages)
	}
	for _, page := range pages {
		client := r.socket(path + "/cdp/page/" + page.ID)
		if a, err := client.ask(map[string]any{"id": 1, "method": "Page.navigate", "params": map[string]any{"url": site + "/cdp"}}, "1"); err != nil || a["error"] != nil {
			t.Fatal(a, err)
		}
	}
	var asked session.TakeoverInfo
	r.call("POST", path+"/takeovers", `{"reason":"Sign in"}`, 201, &asked)
	r.call("POST", path+"/takeovers/"+asked.ID+"/done", `{"note":"signed in"}`, 200, nil)

	stopped := r.recording(one, `{"action":"stop"}`)
	if stopped.Recording || stopped.Bundle.ID != started.Bundle.ID || stopped.Report == nil || stopped.Report.LeakScan.State != trajectory.Clean || stopped.Report.Lost != 0 {
		t.Errorf("stopped: %+v, %+v", stopped, stopped.Report)
	}
	var told []string
	tabs := map[string]bool{} // of the commands of the CDP client
	for _, e := range r.events(dir) {
		if e.Actor == "cdp" {
			tabs[e.TabID] = true
		}
		if e.Kind != trajectory.ToolCallStart {
			told = append(told, fmt.Sprintf("%s %s %s", e.Kind, e.Actor, e.Tool))
		}
		if e.OK != nil && !*e.OK {
			t.Errorf("failed: %+v", e)
		}
	}
	if len(told) != 14 || len(tabs) != 2 {
		t.Errorf("the calls are %q, the tabs of CDP commands %v", told, tabs)
	}
	for _, want := range []string{
		"tool_call_end script fill", "tool_call_end script click", "tool_call_end script inputValue", "tool_call_end mcp browser_navigate", "tool_call_end actions click",
		"tool_call_end commands title", "tool_call_end cdp Page.navigate", "takeover_start api ", "takeover_end person ",
	} {
		if !slices.Contains(told, want) {
			t.Errorf("there is no %q in %q", want, told)
		}
	}
	for _, secret := range []string{recordedSecret, earlier} {
		if where := r.search(dir, secret); len(where) > 0 {
			t.Errorf("the password %s is in %s", secret, where)
		}
	}
	if where := r.search(dir, r.dir); len(where) > 0 {
		t.Errorf("the folder's path is in %s", where)
	}
	for _, shown := range []string{`"value":"Ada"`, `"text":"Grace"`, `"it is `} {
		if where := r.search(dir, shown); len(where) == 0 {
			t.Errorf("%s, which was typed into a field that is not secret, is not in the bundle", shown)
		}
	}
	r.checkPictures(dir)
	r.checkLibrary(started.Bundle.ID)
}

// checkLibrary reads a bundle by the API, and removes it.
func (r *recorded) checkLibrary(id string) {
	r.t.Helper()
	var listed struct{ Trajectories []trajectory.BundleInfo }
	r.call("GET", "/v1/trajectories", nil, 200, &listed)
	if len(listed.Trajectories) != 1 || listed.Trajectories[0].ID != id || listed.Trajectories[0].Report == nil {
		r.t.Errorf("listed: %+v", listed)
	}
	path := "/v1/trajectories/" + id
	var info trajectory.BundleInfo
	r.call("GET", path, nil, 200, &info)
	for _, file := range info.Files {
		got := r.do(request{method: "GET", path: path + "/files/" + file.Path})
		if sum := sha256.Sum256(got.body); got.status != 200 || hex.EncodeToString(sum[:]) != file.SHA256 {
			r.t.Errorf("%s: %d, %d bytes", file.Path, got.status, len(got.body))
		}
	}
	for _, name := range []string{"none", "..%2fmeta.json", "screenshots"} {
		r.do(request{method: "GET", path: path + "/files/" + name}).problem(404)
	}
	got := r.do(request{method: "GET", path: path + "/bundle.zip"})
	if z, err := zip.NewReader(bytes.NewReader(got.body), int64(len(got.body))); err != nil || len(z.File) != len(info.Files)+1 {
		r.t.Errorf("the archive: %v", err)
	}
	for _, form := range []string{path + "/trace.zip", path + "/bundle.zip", path + "/events.har", path + "/report.html", "/trajectories/" + id} {
		got := r.do(request{method: "GET", path: form})
		if got.status != 200 {
			r.t.Errorf("%s: %d %s", form, got.status, got.body)
		}
		for name, content := range unzipped(r.t, form, got.body) {
			for _, secret := range []string{recordedSecret, base64.StdEncoding.EncodeToString([]byte(recordedSecret)), url.QueryEscape(recordedSecret)} {
				if bytes.Contains(content, []byte(secret)) {
					r.t.Errorf("the password is in %s of %s", name, form)
				}
			}
		}
	}
	r.call("DELETE", path, nil, 204, nil)
	r.do(request{method: "GET", path: path}).problem(404)
	r.do(request{method: "GET", path: "/trajectories/" + id}).problem(404)
}

// unzipped returns the files of an archive by their names, or what is no archive under its own.
func unzipped(t *testing.T, name string, content []byte) map[string][]byte {
	t.Helper()
	if !strings.HasSuffix(name, ".zip") {
		return map[string][]byte{name: content}
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(name, err)
	}
	files := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(name, err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(name, err)
		}
	}
	return files
}

// TestPageOfALeakyTrajectory opens the page of a recording that has a secret in it, and of one
// that nobody could search.
func TestPageOfALeakyTrajectory(t *testing.T) {
	s := startServer(t, nil)
	secrets := redact.New(redact.Options{})
	leaky, err := s.manager.Trajectories().Begin(trajectory.Options{Session: "s", Redactor: secrets})
	if err != nil {
		t.Fatal(err)
	}
	leaky.Add(trajectory.Event{Kind: trajectory.Hint, Args: map[string]string{"text": "hunter-two-and-three"}})
	page := "/trajectories/" + leaky.ID()
	if got := s.do(request{method: "GET", path: page}); got.status != 200 || !bytes.Contains(got.body, []byte("still being recorded")) || !bytes.Contains(got.body, []byte("Go to the session")) {
		t.Errorf("while it is recorded: %d %s", got.status, got.body)
	}
	secrets.AddSecret("hunter-two-and-three")
	if _, err := leaky.End(); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"", "?unscanned=true"} {
		got := s.do(request{method: "GET", path: page + query})
		if got.status != 200 || bytes.Contains(got.body, []byte("hunter-two")) || !bytes.Contains(got.body, []byte("A secret is in events.jsonl")) || bytes.Contains(got.body, []byte("bundle.zip")) {
			t.Errorf("with a secret: %d %s", got.status, got.body)
		}
	}
	list := s.do(request{method: "GET", path: "/trajectories"})
	if list.status != 200 || !bytes.Contains(list.body, []byte("A secret is in it")) {
		t.Errorf("the list: %d %s", list.status, list.body)
	}
	s.do(request{method: "GET", path: page, key: "-"}).problem(401)
	s.do(request{method: "GET", path: "/trajectories/none"}).problem(404)
}

// checkPictures checks that each call that writes has its pictures, but none while
// the password field had the focus.
func (r *recorded) checkPictures(dir string) {
	r.t.Helper()
	var missing, taken int
	for _, e := range r.events(dir) {
		if e.Missing == trajectory.MissingSecret {
			missing++
		}
		if e.Refs == nil {
			continue
		}
		for _, name := range []string{e.Refs.Before, e.Refs.After} {
			if name == "" {
				continue
			}
			raw, err := os.ReadFile(filepath.Join(r.dir, dir, name))
			if err != nil || !bytes.HasPrefix(raw, []byte("\x89PNG")) {
				r.t.Errorf("%s: %v", name, err)
			}
			taken++
		}
	}
	if missing == 0 || taken < 6 {
		r.t.Errorf("%d pictures, %d missing for a secret", taken, missing)
	}
}

// TestRecordingOff checks that a session without a recording, and one with a
// recording that has no bundle, make no folder.
func TestRecordingOff(t *testing.T) {
	r := startRecorded(t)
	one := r.create(map[string]any{"url": recordedSite(t)})
	r.run(one, `await page.click('button')`)
	r.run(one, `await recording.start({ video: true }).then(() => { throw new Error('it started') }, error => { if (!String(error).includes('video')) throw error })`)
	r.recording(one, `{"action":"start"}`)
	r.run(one, `await page.click('button'); await page.title()`)
	stopped := r.recording(one, `{"action":"stop"}`)
	var tools []string
	for _, line := range stopped.Timeline {
		var e trajectory.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		tools = append(tools, string(e.Kind)+" "+e.Tool)
	}
	if want := []string{"tool_call_start click", "tool_call_end click", "tool_call_start title", "tool_call_end title"}; !slices.Equal(tools, want) {
		t.Errorf("the time line is %q, want %q", tools, want)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "trajectories")); !os.IsNotExist(err) {
		t.Errorf("there is a folder of trajectories: %v", err)
	}
}

// TestRecordingWithSession starts a recording with the session, which ends it, too.
func TestRecordingWithSession(t *testing.T) {
	r := startRecorded(t)
	r.do(request{method: "POST", path: "/v1/sessions", body: `{"recording":{"video":true}}`}).problem(400)
	one := r.create(map[string]any{"url": recordedSite(t), "recording": map[string]any{"trajectoryBundle": true, "screenshots": "none"}})
	now := r.recording(one, `{"action":"status"}`)
	if !now.Recording || !now.Bundle.Enabled {
		t.Fatalf("recording: %+v", now)
	}
	r.run(one, `await page.click('button')`)
	r.call("POST", "/v1/sessions/"+one.ID()+"/release", `{}`, 200, nil)
	var report trajectory.BundleReport
	raw, err := os.ReadFile(filepath.Join(r.dir, now.Bundle.Dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &report); err != nil || report.ToolCalls != 1 || report.Artifacts.Screenshots != 0 {
		t.Errorf("%s, %v", raw, err)
	}
	if !strings.HasPrefix(now.Bundle.ID, "traj-") {
		t.Errorf("id %s", now.Bundle.ID)
	}
}

// TestContracts judges a page by HTTP, a script, a command and a tool, while a bundle
// is written: the outcomes are events with their evidence, and the report counts
// them.
func TestContracts(t *testing.T) {
	r := startRecorded(t)
	one := r.create(map[string]any{"url": recordedSite(t)})
	path := "/v1/sessions/" + one.ID()
	for body, field := range map[string]string{`{}`: "contract", `{"contract":{"url":{}}}`: "contract.url", `{"contract":{"no_dialog":{}},"timeout":60001}`: "timeout"} {
		if p := r.do(request{method: "POST", path: path + "/assert", body: body}).problem(400); len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	var got session.Assertion
	r.call("POST", path+"/assert", `{"contract":{"no_dialog":{}}}`, 200, &got)
	if got.Verdict != contract.Pass || got.Seq != 0 {
		t.Errorf("without a recording: %+v", got)
	}
	dir := r.recording(one, `{"action":"start","trajectoryBundle":true}`).Bundle.Dir
	for body, want := range map[string]contract.Verdict{
		`{"contract":{"dom_text":{"selector":"h1","contains":"Example Domain"}}}`:                             contract.Pass,
		`{"contract":{"dom_text":{"contains":"NotPresent"}}}`:                                                 contract.Fail,
		`{"contract":{"network":{"url":"**/","status_in":[200]}}}`:                                            contract.Pass,
		`{"contract":{"and":[{"console":{"level":"error","max":0}},{"dom_count":{"selector":"a[","eq":1}}]}}`: contract.Inconclusive,
		`{"contract":{"performance":{"metric":"load","lte":60000}},"timeout":10000}`:                          contract.Pass,
		`{"contract":{"performance":{"metric":"cls","lte":0.5}}}`:                                             contract.Pass,
	} {
		r.call("POST", path+"/assert", body, 200, &got)
		if got.Verdict != want || got.Seq == 0 {
			t.Errorf("%s: %+v %s", body, got, got.Evidence)
		}
	}
	r.run(one, `
		const { verdict, evidence } = await expect.contract({ dom_count: { selector: 'input', eq: 3 } });
		expect(verdict).toBe('fail');
		expect(evidence.found).toBe(2);
		setTimeout(() => page.evaluate(() => { document.querySelector('h1').textContent = 'Later' }), 300);
		expect((await expect.contract({ dom_text: { contains: 'Later' } }, { timeout: 20_000 })).verdict).toBe('pass');
		await expect(expect.contract({ url: {} })).rejects.toThrow('contract.url');`)
	stopped := r.recording(one, `{"action":"stop"}`)
	if c := stopped.Report.Contracts; c.Pass != 5 || c.Fail != 2 || c.Inconclusive != 1 || stopped.Report.Artifacts.Contracts != 8 {
		t.Errorf("report: %+v", stopped.Report)
	}
	for _, e := range r.events(dir) {
		if e.Kind != trajectory.ContractOf {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(r.dir, dir, e.Refs.Contract))
		if err != nil || !bytes.Contains(raw, []byte(`"evidence":{"kind":`)) || !bytes.Contains(raw, []byte(`"contract":{`)) {
			t.Errorf("%s: %s, %v", e.Refs.Contract, raw, err)
		}
	}
}

// TestCheckpoints keeps a checkpoint with the browser's state, loads it in the same
// session and in a new one, and removes it. The bundle has it without the state.
func TestCheckpoints(t *testing.T) {
	keys, err := profiles.NewKeys(strings.Repeat("5e", 32))
	if err != nil {
		t.Fatal(err)
	}
	r := &recorded{}
	r.testServer = startServer(t, func(o *session.Options, _ *Config) { r.dir, o.SecretKeys = o.Dir, keys })
	site := recordedSite(t)
	one := r.create(map[string]any{"url": site + "/first"})
	path := "/v1/sessions/" + one.ID()
	r.do(request{method: "POST", path: path + "/checkpoints", body: `{"completedSteps":["a"]}`}).problem(400)
	r.run(one, `await page.evaluate(() => { localStorage.setItem('step', '`+recordedSecret+`'); document.cookie = 'user=cookie-in-checkpoint' });
		const other = await context.newPage(); await other.goto('`+site+`/second')`)
	dir := r.recording(one, `{"action":"start","trajectoryBundle":true}`).Bundle.Dir
	var saved checkpointSaved
	r.call("POST", path+"/checkpoints", `{"taskDescription":"Order the parts","completedSteps":["signed in"],"pendingSteps":["check out"],"extractedData":{"order":4711},"includeStorage":true}`, 201, &saved)
	if saved.ID == "" || saved.Version != 1 || saved.Seq == 0 || len(saved.Tabs) != 2 || saved.Tabs[1].URL != site+"/second" || saved.StorageState != nil || saved.CurrentURL == "" {
		t.Errorf("saved: %+v", saved)
	}
	if stopped := r.recording(one, `{"action":"stop"}`); stopped.Report.Artifacts.Checkpoints != 1 {
		t.Errorf("report: %+v", stopped.Report)
	}
	if in := r.search(dir, `"pendingSteps":["check out"]`); len(in) != 1 || len(r.search(dir, recordedSecret)) > 0 || len(r.search(dir, "cookie-in-checkpoint")) > 0 {
		t.Errorf("in the bundle: %q", in)
	}

	var got checkpoints.Checkpoint
	r.call("GET", path+"/checkpoints/"+saved.ID, nil, 200, &got)
	if string(got.ExtractedData) != `{"order":4711}` || !bytes.Contains(got.StorageState, []byte(recordedSecret)) {
		t.Errorf("got %+v", got)
	}
	var listed struct{ Checkpoints []checkpoints.Checkpoint }
	r.call("GET", path+"/checkpoints", nil, 200, &listed)
	if len(listed.Checkpoints) != 1 || listed.Checkpoints[0].StorageState != nil {
		t.Errorf("listed: %+v", listed)
	}

	check := func(in *session.Session) {
		t.Helper()
		r.run(in, `
			expect(context.pages().map(p => p.url()).sort()).toEqual(['`+site+`/first', '`+site+`/second']);
			expect(await context.pages()[0].evaluate(() => localStorage.getItem('step') + document.cookie)).toBe('`+recordedSecret+`user=cookie-in-checkpoint')`)
	}
	r.run(one, `await page.goto('`+site+`/elsewhere'); await page.evaluate(() => localStorage.clear()); await context.clearCookies()`)
	var loaded checkpointLoaded
	r.call("POST", path+"/checkpoints/"+saved.ID+"/load", `{}`, 200, &loaded)
	if loaded.ID != saved.ID || len(loaded.Problems) > 0 {
		t.Errorf("loaded: %+v", loaded)
	}
	check(one)

	// While a person is in control, it waits.
	person := r.join(one, http.Header{"Authorization": {"Bearer " + testKey}})
	person.takeControl()
	waited := make(chan reply, 1)
	go func() {
		waited <- r.do(request{method: "POST", path: path + "/checkpoints/" + saved.ID + "/load", body: `{}`})
	}()
	r.call("POST", path+"/assert", `{"contract":{"no_dialog":{}}}`, 200, nil) // what reads goes on
	if tabs := one.Info().Tabs; len(tabs) != 2 {
		t.Errorf("beside a person: %+v", tabs)
	}
	select {
	case got := <-waited:
		t.Errorf("loaded beside a person: %d", got.status)
	default:
	}
	person.send(map[string]any{"type": "control", "action": "release"})
	if got := <-waited; got.status != 200 {
		t.Errorf("after the person: %d %s", got.status, got.body)
	}
	r.call("POST", path+"/release", `{}`, 200, nil)
	check(r.create(map[string]any{"checkpoint": saved.ID}))
	r.do(request{method: "POST", path: "/v1/sessions", body: `{"checkpoint":"none"}`}).problem(400)
	r.do(request{method: "POST", path: "/v1/sessions", body: `{"checkpoint":"` + saved.ID + `","url":"` + site + `"}`}).problem(400)

	r.call("DELETE", path+"/checkpoints/"+saved.ID, nil, 204, nil)
	for _, id := range []string{saved.ID, "*", ">", "a.b"} {
		r.do(request{method: "GET", path: path + "/checkpoints/" + id}).problem(404)
	}
}

// TestEpisode records an episode from its beginning to its end: read the page, a
// contract that holds, a checkpoint, a contract that does not, a password. It then looks
// at the bundle as people do, with a shell.
func TestEpisode(t *testing.T) {
	keys, err := profiles.NewKeys(strings.Repeat("5e", 32))
	if err != nil {
		t.Fatal(err)
	}
	r := &recorded{}
	r.testServer = startServer(t, func(o *session.Options, _ *Config) { r.dir, o.SecretKeys = o.Dir, keys })
	one := r.create(map[string]any{})
	path := "/v1/sessions/" + one.ID()
	dir := r.recording(one, `{"action":"start","trajectoryBundle":true}`).Bundle.Dir
	r.run(one, `await page.goto('`+recordedSite(t)+`'); return page.textContent('h1')`)
	r.call("POST", path+"/assert", `{"contract":{"dom_text":{"selector":"h1","contains":"Example Domain"}}}`, 200, nil)
	r.call("POST", path+"/checkpoints", `{"taskDescription":"Read the page","completedSteps":["open it"],"pendingSteps":["leave it"]}`, 201, nil)
	r.call("POST", path+"/assert", `{"contract":{"dom_text":{"contains":"NotPresent"}}}`, 200, nil)
	r.run(one, `await page.type('#password', '`+recordedSecret+`'); await page.click('#name')`)
	stopped := r.recording(one, `{"action":"stop"}`)
	if c := stopped.Report.Contracts; c.Pass != 1 || c.Fail != 1 {
		t.Errorf("report: %+v", stopped.Report)
	}
	for what, command := range map[string]string{
		"the files exist":           `test -f meta.json && test -f events.jsonl && test -d contracts && test -d checkpoints && test -f report.json`,
		"seq rises":                 `sed 's/.*"seq":\([0-9]*\),.*/\1/' events.jsonl | awk 'NR>1 && $1<=prev { exit 1 } { prev=$1 }'`,
		"the contracts are linked":  `test "$(cat contracts/*.json | grep -c '"evidence"')" = 2 && grep -q '"verdict":"fail"' contracts/*.json`,
		"the checkpoint is linked":  `grep -q '"taskDescription":"Read the page".*"completedSteps":\["open it"\],"pendingSteps":\["leave it"\],"currentUrl":"http.*"tabStates":\[{' checkpoints/*.json`,
		"the password is not in it": `! grep -R "` + recordedSecret + `" .`,
		"no path is in it":          `! grep -R "` + r.dir + `" .`,
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = filepath.Join(r.dir, dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
}

// TestRecordingIsNotBlockedByPages records a page that tells invented contents of secret
// fields, and fields that are not there yet: the bundle leaves the server, with what is
// not secret readable.
func TestRecordingIsNotBlockedByPages(t *testing.T) {
	r := startRecorded(t)
	const site = `data:text/html,<title>Checkout page</title><input id=pw type=password value="prefilled by the page"><script>` +
		`setInterval(() => { pw.value = 'Checkout page'; pw.dispatchEvent(new InputEvent('input', { bubbles: true })); }, 20);` +
		`setTimeout(() => document.body.append(Object.assign(document.createElement('input'), { id: 'late' })), 300)</script>`
	one := r.create(map[string]any{})
	dir := r.recording(one, `{"action":"start","trajectoryBundle":true,"screenshots":"none"}`).Bundle.Dir
	r.run(one, `await page.goto(`+strconv.Quote(site)+`); await page.title(); await page.fill('#late', 'shopping'); await page.getByText('shopping').count(); await page.fill('#late', 'Ada Lovelace')`)
	if stopped := r.recording(one, `{"action":"stop"}`); stopped.Report.LeakScan.State != trajectory.Clean {
		t.Errorf("leak scan %+v", stopped.Report.LeakScan)
	}
	if where := r.search(dir, "Ada Lovelace"); len(where) == 0 {
		t.Error("what was typed into a field that is not secret is not in the bundle")
	}
}
