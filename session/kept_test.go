package session

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
)

// TestLookingBack ends a session in which a script failed, and restarts the
// server. The last picture and the captured events can still be read.
func TestLookingBack(t *testing.T) {
	data, kept := t.TempDir(), openKept(t, t.TempDir())
	first, err := NewManager(managerOptions(Options{Dir: data, Store: kept, WarmBrowsers: -1, Capture: new(capture.DefaultConfig())}))
	if err != nil {
		t.Fatal(err)
	}
	s := create(t, first, CreateOptions{URL: site(t)})
	failed := startRun(t, s, `await page.evaluate(() => console.log('from the page')); throw new Error('it broke')`)
	endOf(t, failed)
	good := startRun(t, s, `return 1`)
	endOf(t, good)
	if err := s.Release(""); err != nil {
		t.Fatal(err)
	}
	picturesOf(t, s)
	if err := first.Close(context.Background()); err != nil {
		t.Fatal(err)
	}

	again := startManager(t, Options{Dir: data, Store: kept, WarmBrowsers: -1})
	back, err := again.Get(s.ID())
	if err != nil {
		t.Fatal(err)
	}
	picturesOf(t, back)
	types := map[string]int{}
	page, err := back.Journal().Events(browsertest.Context(t, "events"), 0, 1000, capture.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range page.Events {
		types[ev.Type]++
	}
	for _, want := range []string{capture.TypeConsoleLog, capture.TypeNetworkRequest, capture.TypeNavigation} {
		if types[want] == 0 {
			t.Errorf("no %s was captured: %v", want, types)
		}
	}
}

// picturesOf checks that an ended session has its last picture, that the failed
// run has a picture, and that the other run has none.
func picturesOf(t *testing.T, s *Session) {
	t.Helper()
	ctx := browsertest.Context(t, "pictures")
	runs := s.Runs()
	good, failed := runs[0], runs[1]
	for name, read := range map[string]func(context.Context) ([]byte, error){"the last picture": s.LastPicture, "the picture of the failure": failed.Picture} {
		raw, err := read(ctx)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if image, err := jpeg.DecodeConfig(bytes.NewReader(raw)); err != nil || image.Width != DefaultWidth {
			t.Errorf("%s: %+v, %v", name, image, err)
		}
	}
	if !failed.HasPicture() || !s.HasLastPicture() || good.HasPicture() {
		t.Error("the session says that it has other pictures than it has")
	}
	if _, err := good.Picture(ctx); !errors.Is(err, ErrNotFound) {
		t.Errorf("the picture of a run that succeeded: %v", err)
	}
}

// TestFailuresAreToldSoon lets scripts fail in pages of which a picture can be
// taken, and in pages of which none can. The end of the run does not wait long
// for a picture that cannot be taken.
func TestFailuresAreToldSoon(t *testing.T) {
	for name, c := range map[string]struct {
		code    string
		picture bool
	}{
		"a page that responds": {``, true},
		"a page that is stuck": {`for (;;) {}`, false},
		"a page that asks":     {`confirm('really?')`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(t, startManager(t, Options{WarmBrowsers: -1, Capture: new(capture.DefaultConfig())}), CreateOptions{URL: site(t)})
			v := join(t, s, RoleControl)
			v.picture("the page")
			r := startRun(t, s, `
				page.on('dialog', () => {});
				const begins = page.waitForEvent('console');
				await page.evaluate(() => { setTimeout(() => { console.log('begins'); `+c.code+` }) });
				await begins;
				console.log('now');
				throw new Error('it broke')`)
			info := endOf(t, r)
			took := info.EndedAt.Sub(info.Logs[0].TS)
			if took >= keptPictureTimeout { // the patience with a page that responds
				t.Errorf("told %v after it failed", took)
			}
			if r.HasPicture() != c.picture {
				t.Errorf("picture: %v", r.HasPicture())
			}
		})
	}
}

// TestNothingIsCapturedUnlessWanted creates a session without a capture on a
// server that captures by default, and the other way round.
func TestNothingIsCapturedUnlessWanted(t *testing.T) {
	sets := capture.Config{Console: true, Targets: true}
	for server, by := range map[bool]*capture.Config{true: &sets, false: nil} {
		m := startManager(t, Options{WarmBrowsers: -1, Capture: by})
		if state, config, _ := create(t, m, CreateOptions{}).Monitor().State(); (state == capture.StateRunning) != server || config.Targets != server {
			t.Errorf("a server with capture %v, by default: %s, %+v", server, state, config)
		}
		s := create(t, m, CreateOptions{Capture: new(!server)})
		if state, _, _ := s.Monitor().State(); (state == capture.StateRunning) == server {
			t.Errorf("a server with capture %v: %s", server, state)
		}
		if err := s.Release(""); err != nil {
			t.Fatal(err)
		}
		if s.HasLastPicture() == server {
			t.Errorf("a server with capture %v: picture %v", server, s.HasLastPicture())
		}
	}
}
