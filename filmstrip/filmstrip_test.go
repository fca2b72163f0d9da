package filmstrip

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var start = time.UnixMilli(1_700_000_000_000).UTC()

func add(t *testing.T, strip *Strip, after time.Duration, size int) {
	t.Helper()
	if err := strip.Add(start.Add(after), bytes.Repeat([]byte{byte(after / time.Second)}, size)); err != nil {
		t.Fatal(err)
	}
}

func times(t *testing.T, s *Strips, session string) (list []time.Duration) {
	t.Helper()
	got, _, err := s.Times(session)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range got {
		list = append(list, at.Sub(start))
	}
	return list
}

func TestPictures(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "strips"), Options{})
	if got := times(t, s, "a"); len(got) != 0 {
		t.Errorf("a session without a strip has %v", got)
	}
	strip := s.Begin("a")
	for i := range 3 {
		add(t, strip, time.Duration(i)*2*time.Second, 100)
	}
	if strip.Due(start.Add(5*time.Second), false) || !strip.Due(start.Add(6*time.Second), false) {
		t.Error("pictures are due at other times than every 2 s")
	}
	if strip.Due(start.Add(4400*time.Millisecond), true) || !strip.Due(start.Add(4500*time.Millisecond), true) {
		t.Error("pictures of other pages are due at other times than every 0.5 s")
	}
	if got := times(t, s, "a"); len(got) != 3 || got[2] != 4*time.Second {
		t.Errorf("the strip has pictures at %v", got)
	}
	if got, err := s.Picture("a", start.Add(4*time.Second)); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{4}, 100)) {
		t.Errorf("the last picture: %v, %v", got, err)
	}
	for _, name := range []string{"", "..", ".", "../a", "a/b", ".hidden"} {
		if _, err := s.Picture(name, start); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := s.Picture("a", start.Add(time.Second)); !errors.Is(err, ErrNotFound) {
		t.Errorf("a picture that was not taken: %v", err)
	}
	if err := strip.Add(start, make([]byte, MaxPicture+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a huge picture: %v", err)
	}
	if err := errors.Join(s.Forget("a"), s.Forget("a")); err != nil || len(times(t, s, "a")) != 0 {
		t.Errorf("forgotten, it has %v, %v", times(t, s, "a"), err)
	}
}

// TestThin fills a strip several times over. It keeps its first and its last picture, and stays
// within its size.
func TestThin(t *testing.T) {
	s := Open(t.TempDir(), Options{Bytes: 10_000})
	strip := s.Begin("long")
	last := time.Duration(0)
	for at := time.Duration(0); at < time.Hour; at += Every {
		if strip.Due(start.Add(at), false) {
			add(t, strip, at, 500)
			last = at
		}
	}
	got := times(t, s, "long")
	if len(got) < 8 || got[0] != 0 || got[len(got)-1] != last {
		t.Errorf("of an hour, the strip has %d pictures, from %v to %v of %v", len(got), got[0], got[len(got)-1], last)
	}
	for i := 1; i < len(got); i++ {
		if gap := got[i] - got[i-1]; gap > 10*time.Minute || gap <= 0 {
			t.Errorf("between %v and %v there is no picture", got[i-1], got[i])
		}
	}
	if info, err := os.Stat(filepath.Join(s.dir, "long")); err != nil || info.Size() > 10_000 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}

// TestHidden hides times between pictures. They stay between those that are kept.
func TestHidden(t *testing.T) {
	s := Open(t.TempDir(), Options{Bytes: 10_000})
	strip := s.Begin("a")
	hide := func(after time.Duration) {
		t.Helper()
		if err := strip.Hide(start.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	add(t, strip, 0, 300)
	hide(2 * time.Second)
	hide(3 * time.Second)
	if strip.Due(start.Add(time.Second), false) || !strip.Due(start.Add(4*time.Second), false) {
		t.Error("a hidden time is taken for a picture")
	}
	add(t, strip, 4*time.Second, 300)
	if _, hidden, err := s.Times("a"); err != nil || len(hidden) != 1 || hidden[0] != start.Add(2*time.Second) || len(times(t, s, "a")) != 2 {
		t.Errorf("hidden: %v, %v", hidden, err)
	}
	if _, err := s.Picture("a", start.Add(2*time.Second)); !errors.Is(err, ErrNotFound) {
		t.Errorf("the picture of a hidden time: %v", err)
	}
	for at := 6 * time.Second; at < time.Hour; at += 4 * time.Second {
		hide(at)
		add(t, strip, at+2*time.Second, 300)
		if info, err := os.Stat(filepath.Join(s.dir, "a")); err != nil || info.Size() > 10_000 {
			t.Fatalf("after %v, the file has %d bytes, %v", at, info.Size(), err)
		}
	}
	shown, hidden, err := s.Times("a")
	if err != nil || len(shown) < 8 || len(hidden) < 7 || len(hidden) > len(shown) || hidden[0] != start.Add(2*time.Second) {
		t.Errorf("of an hour, it has %d pictures and %d hidden times from %v, %v", len(shown), len(hidden), hidden[0], err)
	}
}

// TestRoom lets strips grow beyond the room of all. The ones that were changed longest ago go.
func TestRoom(t *testing.T) {
	s := Open(t.TempDir(), Options{All: 5_000}) // so that each picture checks the room
	for i, name := range []string{"a", "b", "c"} {
		add(t, s.Begin(name), 0, 2_000)
		then := start.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(filepath.Join(s.dir, name), then, then); err != nil && name != "c" {
			t.Fatal(err)
		}
	}
	if len(times(t, s, "a")) != 0 || len(times(t, s, "b")) != 1 || len(times(t, s, "c")) != 1 {
		t.Errorf("left are %v, %v, %v", times(t, s, "a"), times(t, s, "b"), times(t, s, "c"))
	}
	if err := s.Keep(func(session string) bool { return session == "c" }); err != nil || len(times(t, s, "b")) != 0 || len(times(t, s, "c")) != 1 {
		t.Errorf("kept are %v and %v, %v", times(t, s, "b"), times(t, s, "c"), err)
	}
}

// TestCutFile reads a strip whose last picture was not written as a whole.
func TestCutFile(t *testing.T) {
	s := Open(t.TempDir(), Options{})
	strip := s.Begin("a")
	add(t, strip, 0, 300)
	add(t, strip, 2*time.Second, 300)
	path := filepath.Join(s.dir, "a")
	for size := range int64(2*(300+headBytes) - 1) {
		if err := os.Truncate(path, 2*(300+headBytes)-1-size); err != nil {
			t.Fatal(err)
		}
		if got := times(t, s, "a"); len(got) > 1 {
			t.Fatalf("without %d bytes it has %v", size+1, got)
		}
	}
}
