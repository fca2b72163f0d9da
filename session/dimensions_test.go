package session

import (
	"errors"
	"testing"

	"takeover/browser/browsertest"
	"takeover/invalid"
)

// TestResize changes the size of open and of later tabs. Viewers see it, a script that
// had a size of its own leaves the session's, and so does a crash.
func TestResize(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t) + "/one"})
	v := join(t, s, RoleControl)
	v.picture("the page")
	if got, ok := errors.AsType[*invalid.Error](s.Resize(t.Context(), Dimensions{Width: 99, Height: 4097})); !ok || len(got.Fields) != 2 {
		t.Errorf("a size that may not be: %v", got)
	}
	changed := startRun(t, s, `await page.setViewportSize({ width: 640, height: 480 }); console.log('resized'); await page.waitForFunction(() => innerWidth == 390)`)
	logged(t, changed)
	want := Dimensions{Width: 390, Height: 844}
	if err := s.Resize(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if info := endOf(t, changed); info.Status != RunSucceeded {
		t.Errorf("a script that waits for the size: %+v", info.Error)
	}
	browsertest.Until(t, "a picture of the size", func() bool {
		f := v.picture("picture")
		return f.ViewportWidth == want.Width && f.ViewportHeight == want.Height
	})
	if got := s.Info().Dimensions; got != want {
		t.Errorf("the session says %v", got)
	}
	const sizes = `
		const sizes = [];
		for (const p of [page, await context.newPage()]) sizes.push(await p.evaluate(() => ({ width: innerWidth, height: innerHeight })));
		return sizes`
	of := func(when string) {
		t.Helper()
		for i, got := range resultOf[[]Dimensions](t, startRun(t, s, sizes)) {
			if got != want {
				t.Errorf("%s, tab %d: %v", when, i, got)
			}
		}
	}
	of("at once")
	kill(t, s.pid(t))
	await(v, "recovered", func(m StateMessage) bool { return m.Type == "recovered" })
	of("after a crash")
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	if err := s.Resize(t.Context(), want); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}
