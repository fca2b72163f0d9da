package session

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"takeover/browser/browsertest"
	"takeover/cdp"
)

// greyer serves pages, each lighter than the one before, whose title shows when
// they are pressed.
func greyer(t *testing.T) string {
	t.Helper()
	served := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			return
		}
		served++
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<title>ready</title><body style="background:rgb(%[1]d,%[1]d,%[1]d)" onmouseup="document.title='pressed %[2]d ' + ++presses"><script>presses = 0</script>`, served*40, served)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// sees waits for a picture of the nth page that greyer served.
func (v *viewer) sees(nth int) {
	v.t.Helper()
	browsertest.Until(v.t, fmt.Sprintf("a picture of page %d", nth), func() bool {
		img, err := jpeg.Decode(bytes.NewReader(v.picture("a picture").Data()))
		if err != nil {
			v.t.Fatal(err)
		}
		grey := color.GrayModel.Convert(img.At(100, 100)).(color.Gray).Y
		return grey > uint8(nth*40-10) && grey < uint8(nth*40+10)
	})
}

// crash kills the renderer of the page that is shown.
func crash(t *testing.T, s *Session) {
	t.Helper()
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	if err := cdp.Send(p.Session(), page.Crash, proto.Empty{}); err != nil {
		t.Fatal(err)
	}
}

// inState waits until the only tab is in the given state and has loaded.
func (v *viewer) inState(state TabState) {
	v.t.Helper()
	await(v, "a tab that is "+string(state), func(m TabsMessage) bool {
		return len(m.Tabs) == 1 && m.Tabs[0].State == state && !m.Tabs[0].Loading
	})
}

// TestTabCrash kills a page's renderer while people watch. All of them are
// notified, and so is a viewer who joins later. A script gets an event. Loading
// the page again brings it back for everybody.
func TestTabCrash(t *testing.T) {
	base := greyer(t)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: base})
	v, onlooker := join(t, s, RoleControl), join(t, s, RoleView)
	v.inState(TabLive)
	v.sees(1)
	run := startRun(t, s, `
		const crashed = page.waitForEvent('crash');
		console.log('listening');
		await crashed;
		return 'heard';`)
	logged(t, run)
	crash(t, s)
	v.inState(TabCrashed)
	onlooker.inState(TabCrashed)
	if got := resultOf[string](t, run); got != "heard" {
		t.Errorf("the script got %q", got)
	}
	if tabs := s.Info().Tabs; len(tabs) != 1 || tabs[0].State != TabCrashed {
		t.Errorf("the session's tabs are %+v", tabs)
	}

	epoch := v.take()
	for i, act := range []struct{ action, url string }{{"reload", ""}, {"goto", base + "/two"}} {
		late := join(t, s, RoleView)
		late.inState(TabCrashed)
		v.click(100, 100, epoch) // the click is lost
		if _, _, err := s.Screenshot(t.Context(), "", true); !errors.Is(err, ErrTabCrashed) {
			t.Errorf("a picture of it: %v", err)
		}
		if err := v.Navigate(t.Context(), 0, act.action, act.url); err != nil {
			t.Fatal(err)
		}
		for _, each := range []*viewer{v, onlooker, late} {
			each.inState(TabLive)
			each.sees(i + 2)
		}
		v.click(100, 100, epoch)
		v.titled(fmt.Sprintf("pressed %d 1", i+2))
		if i == 0 {
			crash(t, s)
			for _, each := range []*viewer{v, onlooker} {
				each.inState(TabCrashed)
			}
			late.Leave()
		}
	}
}

// TestTabCrashesWhilePictured kills a page's renderer just before a picture of it
// is requested. The page is gone, but the browser and its other pages are not.
func TestTabCrashesWhilePictured(t *testing.T) {
	base := greyer(t)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: base})
	v := join(t, s, RoleControl)
	v.inState(TabLive)
	v.sees(1)
	eng, err := s.ready()
	if err != nil {
		t.Fatal(err)
	}
	epoch := v.take()
	for i := range 4 {
		crash(t, s)
		// The renderer takes some time to die, in which Chromium may still have a picture.
		if _, _, err := s.Screenshot(t.Context(), "", false); err != nil && !errors.Is(err, ErrTabCrashed) {
			t.Fatalf("a picture of it: %v", err)
		}
		v.inState(TabCrashed)
		if err := v.Navigate(t.Context(), 0, "reload", ""); err != nil {
			t.Fatal(err)
		}
		v.inState(TabLive)
		v.sees(i + 2)
	}
	v.click(100, 100, epoch)
	if after, err := s.ready(); err != nil || after != eng {
		t.Errorf("the browser is another one: %v", err)
	}
}
