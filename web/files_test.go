package web

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/files"
	"takeover/session"
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
	names := []string{page.Files[0].Name} // files with the same time stamp are sorted by name
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
	got = s.do(request{method: "GET", path: base + "/re%20port.txt", header: map[string]string{"Range": "bytes=5000-"}})
	if got.problem(http.StatusRequestedRangeNotSatisfiable); !strings.HasPrefix(got.header.Get("Content-Range"), "bytes */") || got.header.Get("Content-Disposition") != "" {
		t.Errorf("a range that the file has not: %v", got.header)
	}

	for _, path := range []string{"/..%2f..%2fprocess.json", "/%2e%2e", "/..%2fprofile", "/%2fetc%2fpasswd", "/none"} {
		s.do(request{method: "GET", path: base + path}).problem(404)
		s.do(request{method: "DELETE", path: base + path}).problem(404)
	}
	s.do(request{method: "POST", path: base, body: "no name"}).problem(400)
	for field, parts := range map[string][]string{"file": {"one", "two"}, "name": {"one", ""}} {
		form.Reset()
		w := multipart.NewWriter(&form)
		for _, name := range parts {
			if name == "" {
				_ = w.WriteField("name", "late.txt") // to a buffer
				continue
			}
			part, err := w.CreateFormFile("file", name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(part, "content of ", name)
		}
		_ = w.Close() // to a buffer
		got := s.do(request{method: "POST", path: base, body: form.Bytes(), header: map[string]string{"Content-Type": w.FormDataContentType()}})
		if got.problem(400); !strings.Contains(string(got.body), `"field":"`+field+`"`) {
			t.Errorf("a form with %q: %s", parts, got.body)
		}
		s.do(request{method: "GET", path: base + "/one"}).problem(404)
	}
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

// TestFilesOfRuns lets a script write and download files, and use an uploaded
// one.
func TestFilesOfRuns(t *testing.T) {
	s, one := borrow(t, "")
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

// TestFilesOfGuests lets people with a link add and fetch files: only files that
// pages downloaded and people added, only while they may act, and without
// replacing other files.
func TestFilesOfGuests(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	base := "/v1/sessions/" + one.ID()
	s.call("POST", base+"/files?name=auth.json", "the script's", 201, nil)
	var asked session.TakeoverInfo
	s.call("POST", base+"/takeovers", map[string]any{"reason": "send the form"}, 201, &asked)
	as := func(role session.Role, takeover string) func(method, path string, body any) reply {
		header := map[string]string{"Cookie": s.guestCookie(one, role, takeover), "Origin": s.base}
		return func(method, path string, body any) reply {
			return s.do(request{method: method, path: base + "/files" + path, body: body, header: header, key: "-"})
		}
	}
	helper, onlooker := as(session.RoleTakeover, asked.ID), as(session.RoleView, "")

	var info files.File
	helper("POST", "?name=auth.json", "mine").decode(&info)
	if info.Name != "auth (1).json" {
		t.Errorf("a guest's file is %+v", info)
	}
	if got := helper("GET", "/auth%20%281%29.json", nil); got.status != 200 || string(got.body) != "mine" {
		t.Errorf("a guest's own file: %d %s", got.status, got.body)
	}
	helper("GET", "/auth.json", nil).problem(404)
	var page struct{ Files []files.File }
	helper("GET", "", nil).decode(&page)
	if len(page.Files) != 1 || page.Files[0].Name != "auth (1).json" {
		t.Errorf("a guest sees %+v", page.Files)
	}
	helper("DELETE", "/auth%20%281%29.json", nil).problem(403)
	onlooker("GET", "/auth%20%281%29.json", nil).problem(403)
	onlooker("POST", "?name=x", "x").problem(403)
	onlooker("GET", "", nil).problem(403)
	if got := s.do(request{method: "GET", path: base + "/files/auth.json"}); string(got.body) != "the script's" {
		t.Errorf("what was there before is %q", got.body)
	}
	s.do(request{method: "POST", path: base + "/files?name=x&add=maybe", body: "x"}).problem(400)

	// A program that writes a file of the same name does not show it to guests.
	s.call("POST", base+"/files?name=auth%20%281%29.json", "also the script's", 201, nil)
	helper("GET", "/auth%20%281%29.json", nil).problem(404)
	helper("GET", "", nil).decode(&page)
	if len(page.Files) != 0 {
		t.Errorf("a guest sees %+v", page.Files)
	}
	helper("POST", "?name=own.json", "mine").decode(&info)

	s.call("POST", base+"/takeovers/"+asked.ID+"/done", nil, 200, nil)
	helper("GET", "/own.json", nil).problem(409)
	helper("POST", "?name=late", "x").problem(409)
}

// TestUploadEndsWithTheLink revokes a guest's link in the middle of an upload.
func TestUploadEndsWithTheLink(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	base := "/v1/sessions/" + one.ID()
	cookie := s.guestCookie(one, session.RoleControl, "")
	pieces, w := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+base+"/files?name=late", pieces)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Cookie", cookie)
	req.Header.Set("Origin", s.base)
	req.Header.Set("Expect", "100-continue") // the server asks for the body when it has let the guest in
	go func() {
		defer w.Close()
		_, _ = w.Write(make([]byte, uploadPiece))
		for _, l := range one.Links() {
			if err := one.RevokeLink(l.ID); err != nil {
				t.Error(err)
			}
		}
		_, _ = w.Write(make([]byte, uploadPiece))
	}()
	client := &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Hour}
	resp, err := client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("the upload got %d", resp.StatusCode)
	}
	if folder, err := one.Files(); err != nil {
		t.Error(err)
	} else if list, err := folder.List(); err != nil || len(list) > 0 {
		t.Errorf("the folder has %v, %v", list, err)
	}
}

