package session

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"takeover/browser/browsertest"
	"takeover/files"
)

// TestDownloads checks that viewers who may act are notified of a download from
// its beginning to its end, and may cancel it.
func TestDownloads(t *testing.T) {
	hold := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<title>ready</title><body style="margin:0"><a href="/fast" style="position:fixed;inset:0 50% 0 0">fast</a><a href="/slow" style="position:fixed;inset:0 0 0 50%">slow</a>`)
			return
		case "/slow":
			w.Header().Set("Content-Length", "100000")
			defer func() { <-hold }()
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("X-Content-Type-Options", "nosniff") // otherwise Chromium would wait for more data
		w.Header().Set("Content-Disposition", `attachment; filename="../`+r.URL.Path[1:]+`.bin"`)
		_, _ = io.WriteString(w, "content")
		_ = http.NewResponseController(w).Flush()
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(hold) })
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: srv.URL})
	onlooker, v := join(t, s, RoleView), join(t, s, RoleControl)
	v.titled("ready")
	v.picture("the page")
	epoch := v.take()

	v.click(100, 100, epoch)
	began := await(v, "download", func(DownloadMessage) bool { return true })
	done := await(v, "the download's end", func(m DownloadMessage) bool { return m.State == DownloadDone })
	if began.State != DownloadRunning || began.ID != done.ID || done.Name != "_fast.bin" || done.Received != 7 || done.URL != srv.URL+"/fast" {
		t.Errorf("began %+v, ended %+v", began, done)
	}
	folder, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if data, err := folder.Read(done.Name, 100); err != nil || string(data) != "content" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if f, err := folder.Stat(done.Name); err != nil || !s.FileShared(f) || s.FileShared(files.File{Name: "other.bin"}) {
		t.Error("guests reach other files than those that were downloaded")
	}
	late := join(t, s, RoleControl)
	await(late, "what was downloaded before", func(m DownloadMessage) bool { return m == done })

	v.click(1000, 100, epoch)
	slow := await(v, "second download", func(m DownloadMessage) bool { return m.ID != done.ID })
	if err := late.Download(t.Context(), slow.ID, "cancel"); err == nil {
		t.Error("somebody who is not in control cancels")
	}
	if err := v.Download(browsertest.Context(t, "cancel"), slow.ID, "cancel"); err != nil {
		t.Fatal(err)
	}
	await(v, "its end", func(m DownloadMessage) bool { return m.ID == slow.ID && m.State == DownloadCancelled })
	s.control.GiveUp(v.holder())
	await(onlooker, "control", func(ControlMessage) bool {
		for {
			select {
			case m := <-onlooker.messages:
				if _, ok := m.(DownloadMessage); ok {
					t.Errorf("an onlooker was told %+v", m)
				}
				continue
			default:
			}
			return true
		}
	})
}
