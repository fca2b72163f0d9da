package session

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"takeover/screencast"
)

// TestDenseSession checks that a session with two pixels per CSS pixel is shown
// at full resolution to a viewer with a dense screen, and at half to others.
func TestDenseSession(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>…</title><style>div{width:99px;height:99px;background:#36c;animation:go 1s linear infinite}
			@keyframes go{to{transform:translateX(500px)}}</style><div></div><script>document.title = devicePixelRatio</script>`))
	}))
	t.Cleanup(page.Close)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: page.URL, DeviceScaleFactor: 2, Dimensions: Dimensions{Width: 1280, Height: 720}})
	v := join(t, s, RoleControl)
	await(v, "the page", func(m TabsMessage) bool { return len(m.Tabs) > 0 && m.Tabs[0].Title == "2" })
	for _, tt := range []struct {
		ratio float64
		width int
	}{{2, 2560}, {1, 1280}, {2, 2560}} {
		if err := v.Resize(screencast.View{Width: 1280, Height: 720, PixelRatio: tt.ratio}); err != nil {
			t.Fatal(err)
		}
		for {
			p := v.picture("a picture of the right size")
			if p.ViewportWidth != 1280 || p.ViewportHeight != 720 {
				t.Fatalf("a viewport of %d×%d", p.ViewportWidth, p.ViewportHeight)
			}
			if !p.Sharp && p.Width == tt.width {
				break
			}
		}
	}
}
