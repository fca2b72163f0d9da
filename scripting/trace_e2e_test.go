package scripting_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"takeover/scripting"
)

// tracePrelude gives scripts bytesOf(name), which returns a session file as
// base64.
const tracePrelude = `
	const bytesOf = async name => {
		const p = await browser.newPage();
		await p.setContent('<input type=file>');
		await p.setInputFiles('input', name);
		return p.locator('input').evaluate(async i => {
			let text = '';
			for (const byte of new Uint8Array(await i.files[0].arrayBuffer()))
				text += String.fromCharCode(byte);
			return btoa(text);
		});
	};
`

// traces runs a script that returns traces, and returns the files in each.
func traces(t *testing.T, code string) (archives [][]byte, entries []map[string]string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", serveSite)
	res := runOn(t, mux, tracePrelude+code, &logs{})
	var texts []string
	if res.Status != scripting.StatusSucceeded || json.Unmarshal(res.Value, &texts) != nil {
		t.Fatalf("%s %v", res.Status, res.Err)
	}
	for _, text := range texts {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		for _, f := range archive.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name] = string(data)
		}
		archives, entries = append(archives, raw), append(entries, files)
	}
	return archives, entries
}

// events returns the lines of a trace's file.
func events(t *testing.T, text string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for line := range strings.Lines(text) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

func TestTrace(t *testing.T) {
	archives, files := traces(t, `
		await context.tracing.start({ screenshots: true, snapshots: true, title: 'Buying' });
		await page.goto(args.url + '/');
		await context.tracing.group('the link');
		await page.getByRole('link', { name: 'To the form' }).click();
		await context.tracing.groupEnd();
		await Promise.all([page.waitForEvent('console'), page.evaluate(() => { console.log('said', 1); setTimeout(() => { throw new Error('boom'); }); })]);
		await page.locator('#none').click({ timeout: 50 }).catch(() => {});
		await expect(page.locator('body')).toBeVisible();
		await context.tracing.stop({ path: 'trace.zip' });
		await page.title();
		return [await bytesOf('trace.zip')]`)
	var seen []string
	var logged, pictures int
	var failure map[string]any
	titles := map[string]string{}
	for _, e := range events(t, files[0]["trace.trace"]) {
		id, _ := e["callId"].(string)
		switch e["type"] {
		case "context-options":
			if e["version"] != 10.0 || e["title"] != "Buying" || e["browserName"] != "chromium" || e["wallTime"].(float64) < 1e12 {
				t.Errorf("it begins with %v", e)
			}
		case "before":
			name := e["class"].(string) + "." + e["method"].(string)
			if parent, ok := e["parentId"].(string); ok {
				name = titles[parent] + " > " + name
			}
			titles[id] = name
			seen = append(seen, name)
		case "log":
			logged++
		case "after":
			if e["error"] != nil {
				failure = e["error"].(map[string]any)
			}
		case "console":
			seen = append(seen, "console "+e["text"].(string))
		case "screencast-frame":
			pictures++
			if data := files[0][e["file"].(string)]; !strings.HasPrefix(data, "\xff\xd8") || e["width"] != 1000.0 {
				t.Errorf("the picture %v has %d bytes", e, len(data))
			}
		}
	}
	want := "Frame.goto, Tracing.tracingGroup, Tracing.tracingGroup > Frame.click, Page.waitForEvent, Frame.evaluateExpression, console said 1, Frame.click, Frame.expect"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if logged < 5 || pictures == 0 {
		t.Errorf("%d lines of logs, %d pictures", logged, pictures)
	}
	if failure["message"] != "Timeout 50ms exceeded." || failure["name"] != "TimeoutError" {
		t.Errorf("the failed call says %v", failure)
	}
	network := events(t, files[0]["trace.network"])
	if len(network) == 0 || network[0]["type"] != "resource-snapshot" {
		t.Fatalf("the requests are %v", network)
	}
	content := network[0]["snapshot"].(map[string]any)["response"].(map[string]any)["content"].(map[string]any)
	if body := files[0][content["_file"].(string)]; !strings.Contains(body, "<h1>Welcome</h1>") {
		t.Errorf("the first answer is %v: %q", content, body)
	}
	if stacks := files[0]["trace.stacks"]; !strings.Contains(stacks, `"files":["`) {
		t.Errorf("the places are %s", stacks)
	}
	t.Run("Playwright reads it", func(t *testing.T) { playwrightReads(t, archives[0]) })
}

// playwrightReads reads a trace with Playwright's own reader.
func playwrightReads(t *testing.T, archive []byte) {
	cli, err := filepath.Abs("../node_modules/playwright-core/cli.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cli); err != nil {
		t.Skip("playwright-core is not installed: run make generate")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "trace.zip"), archive, 0o600); err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, args := range [][]string{{"open", "trace.zip"}, {"actions"}, {"errors"}} {
		cmd := exec.CommandContext(t.Context(), "node", append([]string{cli, "trace"}, args...)...)
		cmd.Dir = dir
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		out += string(text)
	}
	for _, want := range []string{"Buying", "Navigate", "getByRole('link', { name: 'To the form' })", "the link", `Expect "toBeVisible"`, "Timeout 50ms exceeded.", "Pages:        1"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not tell of %s:\n%s", want, out)
		}
	}
}

func TestTraceChunks(t *testing.T) {
	_, files := traces(t, `
		const wrong = [];
		for (const f of [() => context.tracing.startChunk(), () => context.tracing.stop({ path: 'x.zip' }), () => context.tracing.stopChunk({ path: 'x.zip' })])
			await f().catch(e => wrong.push(e.message));
		await context.tracing.start();
		await context.tracing.start().catch(e => wrong.push(e.message));
		await page.goto(args.url + '/');
		await context.tracing.stopChunk({ path: 'one.zip' });
		await page.title();
		await context.tracing.startChunk({ title: wrong.join('\n') });
		await page.content();
		await context.tracing.stopChunk({ path: 'two.zip' });
		await context.tracing.stop();
		await context.tracing.start();
		await context.tracing.stop();
		return [await bytesOf('one.zip'), await bytesOf('two.zip')]`)
	methods := func(files map[string]string) string {
		var list []string
		for _, e := range events(t, files["trace.trace"]) {
			if e["type"] == "before" {
				list = append(list, e["method"].(string))
			}
		}
		return strings.Join(list, " ")
	}
	if one, two := methods(files[0]), methods(files[1]); one != "goto" || two != "content" {
		t.Errorf("the first has %q, the second %q", one, two)
	}
	title, _ := events(t, files[1]["trace.trace"])[0]["title"].(string)
	want := "tracing.startChunk: Must start tracing before starting a new chunk\ntracing.stop: Must start tracing before stopping\ntracing.stopChunk: Must start tracing before stopping\ntracing.start: Tracing has been already started"
	if title != want {
		t.Errorf("the errors are\n%s\nwant\n%s", title, want)
	}
	for name := range files[0] {
		if strings.HasPrefix(name, "screencast/") || name == "trace.network" && files[0][name] != "" {
			t.Errorf("there is %s, which nobody asked for", name)
		}
	}
}
