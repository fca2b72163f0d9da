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

	"takeover/redact"
)

// TestLibrary lists bundles, lets files out, and keeps in what it must.
func TestLibrary(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trajectories")
	l := Open(dir, KeepOptions{})
	if list, err := l.List(); err != nil || len(list) != 0 {
		t.Errorf("without a folder: %v, %v", list, err)
	}
	clean := begin(t, l, Options{})
	clean.AddCall(Event{Tool: "click"}, []byte("a PNG"))
	end(t, clean)

	r := redact.New(redact.Options{})
	leaky := begin(t, l, Options{Redactor: r})
	leaky.Add(Event{Kind: Hint, Args: secret}) // before anybody knows that it is one
	r.AddSecret(secret)
	end(t, leaky)
	killed := begin(t, l, Options{})
	open := begin(t, l, Options{})

	list, err := l.List()
	if err != nil || len(list) != 4 {
		t.Fatalf("%v, %v", list, err)
	}
	if ids := l.OfSession("s1", list[3].StartedAt); len(ids) != 4 {
		t.Errorf("of the session: %v", ids)
	}
	if ids := append(l.OfSession("s2", time.Time{}), l.OfSession("s1", time.Now().Add(time.Hour))...); len(ids) != 0 {
		t.Errorf("of another session, and of a later one: %v", ids)
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
	if _, err := l.Mend(); err != nil {
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
		"large":  {KeepOptions{Bytes: 5_000}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := Open(filepath.Join(t.TempDir(), "trajectories"), c.keep)
			for range 3 {
				b := begin(t, l, Options{})
				b.AddCall(Event{}, make([]byte, 10_000))
				end(t, b)
			}
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

// TestWithoutReport ends a bundle whose report cannot be written: it is not being
// recorded any more, it may be removed, and its report is made when there is room.
func TestWithoutReport(t *testing.T) {
	l := library(t)
	b := begin(t, l, Options{})
	b.AddCall(Event{Tool: "click"}, nil)
	blocked := filepath.Join(folder(b), reportFile+part)
	if err := os.MkdirAll(filepath.Join(blocked, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := b.End(); err == nil {
		t.Fatal("the report was written")
	}
	info, err := l.Get(b.ID())
	if err != nil || info.Recording || info.Report.LeakScan.State != NotScanned || len(info.Report.Recovery) != 1 {
		t.Errorf("%+v, %v", info.Report, err)
	}
	if _, err := l.Archive(b.ID(), true); err == nil || errors.Is(err, ErrNotScanned) {
		t.Errorf("let out: %v", err)
	}
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Archive(b.ID(), false); !errors.Is(err, ErrNotScanned) {
		t.Errorf("with room: %v", err)
	}
	if info, err := l.Get(b.ID()); err != nil || info.Report.ToolCalls != 1 || len(info.Files) == 0 {
		t.Errorf("mended: %+v, %v", info.Report, err)
	}
	if err := l.Delete(b.ID()); err != nil {
		t.Error(err)
	}
}

// TestLeakStays loses the manifest of a bundle in which a secret was found: it stays in
// when it is mended.
func TestLeakStays(t *testing.T) {
	l := library(t)
	r := redact.New(redact.Options{})
	b := begin(t, l, Options{Redactor: r})
	b.Add(Event{Kind: Hint, Result: map[string]string{"text": secret}})
	r.AddSecret(secret)
	end(t, b)
	if err := os.Remove(filepath.Join(folder(b), manifestFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Archive(b.ID(), true); !errors.Is(err, ErrLeak) {
		t.Errorf("let out: %v", err)
	}
}

// TestPictureThatCannotBeWritten records a call whose picture finds no place on the disk:
// its event says so, and does not name the file.
func TestPictureThatCannotBeWritten(t *testing.T) {
	b := begin(t, library(t), Options{})
	if err := os.MkdirAll(filepath.Join(folder(b), screenshots, "000001-before.png"+part, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	call := b.AddCall(Event{Tool: "click"}, []byte("a PNG"))
	b.AddEnd(call, Event{Tool: "click"}, []byte("a PNG"))
	if r := end(t, b); r.Lost != 1 || r.Artifacts.Screenshots != 1 {
		t.Errorf("report %+v", r)
	}
	list := events(t, folder(b))
	if len(list) != 2 || list[0].Refs != nil || list[0].Missing != MissingError || list[1].Refs == nil || list[1].Missing != "" {
		t.Errorf("events %+v", list)
	}
}
