package session

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/capture"
)

// frames returns how many pictures a session's film strip has.
func frames(t *testing.T, s *Session) int {
	t.Helper()
	times, _, err := Film(s)
	if err != nil {
		t.Fatal(err)
	}
	return len(times)
}

// isNewest reports whether the newest picture of a session's strip has a colour.
func isNewest(t *testing.T, s *Session, r, g, b uint32) bool {
	t.Helper()
	times, _, err := Film(s)
	if err != nil || len(times) == 0 {
		return false
	}
	raw, err := FilmPicture(s, times[len(times)-1])
	if err != nil {
		t.Fatal(err)
	}
	shown, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil || shown.Bounds().Dx() != filmWidth {
		t.Fatalf("its picture is %v, %v", shown.Bounds(), err)
	}
	near := func(got, want uint32) bool { return max(got>>8, want)-min(got>>8, want) < 40 }
	gotR, gotG, gotB, _ := shown.At(filmWidth/2, shown.Bounds().Dy()-20).RGBA()
	return near(gotR, r) && near(gotG, g) && near(gotB, b)
}

// TestFilmOfPages opens three pages soon after each other. The strip has all of them, and not
// the empty one before them.
func TestFilmOfPages(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1})
	s := create(t, m, CreateOptions{Capture: new(true)})
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>a page</title><body style='background: rgb(%s)'>", r.URL.RawQuery)
	}))
	t.Cleanup(pages.Close)
	colours := [][3]uint32{{0, 128, 0}, {128, 0, 0}, {0, 0, 128}}
	for i, c := range colours {
		endOf(t, startRun(t, s, fmt.Sprintf(`await page.goto('%s?%d,%d,%d')`, pages.URL, c[0], c[1], c[2])))
		browsertest.Until(t, "its picture is in the strip", func() bool { return isNewest(t, s, c[0], c[1], c[2]) })
		if n := frames(t, s); n != i+1 {
			t.Errorf("the strip has %d pictures of %d pages", n, i+1)
		}
	}
}

// TestFilm takes the film strip of a session that a script uses, and then a person watches.
func TestFilm(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1})
	s := create(t, m, CreateOptions{URL: site(t), Capture: new(true)})
	browsertest.Until(t, "the first page is in the strip", func() bool { return frames(t, s) > 0 })
	run := func(code string) {
		t.Helper()
		endOf(t, startRun(t, s, code))
	}
	run(`await page.evaluate(() => { document.body.style.background = 'rgb(0, 128, 0)' })`)
	browsertest.Until(t, "what the script did is in the strip", func() bool { return isNewest(t, s, 0, 128, 0) })
	join(t, s, RoleView)
	run(`await page.evaluate(() => { document.body.style.background = 'rgb(128, 0, 0)' })`)
	browsertest.Until(t, "what somebody watched is in the strip", func() bool { return isNewest(t, s, 128, 0, 0) })

	run(`await page.setContent('<input type=password autofocus>'); await page.focus('input')`)
	browsertest.Until(t, "the secret field is known", func() bool { f := s.shown(); return f != nil && f.eng.tracker.Secret(f.page) != "" })
	const other = "another-strip" // beside the one that the session takes
	strip := m.settings.films.Begin(other)
	taken := func() int {
		times, hidden, err := m.settings.films.Times(other)
		if err != nil || len(hidden) != 1 {
			t.Fatal(hidden, err)
		}
		return len(times)
	}
	if next := filmNext(s, strip, time.Now(), shot{}); next != (shot{}) || taken() != 0 {
		t.Error("a picture was taken while a secret field had the focus")
	}
	run(`await page.evaluate(() => document.querySelector('input').blur())`)
	browsertest.Until(t, "the field has lost the focus", func() bool { return s.shown().eng.tracker.Secret(s.shown().page) == "" })
	if filmNext(s, strip, time.Now(), shot{}); taken() != 0 {
		t.Error("a picture was taken of a document in which somebody may see what was entered")
	}
	run(`await page.goto('about:blank'); await page.evaluate(() => { document.body.style.background = 'rgb(0, 0, 128)' })`)
	shy := &s.stills.shy
	shy.mu.Lock()
	shy.until, shy.gone = time.Now().Add(-10*time.Second), false // the field had lost the focus long before
	shy.mu.Unlock()
	if !shy.hides(s.shown(), time.Now().Add(-shyMargin/2)) {
		t.Error("a picture from just before its document was replaced would be kept")
	}
	browsertest.Until(t, "the next document is in the strip", func() bool {
		filmNext(s, strip, time.Now(), shot{})
		return taken() > 0 && isNewest(t, s, 0, 0, 128)
	})
	run(`await page.evaluate(() => { document.body.style.background = 'rgb(128, 0, 128)' })`)
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "what it showed last ends the strip", func() bool { return isNewest(t, s, 128, 0, 128) })
	if pictures, _, err := Film(s); err != nil || pictures[len(pictures)-1].After(*s.Info().EndedAt) {
		t.Errorf("the strip ends at %v, %v, after the session", pictures, err)
	}
	if frames(t, s) < 3 {
		t.Error("the strip of an ended session is gone")
	}
	plain := create(t, m, CreateOptions{Capture: new(false)})
	if _, err := plain.StartCapture(t.Context(), capture.Config{}); err != nil {
		t.Fatal(err)
	}
	film(plain) // it returns, although the session lives
	if err := plain.Release(""); err != nil || frames(t, plain) != 0 {
		t.Errorf("a session without a capture has a strip of %d pictures, %v", frames(t, plain), err)
	}
}
