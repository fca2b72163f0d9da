package browser_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"takeover/browser"
	"takeover/cdp"
)

// localFile is a file that every Chromium on this machine can read.
const localFile = "file:///etc/passwd"

func local(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return slices.Contains([]string{"file", "chrome", "devtools", "view-source"}, scheme)
}

// TestLocalDocuments tries every way in which a page can open a document of this
// machine. None may show one.
func TestLocalDocuments(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<p>here</p>"})
	b := attach(t)
	p := newPage(t, b)
	rec := record(t, b)

	for _, from := range []string{s.URL + "/", "about:blank", "data:text/html,<p>here</p>"} {
		targets := []string{localFile, "chrome://version/"}
		if strings.HasPrefix(from, "http:") {
			targets = append(targets, "devtools://devtools/bundled/inspector.html", "view-source:"+localFile)
		}
		for _, to := range targets {
			for name, try := range map[string]string{
				"location":     `location.href = %q`,
				"replace":      `location.replace(%q)`,
				"window.open":  `window.open(%q)`,
				"named window": `{ const w = window.open('about:blank', 'named'); if (w) w.location = %q }`,
				"anchor":       `{ const a = document.createElement('a'); a.href = %q; document.body.append(a); a.click() }`,
				"anchor blank": `{ const a = document.createElement('a'); a.target = '_blank'; a.href = %q; document.body.append(a); a.click() }`,
				"iframe":       `{ const f = document.createElement('iframe'); f.src = %q; document.body.append(f) }`,
				"object":       `{ const f = document.createElement('object'); f.data = %q; document.body.append(f) }`,
				"form":         `{ const f = document.createElement('form'); f.method = 'post'; f.action = %q; document.body.append(f); f.submit() }`,
				"meta":         `{ const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;url=' + %q; document.head.append(m) }`,
			} {
				f := p.MainFrame()
				open(t, f, from)
				rec.story()
				// The attempt may also end because its document goes away.
				attempt(t, f, fmt.Sprintf(try, to))
				attempt(t, f, "await new Promise(done => setTimeout(done, 30))")
				must(t, b.Do(wait(t, "events"), func() {}))
				for _, open := range b.Pages() {
					for _, f := range open.Frames() {
						if url := f.URL(); local(url) {
							t.Errorf("%s: %s of %s shows %s", from, name, to, url)
						}
					}
					if open != p && open.Context() == p.Context() {
						must(t, open.Close(wait(t, "close popup")))
					}
				}
				for {
					e, ok := rec.pending()
					if !ok {
						break
					}
					if nav, ok := e.(browser.FrameNavigated); ok && nav.Err == nil && local(nav.URL) {
						t.Errorf("%s: %s of %s showed %s", from, name, to, nav.URL)
					}
				}
			}
		}
	}

	s.mux.Handle("/redirect", redirectTo(localFile))
	if nav, err := p.MainFrame().Navigate(wait(t, "redirect"), s.URL+"/redirect", browser.NavigateOptions{}); err == nil {
		t.Errorf("redirected to %s", nav.URL)
	}
}

// TestLeavesLocalDocuments makes Chromium itself open local documents, which no
// page can do.
func TestLeavesLocalDocuments(t *testing.T) {
	b := attach(t)
	p := newPage(t, b)
	for _, url := range []string{localFile, "chrome://version/", "view-source:" + localFile, "devtools://devtools/bundled/inspector.html"} {
		rec := record(t, b)
		must(t, cdp.Send(p.Session(), page.Navigate, page.NavigateParams{URL: url}))
		next(rec, func(e browser.FrameNavigated) bool { return local(e.URL) })
		next(rec, func(e browser.FrameNavigated) bool { return e.Err == nil && e.URL == "about:blank" })
		if shown := p.URL(); shown != "about:blank" {
			t.Errorf("%s: shows %s", url, shown)
		}
	}
	// The history does not lead back there permanently, either.
	rec := record(t, b)
	history, err := browser.Call(wait(t, "history"), b, p.Session(), page.GetNavigationHistory, proto.Empty{})
	must(t, err)
	for _, e := range history.Entries {
		if strings.HasPrefix(e.URL, "file:") {
			must(t, cdp.Send(p.Session(), page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: e.ID}))
			next(rec, func(e browser.FrameNavigated) bool { return strings.HasPrefix(e.URL, "file:") })
			next(rec, func(e browser.FrameNavigated) bool { return e.URL == "about:blank" })
			return
		}
	}
}

// attempt runs statements in a page and ignores their outcome.
func attempt(t *testing.T, f *browser.Frame, statements string) {
	w, err := f.World(wait(t, "world"), browser.WorldMain)
	if err == nil {
		_, _ = w.Call(wait(t, statements), browser.CallOptions{Function: "async () => {" + statements + "}", AwaitPromise: true, UserGesture: true})
	}
}

func redirectTo(url string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", url)
		w.WriteHeader(http.StatusFound)
	})
}

// pending returns the next event that has already been reported.
func (r *recorder) pending() (browser.Event, bool) {
	select {
	case e := <-r.events:
		return e, true
	default:
		return nil, false
	}
}
