package trajectory

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"takeover/contract"
	"takeover/limits"
	"takeover/redact"
)

const secret = "super-secret-fixture-password"

// library returns an empty library whose folder does not exist yet.
func library(t *testing.T) *Library {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), "trajectories"), KeepOptions{})
}

func begin(t *testing.T, l *Library, o Options) *Bundle {
	t.Helper()
	if o.Redactor == nil {
		o.Redactor = redact.New(redact.Options{})
	}
	o.Session = "s1"
	b, err := l.Begin(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func end(t *testing.T, b *Bundle) BundleReport {
	t.Helper()
	r, err := b.End()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func folder(b *Bundle) string { return b.root.Name() }

func read(t *testing.T, name string, v any) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func events(t *testing.T, dir string) (list []Event) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, eventsFile))
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		list = append(list, e)
	}
	for i, e := range list {
		if i > 0 && e.Seq <= list[i-1].Seq {
			t.Fatalf("event %d comes after %d", e.Seq, list[i-1].Seq)
		}
	}
	return list
}

// TestBundle writes one thing of each kind, and reads the whole bundle back.
func TestBundle(t *testing.T) {
	l := library(t)
	r := redact.New(redact.Options{})
	t.Cleanup(r.AddSecret(secret))
	b := begin(t, l, Options{Redactor: r})
	if !ValidID(b.ID()) {
		t.Errorf("id %s", b.ID())
	}
	call := b.AddCall(Event{Actor: "script", Tool: "fill", Args: map[string]any{"selector": "#password", "value": secret, "token": "abc"}}, []byte("a PNG"))
	b.AddEnd(call, Event{
		Tool: "fill", OK: new(false), DurationMS: new(1.5), Result: strings.Repeat("x", maxSummary),
		State: &State{URL: "https://example.com/?token=abc&q=" + secret, Title: "of " + secret}, Progress: &Progress{Status: "stuck"},
	}, []byte("another"))
	b.AddContract(Event{}, contract.Pass, map[string]string{"text": "Example Domain"})
	b.AddContract(Event{}, contract.Fail, map[string]string{"text": "not " + secret})
	b.AddCheckpoint(Event{}, map[string]any{"taskDescription": "sign in", "completedSteps": []string{"open"}})
	got := end(t, b)
	dir := folder(b)

	var stored BundleReport
	if read(t, filepath.Join(dir, reportFile), &stored); stored.ID != b.ID() || stored.EndedAt.Before(stored.StartedAt) {
		t.Errorf("report %+v", stored)
	}
	if got.Events != 5 || got.ToolCalls != 1 || got.Failures != 1 || got.Contracts.Pass != 1 || got.Contracts.Fail != 1 || got.Progress.Stuck != 0 ||
		got.Artifacts.Screenshots != 2 || got.Artifacts.Checkpoints != 1 || got.Artifacts.Contracts != 2 || got.Lost != 0 || got.LeakScan.State != Clean {
		t.Errorf("report %+v", got)
	}
	list := events(t, dir)
	if len(list) != 5 || list[0].Refs.Before != "screenshots/000001-before.png" || list[1].Refs.After != "screenshots/000001-after.png" || list[3].Refs.Contract != "contracts/000004.json" || list[4].Refs.Checkpoint != "checkpoints/000005.json" {
		t.Errorf("events %+v", list)
	}
	if cut, ok := list[1].Result.(map[string]any); !ok || cut["truncated"] != true || cut["originalBytes"] != float64(maxSummary+len(`{"value":""}`)) {
		t.Errorf("a long result became %v", list[1].Result)
	}

	var m Manifest
	read(t, filepath.Join(dir, manifestFile), &m)
	listed := map[string]ManifestFile{}
	for _, f := range m.Files {
		listed[f.Path] = f
	}
	files := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, hidden := range []string{secret, `"abc"`, "token=abc", dir, l.dir} {
			if strings.Contains(string(content), hidden) {
				t.Errorf("%s contains %s", name, hidden)
			}
		}
		path, _ := filepath.Rel(dir, name)
		if path == manifestFile {
			return nil
		}
		files++
		sum := sha256.Sum256(content)
		if f := listed[path]; f.SHA256 != hex.EncodeToString(sum[:]) || f.Bytes != len(content) {
			t.Errorf("%s is listed as %+v", path, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files != len(m.Files) || !slices.IsSortedFunc(m.Files, func(a, b ManifestFile) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("%d files, listed %+v", files, m.Files)
	}
	if mended, err := l.Mend(); len(mended) > 0 || err != nil {
		t.Errorf("mended %v: %v", mended, err)
	}
}

// TestManyWriters records from several goroutines at once.
func TestManyWriters(t *testing.T) {
	b := begin(t, library(t), Options{})
	var work sync.WaitGroup
	const writers, each = 8, 200
	for range writers {
		work.Go(func() {
			for range each {
				b.AddContract(Event{}, contract.Inconclusive, "nothing to see")
			}
		})
	}
	work.Wait()
	r := end(t, b)
	if r.Events != writers*each || r.Contracts.Inconclusive != writers*each || r.Lost != 0 {
		t.Errorf("report %+v", r)
	}
	for _, e := range events(t, folder(b)) {
		if _, err := os.Stat(filepath.Join(folder(b), e.Refs.Contract)); err != nil {
			t.Fatal(err)
		}
	}
	if again := end(t, b); again.Events != r.Events {
		t.Errorf("ended again: %+v", again)
	}
	if b.Add(Event{Kind: Hint}); len(events(t, folder(b))) != writers*each {
		t.Error("an event came after the end")
	}
}

// TestBounds fills a bundle.
func TestBounds(t *testing.T) {
	hits := limits.New()
	b := begin(t, library(t), Options{Bytes: 2000, Hits: hits})
	b.AddCall(Event{}, make([]byte, 3000))
	for range 50 {
		b.Add(Event{Kind: Hint})
	}
	r := end(t, b)
	if r.Events == 0 || r.Lost != 52-r.Events || !slices.Equal(r.Recovery, []string{"the bundle is full"}) || hits.Count(limits.Trajectory) != uint64(r.Lost) {
		t.Errorf("report %+v", r)
	}
	if first := events(t, folder(b))[0]; first.Refs != nil || first.Missing != MissingLimit {
		t.Errorf("of a picture that is too large: %+v", first)
	}
}

// TestDiskFull records while nothing can be written to the disk: nobody is told
// of an error, and the report says what is missing.
func TestDiskFull(t *testing.T) {
	b := begin(t, library(t), Options{})
	log := b.log
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.log = full // nothing is queued yet
	b.Add(Event{Kind: Hint})
	r := end(t, b)
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	if r.Events != 0 || r.Lost != 1 || !slices.Equal(r.Recovery, []string{"a file could not be written: no space left on device"}) {
		t.Errorf("report %+v", r)
	}
	if _, err := os.Stat(filepath.Join(folder(b), manifestFile)); err != nil {
		t.Error(err)
	}
	if _, err := Open("/dev/null/none", KeepOptions{}).Begin(Options{Redactor: b.o.Redactor}); err == nil {
		t.Error("began in no folder")
	}
}

// TestMend finishes a bundle that a dead server left with half a line.
func TestMend(t *testing.T) {
	l := library(t)
	b := begin(t, l, Options{})
	b.AddCall(Event{}, []byte("a PNG"))
	b.AddContract(Event{}, contract.Fail, "evidence")
	end(t, b)
	dir := folder(b)
	whole, err := os.ReadFile(filepath.Join(dir, eventsFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{reportFile, manifestFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{eventsFile: string(whole) + `{"version":1,"seq":3,"eve`, "screenshots/000009-after.png" + part: "half a"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(l.dir, "something else"), 0o700); err != nil {
		t.Fatal(err)
	}
	mended, err := l.Mend()
	if err != nil || !slices.Equal(mended, []string{b.ID()}) {
		t.Fatalf("mended %v: %v", mended, err)
	}
	var r BundleReport
	read(t, filepath.Join(dir, reportFile), &r)
	if r.Events != 2 || r.ToolCalls != 1 || r.Contracts.Fail != 1 || r.Artifacts.Screenshots != 1 || r.LeakScan.State != NotScanned || len(r.Recovery) != 1 || r.EndedAt.IsZero() {
		t.Errorf("report %+v", r)
	}
	if now, err := os.ReadFile(filepath.Join(dir, eventsFile)); err != nil || !bytes.Equal(now, whole) {
		t.Errorf("events %s: %v", now, err)
	}
	// A line that is broken costs only itself.
	if err := errors.Join(os.Remove(filepath.Join(dir, manifestFile)), os.WriteFile(filepath.Join(dir, eventsFile), append([]byte("{broken\n"), whole...), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Mend(); err != nil {
		t.Fatal(err)
	}
	r = BundleReport{}
	if read(t, filepath.Join(dir, reportFile), &r); r.Events != 2 || r.Lost != 1 {
		t.Errorf("report of a bundle with a broken line %+v", r)
	}
	if again, err := l.Mend(); len(again) > 0 || err != nil {
		t.Errorf("mended again %v: %v", again, err)
	}
	if none, err := library(t).Mend(); len(none) > 0 || err != nil {
		t.Errorf("mended %v in no folder: %v", none, err)
	}
}

// TestLeakScan registers a secret after it was written.
func TestLeakScan(t *testing.T) {
	r := redact.New(redact.Options{})
	b := begin(t, library(t), Options{Redactor: r})
	b.Add(Event{Kind: Hint, Result: map[string]string{"text": secret}})
	t.Cleanup(r.AddSecret(secret))
	if s := end(t, b).LeakScan; s.State != Found || !slices.Equal(s.Files, []string{eventsFile}) {
		t.Errorf("leak scan %+v", s)
	}
	// A short secret stands in many texts by chance.
	b = begin(t, library(t), Options{Redactor: r})
	b.Add(Event{Kind: Hint, Result: map[string]string{"text": "item 123 of 4567"}})
	t.Cleanup(r.AddSecret("123"))
	if s := end(t, b).LeakScan; s.State != Clean {
		t.Errorf("leak scan %+v", s)
	}
}

// TestSessionEventsAreSearched keeps events with a secret in a bundle, and more than a bundle takes.
func TestSessionEventsAreSearched(t *testing.T) {
	l := Open(filepath.Join(t.TempDir(), "trajectories"), KeepOptions{})
	r := redact.New(redact.Options{})
	t.Cleanup(r.AddSecret("123456"))
	b := begin(t, l, Options{Redactor: r})
	// The time contains it by chance.
	b.AddSessionEvents([]byte(`{"seq":1,"ts":1123456000000,"type":"console_log","data":{"text":"a number"}}`+"\n"), true)
	if report := end(t, b); report.LeakScan.State != Clean || report.Lost != 1 || len(report.Recovery) != 1 {
		t.Errorf("the report is %+v", report)
	}
	leaky := begin(t, l, Options{Redactor: r})
	leaky.AddSessionEvents([]byte(`{"seq":1,"type":"console_log","data":{"text":"it is 123456"}}`+"\n"), false)
	if report := end(t, leaky); report.LeakScan.State != Found || fmt.Sprint(report.LeakScan.Files) != "[session.jsonl]" {
		t.Errorf("the report of one with a secret is %+v", report.LeakScan)
	}
	if _, err := l.File(leaky.ID(), SessionEventsFile, true); err == nil {
		t.Error("a secret leaves the server")
	}
}
