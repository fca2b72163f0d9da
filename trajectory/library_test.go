package trajectory

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"takeover/capture"
)

// TestLibrary lists bundles, lets files out, and keeps in what it must.
func TestLibrary(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trajectories")
	l := Open(dir, KeepOptions{})
	if list, err := l.List(); err != nil || len(list) != 0 {
		t.Errorf("without a folder: %v, %v", list, err)
	}
	clean := begin(t, Options{Dir: dir})
	clean.AddCall(Event{Tool: "click"}, []byte("a PNG"))
	end(t, clean)

	r := capture.NewRedactor(capture.RedactorOptions{})
	leaky := begin(t, Options{Dir: dir, Redactor: r})
	leaky.Add(Event{Kind: Hint, Args: secret}) // before anybody knows that it is one
	r.AddSecret(secret)
	end(t, leaky)
	killed := begin(t, Options{Dir: dir})
	open := begin(t, Options{Dir: dir})

	list, err := l.List()
	if err != nil || len(list) != 4 {
		t.Fatalf("%v, %v", list, err)
	}
	info, err := l.Get(clean.ID())
	if err != nil || info.Recording || info.SessionID != "s1" || info.Report.ToolCalls != 1 || len(info.Files) != 4 || info.Bytes == 0 {
		t.Errorf("%+v, %v", info, err)
	}
	f, err := l.File(clean.ID(), "screenshots/000001-before.png", false)
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(f); err != nil || string(content) != "a PNG" {
		t.Errorf("%q, %v", content, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", ".", "..", "../" + leaky.ID() + "/events.jsonl", "/etc/passwd", "screenshots", "none"} {
		if _, err := l.File(clean.ID(), name, true); !errors.Is(err, ErrFile) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, id := range []string{"", "..", "traj-20260101-000000-000000", clean.ID() + "/.."} {
		if _, err := l.Get(id); !errors.Is(err, ErrID) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := l.Archive(leaky.ID(), true); err == nil || !slices.Equal(err.(*LeakError).Files, []string{"events.jsonl"}) { //nolint:errorlint,forcetypeassert // exactly this one
		t.Errorf("a bundle with a secret: %v", err)
	}
	if _, err := l.File(open.ID(), "events.jsonl", true); !errors.Is(err, ErrRecording) {
		t.Errorf("an open bundle: %v", err)
	}
	if err := l.Delete(open.ID()); !errors.Is(err, ErrRecording) {
		t.Errorf("delete an open bundle: %v", err)
	}
	end(t, open)
	end(t, killed) // as if its server had died:
	for _, name := range []string{reportFile, manifestFile} {
		if err := os.Remove(filepath.Join(dir, killed.ID(), name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Mend(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Archive(killed.ID(), false); !errors.Is(err, ErrNotScanned) {
		t.Errorf("a bundle that was not scanned: %v", err)
	}
	for _, id := range []string{killed.ID(), clean.ID()} {
		a, err := l.Archive(id, true)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := a.Write(&out); err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil || !slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == id+"/manifest.json" }) {
			t.Errorf("%v", err)
		}
	}
	if err := l.Delete(leaky.ID()); err != nil {
		t.Error(err)
	}
	if _, err := l.Get(leaky.ID()); !errors.Is(err, ErrID) {
		t.Errorf("deleted: %v", err)
	}
}

// TestRetain keeps bundles by number, bytes and age.
func TestRetain(t *testing.T) {
	for name, c := range map[string]struct {
		keep  KeepOptions
		after time.Duration
		left  int
	}{
		"all":    {KeepOptions{}, 0, 3},
		"number": {KeepOptions{Number: 2}, 0, 2},
		"age":    {KeepOptions{Age: time.Hour}, 2 * time.Hour, 0},
		"young":  {KeepOptions{Age: time.Hour}, time.Minute, 3},
		"bytes":  {KeepOptions{Bytes: 15_000}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "trajectories")
			for range 3 {
				b := begin(t, Options{Dir: dir})
				b.AddCall(Event{}, make([]byte, 10_000))
				end(t, b)
			}
			l := Open(dir, c.keep)
			before, err := l.List()
			if err != nil {
				t.Fatal(err)
			}
			removed, err := l.Retain(time.Now().Add(c.after))
			if err != nil || len(removed) != 3-c.left {
				t.Errorf("removed %q, %v", removed, err)
			}
			left, err := l.List()
			if err != nil || len(left) != c.left {
				t.Fatalf("left: %v, %v", left, err)
			}
			for i := range left {
				if left[i].ID != before[i].ID {
					t.Errorf("%s is left, want the newer %s", left[i].ID, before[i].ID)
				}
			}
		})
	}
}
