package session

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/screencast"
)

// TestPagesThatGoWhileTheyAreEnlarged navigates a page while its sharp still is
// captured, for which Chromium enlarges it. The page must not stay enlarged.
func TestPagesThatGoWhileTheyAreEnlarged(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<title>%s</title><style>html{height:100%%;background:linear-gradient(to right,#f00 50%%,#00f 50%%)}</style>%[1]s
			<script>
				// The moment falls before, into and behind the taking of a still.
				const i = Number(location.pathname.slice(1))
				if (i < 6) onload = () => setTimeout(() => { location.href = '/' + (i + 1) }, %[2]d + 40 * i)
			</script>`, r.URL.Path, screencast.StillAfter.Milliseconds())
	}))
	t.Cleanup(srv.Close)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: srv.URL + "/0"})
	join := func() *Viewer {
		v, err := s.Join(ViewerOptions{Role: RoleView, Name: "dense"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Leave)
		if err := v.Hello(screencast.View{Width: 1280, Height: 720, PixelRatio: 2}); err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				if _, err := v.NextMessage(context.Background()); err != nil { // until the end
					return
				}
			}
		}()
		return v
	}
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	v := join()
	for end := time.Now().Add(browsertest.Patience); ; {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		picture, err := v.NextPicture(ctx)
		late := ctx.Err() != nil
		cancel()
		if late && time.Now().Before(end) {
			// On a busy machine, a still may have taken so long that this viewer gets
			// no others for a minute.
			v.Leave()
			v = join()
			continue
		}
		if err != nil {
			t.Fatal("no sharp picture of the last page: ", err)
		}
		v.Ack(picture.Seq)
		if !picture.Sharp || p.MainFrame().URL() != srv.URL+"/6" {
			picture.Release()
			continue
		}
		img, err := jpeg.Decode(bytes.NewReader(picture.Data()))
		picture.Release()
		if err != nil {
			t.Fatal(err)
		}
		b := img.Bounds()
		r, _, blue, _ := img.At(b.Max.X*3/4, b.Max.Y/2).RGBA()
		if r > 0x4000 || blue < 0xc000 || b.Dx() != 2*1280 {
			t.Errorf("the page is left enlarged: %v, on the right it is %x, %x", b, r, blue)
		}
		return
	}
}
