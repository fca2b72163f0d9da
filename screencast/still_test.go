package screencast

import (
	"context"
	"errors"
	"testing"
	"time"

	"takeover/browser/browsertest"
)

func TestSharpStill(t *testing.T) {
	for _, tt := range []struct {
		name          string
		ratio         float64
		width, height int
	}{
		{"plain screen", 1, testWidth, testHeight},
		{"dense screen", 2, 2 * testWidth, 2 * testHeight},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openPage(t, Options{})
			p.show(calm + `<div style="height:3000px"></div><script>let resized = 0; addEventListener('resize', () => resized++)
				let ratios = new Set(); (function look() { ratios.add(devicePixelRatio); setTimeout(look, 2) })()</script>`)
			s := p.cast.Join(View{PixelRatio: tt.ratio}, nil)
			defer s.Close()
			moving := p.next(s)
			p.Eval(`resized = 0; ratios.clear()`, nil)
			s.Ack(moving.Seq)
			still := p.next(s)
			for ; !still.Sharp; still = p.next(s) { // the page was still being drawn
				moving.Release()
				moving = still
				s.Ack(moving.Seq)
			}
			s.Ack(still.Seq)
			if moving.Sharp {
				t.Fatal("a still before anything moved")
			}
			if d := still.CapturedAt.Sub(moving.CapturedAt); d < StillAfter*9/10 {
				t.Errorf("still taken after %v", d)
			}
			if still.Width != tt.width || still.Height != tt.height || still.ViewportWidth != testWidth || still.ViewportHeight != testHeight {
				t.Errorf("still %d×%d of %d×%d", still.Width, still.Height, still.ViewportWidth, still.ViewportHeight)
			}
			if still.Message()[2] != 1 || moving.Message()[2] != 0 {
				t.Error("flags on the wire are wrong")
			}
			moving.Release()
			still.Release()

			// The echo of the capture is not a change, so no other picture
			// arrives.
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if f, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
				if err != nil {
					t.Fatal(err)
				}
				t.Fatalf("another picture, %v after the still", f.CapturedAt.Sub(still.CapturedAt))
			}
			var page struct {
				Resized int
				Ratios  []float64
			}
			p.Eval(`({resized, ratios: [...ratios]})`, &page)
			if page.Resized != 0 || len(page.Ratios) != 1 || page.Ratios[0] != 1 {
				t.Errorf("the page noticed: %+v", page)
			}

			// A change is shown at once, and then gets its own still.
			p.Eval(`document.body.style.background = '#0a0'`, nil)
			changed := p.next(s)
			s.Ack(changed.Seq)
			again := p.next(s)
			if changed.Sharp || !again.Sharp {
				t.Errorf("sharp: %v, then %v", changed.Sharp, again.Sharp)
			}
			changed.Release()
			again.Release()
		})
	}
}

func TestPrimedWhenTheCastGivesNothing(t *testing.T) {
	p := openPage(t, Options{NoStills: true, Tab: 3})
	p.show(calm + `<div style="height:3000px">`)
	deaf := New(p.session, Options{Tab: 3}) // receives no events
	defer deaf.Close()
	s := deaf.Join(View{}, nil)
	defer s.Close()
	f := p.next(s)
	defer f.Release()
	if f.Width != testWidth || f.ViewportWidth != testWidth || f.ViewportHeight != testHeight {
		t.Errorf("%d×%d of %d×%d", f.Width, f.Height, f.ViewportWidth, f.ViewportHeight)
	}
}

// TestBlinkingCaret checks that the caret of a focused field, which is painted
// twice a second, does not replace a still, and that typed text is shown. A
// capture at twice the size may draw the page again just when the caret blinks.
func TestBlinkingCaret(t *testing.T) {
	const blinks = 10
	for _, tt := range []struct {
		name    string
		ratio   float64
		density float64
		font    string
		most    int // moving pictures in that time
	}{
		{"plain screen", 1, 1, "13px", 0},
		{"dense screen", 2, 1, "13px", blinks - 2},
		{"dense session", 2, 2, "60px", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openPage(t, Options{Density: tt.density})
			p.show(`<body><input id=in style="font:` + tt.font + ` sans-serif" value=hell><script>document.getElementById('in').focus()</script>`)
			s := p.cast.Join(View{PixelRatio: tt.ratio}, nil)
			defer s.Close()
			until := func(sharp bool) {
				t.Helper()
				for done := false; !done; {
					f := p.next(s)
					s.Ack(f.Seq)
					done = f.Sharp == sharp
					f.Release()
				}
			}
			until(true)
			moving, from := 0, p.sent.Load()
			browsertest.Until(t, "the caret to blink", func() bool {
				f, _, err := s.take(time.Now())
				if err != nil {
					t.Fatal(err)
				}
				if f != nil {
					if !f.Sharp {
						moving++
					}
					s.Ack(f.Seq)
					f.Release()
				}
				return p.sent.Load() >= from+blinks
			})
			if moving > tt.most {
				t.Errorf("%d pictures of a caret instead of a still", moving)
			}
			p.Eval(`document.getElementById('in').value += 'l'`, nil)
			until(false)
			until(true)
		})
	}
}
