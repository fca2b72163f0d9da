package screencast

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image/jpeg"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"takeover/browser/browsertest"
	"takeover/cdp"
)

func TestFirstPictureOfACalmPage(t *testing.T) {
	p := openPage(t, Options{Tab: 7, NoStills: true})
	p.show(calm)
	before := time.Now()
	s := p.cast.Join(View{}, nil)
	defer s.Close()
	f := p.next(s)
	t.Logf("first picture after %v", time.Since(before))
	img, err := jpeg.Decode(bytes.NewReader(f.Data()))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != f.Width || size.Y != f.Height || f.Width != testWidth || f.Height != testHeight {
		t.Errorf("image is %v, frame says %d×%d, page is %d×%d", size, f.Width, f.Height, testWidth, testHeight)
	}
	if f.ViewportWidth != testWidth || f.ViewportHeight != testHeight {
		t.Errorf("viewport %d×%d", f.ViewportWidth, f.ViewportHeight)
	}
	if d := time.Since(f.CapturedAt); d < 0 || d > time.Minute {
		t.Errorf("captured %v ago", d)
	}
	m := f.Message()
	if got := f.AppendHeader(nil, 7); !bytes.Equal(got, m[:HeaderBytes]) || !bytes.Equal(m[HeaderBytes:], f.Data()) {
		t.Errorf("message does not start with the header: % x, % x", got, m[:HeaderBytes])
	}
	if overhead := float64(len(m)) / float64(len(f.Data())); overhead > 1.01 {
		t.Errorf("wire message is %.4f × the image", overhead)
	}
	f.Release()
}

func TestHiddenPageIsPrimed(t *testing.T) {
	p := openPage(t, Options{NoStills: true})
	p.show(calm)
	// Another tab of the same window comes to the front.
	front, err := cdp.Call(t.Context(), p.client.Browser(), target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: p.TestPage.Context})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_, _ = cdp.Call(context.Background(), p.client.Browser(), target.CloseTarget, target.CloseTargetParams(front))
	}()
	var state string
	if p.Eval(`document.visibilityState`, &state); state != "hidden" {
		t.Fatalf("the page behind is %s", state)
	}
	before := time.Now()
	s := p.cast.Join(View{}, nil)
	defer s.Close()
	f := p.next(s)
	t.Logf("first picture after %v", time.Since(before))
	if f.ViewportWidth != testWidth || f.ViewportHeight != testHeight {
		t.Errorf("viewport %d×%d", f.ViewportWidth, f.ViewportHeight)
	}
	f.Release()
}

func TestNobodyWatchesNothingIsCast(t *testing.T) {
	p := openPage(t, Options{NoStills: true})
	p.show(animation)
	for range 3 {
		s := p.cast.Join(View{}, nil)
		other := p.cast.Join(View{}, nil)
		p.next(s).Release()
		s.Close()
		p.next(other).Release() // one viewer still watches
		other.Close()
		other.Close()
		if _, err := other.Next(t.Context()); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
		if n := p.cast.Viewers(); n != 0 {
			t.Fatalf("%d viewers", n)
		}
		p.quiet("although nobody watches")
	}
}

// TestHiddenViewer expects that a hidden viewer gets nothing and does not count
// as watching, and that it gets the newest picture at once when it becomes
// visible again.
func TestHiddenViewer(t *testing.T) {
	p := openPage(t, Options{NoStills: true})
	p.show(animation)
	s := p.cast.Join(View{}, nil)
	defer s.Close()
	p.next(s).Release()
	s.SetView(View{Hidden: true})
	p.quiet("although nobody looks")
	other := p.cast.Join(View{}, nil)
	defer other.Close()
	for range 10 {
		f := p.next(other)
		other.Ack(f.Seq)
		f.Release()
	}
	if f, _, err := s.take(time.Now()); f != nil || err != nil {
		t.Fatalf("a hidden viewer was handed a picture: %v", err)
	}
	s.Ack(s.lastSeq)
	s.SetView(View{})
	f, _, err := s.take(time.Now())
	if f == nil {
		t.Fatalf("no picture at once: %v", err)
	}
	f.Release()
}

