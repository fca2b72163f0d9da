package automation_test

import (
	"strings"
	"testing"

	"takeover/automation"
	"takeover/browser/browsertest"
	"takeover/files"
)

// newFilesRig returns a rig with a folder of files.
func newFilesRig(t *testing.T) (*rig, *files.Folder) {
	t.Helper()
	folder := browsertest.Files(t)
	return newRig(t, func(o *automation.Options) { o.Files = folder }), folder
}

func TestInputGetsNamedFiles(t *testing.T) {
	r, folder := newFilesRig(t)
	for _, name := range []string{"a.txt", "b.txt"} {
		if _, err := folder.Write(name, strings.NewReader("text of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	r.html(`<input type=file multiple id=many><label for=one>One</label><input type=file id=one><input type=file webkitdirectory id=dir><p id=none>
		<script>seen = []; for (const i of document.querySelectorAll('input')) i.onchange = i.oninput = e => seen.push(e.type + ' ' + i.id)</script>`)
	r.do("frame.setInputFiles", params{"selector": "#many", "names": []string{"a.txt", "some/where/b.txt"}}, nil)
	r.do("frame.setInputFiles", params{"selector": "label", "names": []string{"a.txt"}}, nil)
	r.do("frame.evaluate", params{"expression": `async () => { window.read = await Promise.all([...many.files, ...one.files].map(async f => f.name + ': ' + await f.text())) }`, "isFunction": true}, nil)
	if got := r.eval("window.read.join()"); got != "a.txt: text of a.txt,b.txt: text of b.txt,a.txt: text of a.txt" {
		t.Errorf("the page read %v", got)
	}
	if got := r.eval("seen.join()"); got != "input many,change many,input one,change one" {
		t.Errorf("events: %v", got)
	}
	for _, c := range []struct {
		selector, want string
		names          []string
	}{
		{"#one", "ENOENT: no such file or directory, open '/etc/passwd'", []string{"/etc/passwd"}},
		{"#one", "Non-multiple file input can only accept single file", []string{"a.txt", "b.txt"}},
		{"#none", "Node is not an HTMLInputElement", []string{"a.txt"}},
		{"#dir", "[webkitdirectory] input requires passing a path to a directory", []string{"a.txt"}},
	} {
		err := r.call("frame.setInputFiles", params{"selector": c.selector, "names": c.names}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.selector, c.names, err, c.want)
		}
	}
}

func TestFileOperations(t *testing.T) {
	r, folder := newFilesRig(t)
	r.do("files.write", params{"name": "out/x.txt", "data": "aGVsbG8="}, nil)
	r.do("files.copy", params{"name": "x.txt", "to": "y.txt"}, nil)
	var read struct{ Data string }
	r.do("files.read", params{"name": "y.txt"}, &read)
	if got := string(decoded(t, read.Data)); got != "hello" {
		t.Errorf("read %q", got)
	}
	r.do("files.delete", params{"name": "x.txt"}, nil)
	if list, err := folder.List(); err != nil || len(list) != 1 || list[0].Name != "y.txt" {
		t.Errorf("left %v, %v", list, err)
	}
	for _, name := range []string{"..", "", "x/"} {
		if err := r.call("files.write", params{"name": name, "data": ""}, nil); err == nil || !strings.Contains(err.Error(), "is not a name of a file") {
			t.Errorf("write %q: %v", name, err)
		}
	}
	bare := newRig(t)
	if err := bare.call("files.read", params{"name": "y.txt"}, nil); err == nil || err.Error() != "this session has no folder of files" {
		t.Errorf("without files: %v", err)
	}
}
