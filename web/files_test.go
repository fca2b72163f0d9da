package web

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"takeover/files"
)

func TestFiles(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	base := "/v1/sessions/" + one.ID() + "/files"

	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if err := w.WriteField("other", "x"); err != nil {
		t.Fatal(err)
	}
	part, err := w.CreateFormFile("file", "re port.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte("from a form")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := s.do(request{method: "POST", path: base, body: form.Bytes(), header: map[string]string{"Content-Type": w.FormDataContentType()}})
	var info files.File
	got.decode(&info)
	if got.status != 201 || info.Name != "re port.txt" || info.Size != 11 || got.header.Get("Location") != base+"/re%20port.txt" {
		t.Fatalf("upload: %d %s, Location %s", got.status, got.body, got.header.Get("Location"))
	}
	s.call("POST", base+"?name=a.html", "<script>alert(1)</script>", 201, &info)

	var page struct {
		Files []files.File
		Next  *string
	}
	s.call("GET", base+"?limit=1", nil, 200, &page)
	if len(page.Files) != 1 || page.Next == nil {
		t.Fatalf("first page: %+v", page)
	}
	names := []string{page.Files[0].Name} // files of one tick of the clock come by name
	s.call("GET", base+"?limit=1&cursor="+url.QueryEscape(*page.Next), nil, 200, &page)
	if len(page.Files) != 1 || page.Next != nil {
		t.Fatalf("second page: %+v", page)
	}
	if names = append(names, page.Files[0].Name); !slices.Contains(names, "a.html") || !slices.Contains(names, "re port.txt") {
		t.Errorf("pages hold %q", names)
	}

	got = s.do(request{method: "GET", path: base + "/a.html"})
	if got.status != 200 || string(got.body) != "<script>alert(1)</script>" {
		t.Errorf("content: %d %s", got.status, got.body)
	}
	if !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") || got.header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(got.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("a browser might show it: %v", got.header)
	}
	got = s.do(request{method: "GET", path: base + "/re%20port.txt", header: map[string]string{"Range": "bytes=0-3"}})
	if got.status != http.StatusPartialContent || string(got.body) != "from" {
		t.Errorf("range: %d %s", got.status, got.body)
	}

	for _, path := range []string{"/..%2f..%2fprocess.json", "/%2e%2e", "/..%2fprofile", "/%2fetc%2fpasswd", "/none"} {
		s.do(request{method: "GET", path: base + path}).problem(404)
		s.do(request{method: "DELETE", path: base + path}).problem(404)
	}
	s.do(request{method: "POST", path: base, body: "no name"}).problem(400)
	s.call("POST", base+"?name=..%2f..%2fescape.txt", "x", 201, &info)
	if info.Name != "escape.txt" {
		t.Errorf("kept as %q", info.Name)
	}
	s.call("DELETE", base+"/escape.txt", nil, 204, nil)
	s.do(request{method: "GET", path: base + "/escape.txt"}).problem(404)

	s.call("POST", "/v1/sessions/"+one.ID()+"/release", nil, 200, nil)
	s.do(request{method: "GET", path: base}).problem(410)
	s.do(request{method: "GET", path: base + "/a.html"}).problem(410)
	s.do(request{method: "POST", path: base + "?name=x", body: "x"}).problem(410)
}

// TestFilesOfRuns has a script write and download, and use what was uploaded.
func TestFilesOfRuns(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	base := "/v1/sessions/" + one.ID() + "/files"
	s.call("POST", base+"?name=input.txt", "from outside", 201, nil)
	var run struct {
		Status string
		Result []any
		Error  any
	}
	s.call("POST", "/v1/sessions/"+one.ID()+"/scripts", map[string]any{"wait": true, "code": `
		await page.setContent('<input type=file><a download="saved.txt" href="data:text/plain,downloaded">save</a>');
		await page.setInputFiles('input', 'input.txt');
		const read = await page.locator('input').evaluate(i => i.files[0].text());
		const [download] = await Promise.all([page.waitForEvent('download'), page.click('a')]);
		await page.screenshot({ path: 'shot.png' });
		return [read, await download.path()]`}, 200, &run)
	if run.Status != "succeeded" || len(run.Result) != 2 || run.Result[0] != "from outside" || run.Result[1] != "saved.txt" {
		t.Fatalf("%+v", run)
	}
	if got := s.do(request{method: "GET", path: base + "/saved.txt"}); string(got.body) != "downloaded" {
		t.Errorf("downloaded: %d %s", got.status, got.body)
	}
	if got := s.do(request{method: "GET", path: base + "/shot.png"}); !strings.HasPrefix(string(got.body), "\x89PNG") {
		t.Errorf("picture: %d %.10q", got.status, got.body)
	}
}