func TestNewestWins(t *testing.T) {
	p := openPage(t, Options{NoStills: true})
	p.show(animation)
	s := p.cast.Join(View{}, nil)
	defer s.Close()
	first := p.next(s)
	second := p.next(s) // at first two may be on their way
	held := time.Now()
	third := make(chan *Frame, 1)
	ctx := browsertest.Context(t, "the third picture")
	go func() {
		f, _ := s.Next(ctx) // nil if none arrives
		third <- f
	}()
	s.Ack(second.Seq + 100) // never sent
	made := p.sent.Load()
	more := func(n int64) {
		t.Helper()
		browsertest.Until(t, "more pictures", func() bool { return p.sent.Load() >= made+n })
	}
	more(20)
	late := time.Now()
	more(30)
	// On a busy machine, these may all have been made before; a picture that another viewer sees was not.
	witness := p.cast.Join(View{}, nil)
	defer witness.Close()
	for made := (time.Time{}); made.Before(late); {
		seen := p.next(witness)
		made = seen.CapturedAt
		witness.Ack(seen.Seq)
		seen.Release()
	}
	select {
	case f := <-third:
		t.Fatalf("picture %d was handed out with two unacknowledged", f.Seq)
	default:
	}
	waited := time.Since(held)
	s.Ack(second.Seq)
	f := <-third
	if f == nil {
		t.Fatal(context.Cause(ctx))
	}
	if skipped := f.Seq - second.Seq - 1; skipped < 10 {
		t.Errorf("only %d of 30 pictures skipped", skipped)
	}
	if st := s.Stats(); st.Skipped < 10 || st.RTT < waited*8/10 {
		t.Errorf("%+v after %v", st, waited)
	}
	if f.CapturedAt.Before(late) {
		t.Errorf("the picture is %v older than the newest ones", late.Sub(f.CapturedAt))
	}
	other := p.cast.Join(View{}, nil)
	defer other.Close()
	p.next(other).Release()
	first.Release()
	second.Release()
	f.Release()
}

// TestRate compares a viewer's pictures with those that Chromium makes at the
// same time. On a busy machine these arrive in groups, and of each group one is
// sent; so the window, which a busy machine does not change, tells whether the
// viewer could have all.
func TestRate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		delay time.Duration
		max   int
	}{
		{"prompt", 0, 0},
		{"80 ms", 80 * time.Millisecond, 0},
		{"limited", 0, 25},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openPage(t, Options{NoStills: true})
			p.show(animation)
			s := p.cast.Join(View{MaxRate: tt.max}, nil)
			defer s.Close()
			acks := make(chan uint32, 1000)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for seq := range acks {
					s.Ack(seq)
				}
			}()
			var late sync.WaitGroup // acks
			run := func(d time.Duration) (n int) {
				for end := time.Now().Add(d); time.Now().Before(end); n++ {
					f := p.next(s)
					late.Add(1)
					time.AfterFunc(tt.delay, func() {
						defer late.Done()
						acks <- f.Seq
					})
					f.Release()
				}
				return n
			}
			run(500 * time.Millisecond)
			s.Stats()
			made := p.sent.Load()
			n := float64(run(2 * time.Second))
			want := float64(p.sent.Load() - made)
			p.cast.mu.Lock()
			window, rtt := s.pace.window, s.pace.rtt
			p.cast.mu.Unlock()
			t.Logf("%v of %v pictures, window %d, %+v", n, want, window, s.Stats())
			if float64(window) < min(FullRate*rtt.Seconds(), MaxInFlight) {
				t.Errorf("window %d is less than a round trip of %v at full rate", window, rtt)
			}
			most := want + 2
			if tt.max > 0 {
				want = min(want, 2*float64(tt.max))
				most = want + 3
			}
			if n < 0.4*want || n > most {
				t.Errorf("%v pictures, want about %v", n, want)
			}
			late.Wait()
			close(acks)
			<-done
		})
	}
}

