package mcp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/session"
)

// slowPage has a script that delays the first picture and then blocks the page, a
// layout shift, a request that fails, and a class of many objects.
const slowPage = `<!doctype html><title>Slow</title><link rel=stylesheet href=/style.css><h1>A headline that is large</h1><p id=p>text</p><input id=name>
<script src=/busy.js></script>
<script>
class Leaked { constructor() { this.list = new Array(100) } }
window.kept = Array.from({length: 5000}, () => new Leaked());
fetch('/missing.json?token=s3cret');
setTimeout(() => { busyWork(); document.querySelector('h1').style.marginTop = '300px' }, 300);
</script>`

// slowSite serves slowPage.
func slowSite(t *testing.T) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(slowPage))
		case "/style.css":
			w.Header().Set("Content-Type", "text/css")
			_, _ = w.Write([]byte("h1 { font-size: 60px }"))
		case "/busy.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte("function busyWork() { const end = performance.now() + 300; while (performance.now() < end); }"))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestPerformanceTrace records a page that loads slowly, and an interaction with it.
func TestPerformanceTrace(t *testing.T) {
	s := startServer(t, nil)
	base := slowSite(t)
	c := s.connect("?tools=core,code,performance", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	text := c.tool("performance_start_trace", nil)
	contains(t, text, "The session's file trace.json has the trace", "Loaded "+base+"/, first byte ", "first contentful paint ", "largest contentful paint ", "(H1)",
		"Layout shifts: ", ", cumulative score 0.", "Main thread: ", "scripts ", "("+base+"/:7)", "- "+base+"/missing.json 404 ", "render-blocking", base+"/style.css")
	if strings.Contains(text, "s3cret") {
		t.Errorf("the answer has the query of an address: %s", text)
	}
	blocked := regexp.MustCompile(`\n- (\d+) ms at \d+ ms \(http`).FindStringSubmatch(text)
	if blocked == nil {
		t.Fatalf("no long task in %s", text)
	}
	if took, err := strconv.Atoi(blocked[1]); err != nil || took < 300 {
		t.Errorf("the long task took %q in %s", blocked[1], text)
	}

	// One that the caller ends: what was typed is in no event.
	c.tool("performance_start_trace", map[string]any{"reload": false, "autoStop": false})
	contains(t, c.fails("performance_start_trace", nil), "is being recorded: stop it first")
	c.tool("browser_type", map[string]any{"target": "#name", "text": "xylophone", "slowly": true})
	contains(t, c.tool("performance_stop_trace", map[string]any{"filename": "typing.json"}), "file typing.json has", "No page was loaded in this time.", "Slowest of ", "Main thread: ")
	one := s.manager.List()[0]
	trace := fileOf(t, one, "typing.json")
	for _, letters := range []string{`"key":"x"`, `KeyX`, "xylophone"} {
		if strings.Contains(trace, letters) {
			t.Errorf("the trace has %s", letters)
		}
	}
	contains(t, c.fails("performance_stop_trace", nil), "no performance trace is being recorded")
}

// TestHeapSnapshot names the objects that need most of a page's memory.
func TestHeapSnapshot(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("?tools=core,performance", "", nil)
	c.tool("session_create", map[string]any{"url": slowSite(t)})
	text := c.tool("take_heapsnapshot", map[string]any{"filename": "before.heapsnapshot"})
	contains(t, text, "file before.heapsnapshot has the page's memory", "- Leaked: 5000, ")
	var snapshot struct{ Snapshot struct{ Meta any } }
	if err := json.Unmarshal([]byte(fileOf(t, s.manager.List()[0], "before.heapsnapshot")), &snapshot); err != nil || snapshot.Snapshot.Meta == nil {
		t.Errorf("the file is no snapshot: %v", err)
	}
}

func fileOf(t *testing.T, s *session.Session, name string) string {
	t.Helper()
	folder, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := folder.Read(name, 256<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestFileResources lists the files of the caller's own sessions as resources, and reads
// those of each session whose id it knows, as session_files does.
func TestFileResources(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("?tools=core", "", nil)
	c.tool("session_create", nil)
	c.tool("session_files", map[string]any{"action": "write", "name": "a note.txt", "content": "hello"})
	c.tool("session_files", map[string]any{"action": "write", "name": "bytes.bin", "content": "/wA=", "base64": true})
	id := s.manager.List()[0].ID()
	list, err := c.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var uris []string
	for _, r := range list.Resources {
		uris = append(uris, r.URI)
	}
	note, bytes := "takeover://sessions/"+id+"/files/a%20note.txt", "takeover://sessions/"+id+"/files/bytes.bin"
	if strings.Join(uris, " ") != note+" "+bytes {
		t.Errorf("resources are %q", uris)
	}
	read := func(uri string) *sdk.ResourceContents {
		t.Helper()
		r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		return r.Contents[0]
	}
	if got := read(note); got.Text != "hello" || got.URI != note || !strings.HasPrefix(got.MIMEType, "text/plain") {
		t.Errorf("the note is %+v", got)
	}
	if got := read(bytes); string(got.Blob) != "\xff\x00" {
		t.Errorf("the bytes are %+v", got)
	}
	for _, uri := range []string{"takeover://sessions/" + id + "/files/none", "takeover://sessions/none/files/bytes.bin", "takeover://sessions/" + id + "/files/..%2F..%2Fetc%2Fpasswd", "takeover://sessions/" + id} {
		if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s was read", uri)
		}
	}

	s.manager.List()[0].Monitor().Redactor().AddSecret("open sesame")
	c.tool("session_files", map[string]any{"action": "write", "name": "latin.txt", "content": "/29wZW4gc2VzYW1l", "base64": true}) // open sesame, after a byte that is not UTF-8
	if got := read("takeover://sessions/" + id + "/files/latin.txt"); strings.Contains(string(got.Blob)+got.Text, "sesame") {
		t.Errorf("a secret stands in %+v", got)
	}
	c.tool("session_files", map[string]any{"action": "delete", "name": "latin.txt"})

	other, err := s.manager.Create(t.Context(), session.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := other.Files()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Write("theirs.txt", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if again, err := c.ListResources(t.Context(), nil); err != nil || len(again.Resources) != 2 {
		t.Errorf("with another session, resources are %+v, %v", again, err)
	}
	if got := read("takeover://sessions/" + other.ID() + "/files/theirs.txt"); got.Text != "x" {
		t.Errorf("their file is %+v", got)
	}

	// The address may name the session of all calls.
	contains(t, s.connect("?tools=core&session="+other.ID(), "", nil).tool("session_files", nil), "theirs.txt")
}