// TestRoomOfGuests checks that guests cannot use all the space.
func TestRoomOfGuests(t *testing.T) {
	s := startServer(t, func(o *session.Options, _ *Config) { o.Files.Bytes = 1000 })
	one := s.create(nil)
	header := map[string]string{"Cookie": s.guestCookie(one, session.RoleControl, ""), "Origin": s.base}
	send := func(size int) reply {
		return s.do(request{method: "POST", path: "/v1/sessions/" + one.ID() + "/files?name=f", body: strings.Repeat("x", size), header: header, key: "-"})
	}
	send(501).problem(413)
	if got := send(500); got.status != 201 {
		t.Errorf("half of the room: %d %s", got.status, got.body)
	}
	send(251).problem(413)
	send(1).problem(413) // guests have half of the folder together, however small the files are
	s.call("POST", "/v1/sessions/"+one.ID()+"/files?name=operators", strings.Repeat("x", 500), 201, nil)
}

// TestHostileFileNames checks that no name leads out of the folder, hides a file,
// or becomes a header, when files are added and fetched.
func TestHostileFileNames(t *testing.T) {
	s, one := borrow(t, "")
	base := "/v1/sessions/" + one.ID() + "/files"
	folder, err := one.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"..", ".", "../x", "../../etc/passwd", "/etc/passwd", "a/../../b", `..\x`, `C:\x`, ".hidden", ".part-1", "a\x00b", "a\nb", "a\r\nSet-Cookie: x=1", "a\"; filename=b",
		"\u202egnp.exe", "%2e%2e%2fx", "..%2fx", strings.Repeat("x", 5000), "\xff\xfe", "con\x1b[2J", "<script>", "a;b=c", "..;/x", "~root", "-rf",
	} {
		got := s.do(request{method: "POST", path: base + "?name=" + url.QueryEscape(name), body: "text"})
		if got.status == http.StatusBadRequest {
			continue
		}
		var info files.File
		got.decode(&info)
		if got.status != 201 || info.Name == "" || strings.HasPrefix(info.Name, ".") || strings.ContainsAny(info.Name, "/\\\x00\n\r\x1b") || len(info.Name) > 255 {
			t.Errorf("%.40q was kept as %.40q: %d", name, info.Name, got.status)
			continue
		}
		back := s.do(request{method: "GET", path: base + "/" + url.PathEscape(info.Name)})
		if back.status != 200 || string(back.body) != "text" || back.header.Get("Set-Cookie") != "" || !strings.HasPrefix(back.header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%.40q comes back as %d %q with %v", info.Name, back.status, back.body, back.header)
		}
	}
	for _, name := range []string{"..", "../files", "..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", ".part-1", "%00", "..%5cx", "x%2f..%2fy"} {
		if got := s.do(request{method: "GET", path: base + "/" + name}); got.status == 200 && got.header.Get("Content-Type") == "application/octet-stream" {
			t.Errorf("fetching %q: %d %.100s", name, got.status, got.body)
		}
	}
	if list, err := folder.List(); err != nil || len(list) == 0 {
		t.Errorf("the folder has %v, %v", list, err)
	}
}