func TestNavigationAndResize(t *testing.T) {
	p := openPage(t, Options{}) // stills show what the cast missed
	p.show(calm)
	s := p.cast.Join(View{}, nil)
	defer s.Close()
	f := p.next(s)
	s.Ack(f.Seq)
	last := f.Seq
	f.Release()
	until := func(what string, ok func(*Frame) bool) {
		t.Helper()
		for {
			f := p.next(s)
			s.Ack(f.Seq)
			if int32(f.Seq-last) <= 0 {
				t.Fatalf("%s: seq %d after %d", what, f.Seq, last)
			}
			last = f.Seq
			done := ok(f)
			f.Release()
			if done {
				return
			}
		}
	}
	p.resize(640, 480)
	until("resize", func(f *Frame) bool { return f.Width == 640 && f.ViewportHeight == 480 })
	// chrome://version runs in another process.
	if _, err := cdp.Call(t.Context(), p.session, page.Navigate, page.NavigateParams{URL: "chrome://version"}); err != nil {
		t.Fatal(err)
	}
	until("navigation", func(*Frame) bool { return true })
	p.Open("about:blank")
	p.show(`<body style="background:#f00">`)
	until("back", func(f *Frame) bool {
		img, err := jpeg.Decode(bytes.NewReader(f.Data()))
		if err != nil {
			t.Fatal(err)
		}
		r, g, _, _ := img.At(10, 10).RGBA()
		return r > 0xF000 && g < 0x1000
	})
}

func TestClose(t *testing.T) {
	p := openPage(t, Options{NoStills: true})
	p.show(animation)
	s := p.cast.Join(View{}, nil)
	p.next(s).Release()
	failed := make(chan error, 1)
	go func() {
		for {
			f, err := s.Next(context.Background())
			if err != nil {
				failed <- err
				return
			}
			f.Release()
		}
	}()
	p.cast.Close()
	if err := <-failed; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := p.cast.Join(View{}, nil).Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestPageGoes(t *testing.T) {
	p := openPage(t, Options{NoStills: true})
	p.show(calm)
	if _, err := cdp.Call(t.Context(), p.client.Browser(), target.DetachFromTarget, target.DetachFromTargetParams{SessionID: target.SessionID(p.session.ID())}); err != nil {
		t.Fatal(err)
	}
	s := p.cast.Join(View{}, nil)
	defer s.Close()
	if _, err := s.Next(t.Context()); !errors.Is(err, cdp.ErrDetached) {
		t.Error(err)
	}
}

func TestHeader(t *testing.T) {
	f := &Frame{Seq: 0xFFFFFFFE, Format: WebP, Sharp: true, CapturedAt: time.UnixMicro(1_795_246_931_811_696), Width: 70000, Height: 1440, ViewportWidth: 1280, ViewportHeight: -1}
	h := f.AppendHeader([]byte{9}, 3)
	if len(h) != 1+HeaderBytes || h[0] != 9 {
		t.Fatalf("% x", h)
	}
	h = h[1:]
	if !bytes.Equal(h[:4], []byte{1, 3, 1, 0}) || binary.BigEndian.Uint32(h[4:]) != 0xFFFFFFFE || binary.BigEndian.Uint64(h[8:]) != 1_795_246_931_811_696 ||
		binary.BigEndian.Uint16(h[16:]) != 65535 || binary.BigEndian.Uint16(h[18:]) != 1440 || binary.BigEndian.Uint16(h[20:]) != 1280 ||
		binary.BigEndian.Uint16(h[22:]) != 0 || binary.BigEndian.Uint32(h[24:]) != 3 {
		t.Errorf("% x", h)
	}
}
