package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func open(t *testing.T, limits Limits) *Folder {
	t.Helper()
	f, err := Open(t.TempDir(), limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func write(t *testing.T, f *Folder, name, text string) {
	t.Helper()
	if _, err := f.Write(name, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, f *Folder) string {
	t.Helper()
	list, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, i := range list {
		all = append(all, i.Name)
	}
	return strings.Join(all, ",")
}

func TestFolder(t *testing.T) {
	f := open(t, Limits{})
	write(t, f, "b.txt", "first")
	write(t, f, "a.txt", "A")
	write(t, f, "b.txt", "second")
	if got := names(t, f); got != "a.txt,b.txt" {
		t.Errorf("files %s", got)
	}
	if data, err := f.Read("b.txt", 100); err != nil || string(data) != "second" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := f.Read("b.txt", 5); err == nil {
		t.Error("read more than the limit")
	}
	if _, err := f.Copy("b.txt", "c.txt"); err != nil {
		t.Error(err)
	}
	if err := f.Remove("a.txt"); err != nil {
		t.Error(err)
	}
	if err := f.Remove("a.txt"); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if got := names(t, f); got != "b.txt,c.txt" {
		t.Errorf("files %s", got)
	}
	again, err := Open(f.dir, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.bytes != f.bytes || again.count != f.count || f.count != 2 {
		t.Errorf("counted %d files, %d bytes; found %d, %d", f.count, f.bytes, again.count, again.bytes)
	}
}

func TestNamesDoNotLeaveTheFolder(t *testing.T) {
	f := open(t, Limits{})
	outside := filepath.Join(filepath.Dir(f.dir), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": outside, "up": "../secret", "self": f.dir} {
		if err := os.Symlink(target, filepath.Join(f.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(f.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "../secret", "/etc/passwd", "a/../../secret", outside, "link", "up", "self", "pipe", "self/x", "a\x00b", ".hidden", `..\secret`} {
		if _, err := f.Stat(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("stat %q: %v", name, err)
		}
		if _, err := f.Read(name, 100); !errors.Is(err, ErrNotFound) {
			t.Errorf("read %q: %v", name, err)
		}
		if err := f.Remove(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("remove %q: %v", name, err)
		}
		if _, err := f.Path(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("path of %q: %v", name, err)
		}
	}
	write(t, f, "link", "mine") // replaces the link
	if data, err := os.ReadFile(outside); err != nil || string(data) != "secret" {
		t.Errorf("the file outside is %q, %v", data, err)
	}
	if got := names(t, f); got != "link" {
		t.Errorf("files %s", got)
	}
}

func TestLimits(t *testing.T) {
	f := open(t, Limits{Count: 3, Bytes: 10})
	write(t, f, "a", "12345")
	if _, err := f.Write("b", strings.NewReader("123456")); !errors.Is(err, ErrFull) {
		t.Errorf("one byte too many: %v", err)
	}
	write(t, f, "b", "12345")
	if _, err := f.Write("c", strings.NewReader("1")); !errors.Is(err, ErrFull) || f.Room() != 0 {
		t.Errorf("full, and took more: %v, room %d", err, f.Room())
	}
	if err := f.Remove("a"); err != nil {
		t.Fatal(err)
	}
	write(t, f, "c", "")
	write(t, f, "d", "")
	if _, err := f.Write("e", strings.NewReader("")); !errors.Is(err, ErrFull) {
		t.Errorf("one file too many: %v", err)
	}
	write(t, f, "d", "12345")
	if got := names(t, f); got != "b,c,d" {
		t.Errorf("files %s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(f.dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestManyAtOnce lets many writers share the available space.
func TestManyAtOnce(t *testing.T) {
	f := open(t, Limits{Bytes: 1000})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_, _ = f.Write(string(rune('a'+i)), strings.NewReader(strings.Repeat("x", 100))) // some do not fit
		})
	}
	wg.Wait()
	list, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 || len(list) > 10 || f.bytes != int64(len(list)*100) || f.count != len(list) {
		t.Errorf("%d files, counted %d with %d bytes", len(list), f.count, f.bytes)
	}
}

func TestAdopt(t *testing.T) {
	f := open(t, Limits{Bytes: 10})
	inbox := filepath.Join(filepath.Dir(f.dir), "inbox")
	adopt := func(suggested, text string) (File, error) {
		if err := os.WriteFile(inbox, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return f.Adopt(inbox, suggested)
	}
	for _, c := range []struct{ suggested, want string }{
		{"report.pdf", "report.pdf"}, {"report.pdf", "report (1).pdf"}, {"../../report.pdf", "_.._report.pdf"}, {"..", "download"}, {"", "download (1)"},
	} {
		info, err := adopt(c.suggested, "1")
		if err != nil || info.Name != c.want {
			t.Errorf("%q became %q, %v; want %q", c.suggested, info.Name, err, c.want)
		}
	}
	if _, err := adopt("x", "123456"); !errors.Is(err, ErrFull) {
		t.Errorf("kept more than there is room for: %v", err)
	}
	if _, err := os.Stat(inbox); !os.IsNotExist(err) {
		t.Errorf("what was not kept is still there: %v", err)
	}
}

func TestAdd(t *testing.T) {
	f := open(t, Limits{Count: 3, Bytes: 20})
	for _, c := range []struct{ text, want string }{{"first", "cv.pdf"}, {"first", "cv.pdf"}, {"other", "cv (1).pdf"}, {"longer", "cv (2).pdf"}} {
		if info, err := f.Add("cv.pdf", strings.NewReader(c.text)); err != nil || info.Name != c.want || info.Size != int64(len(c.text)) {
			t.Errorf("%q became %+v, %v; want %s", c.text, info, err, c.want)
		}
	}
	if _, err := f.Add("one too many", strings.NewReader("x")); !errors.Is(err, ErrFull) {
		t.Errorf("one file too many: %v", err)
	}
	if data, err := f.Read("cv.pdf", 100); err != nil || string(data) != "first" {
		t.Errorf("the first is %q, %v", data, err)
	}
	if f.bytes != 16 || f.count != 3 {
		t.Errorf("counted %d files, %d bytes", f.count, f.bytes)
	}
	if left, _ := filepath.Glob(filepath.Join(f.dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestRefusalsAreCounted checks that each way to add a file counts one refusal.
func TestRefusalsAreCounted(t *testing.T) {
	refused := 0
	f := open(t, Limits{Bytes: 3, Full: func() { refused++ }})
	for i, add := range []func(io.Reader) (File, error){
		func(r io.Reader) (File, error) { return f.Write("a", r) },
		func(r io.Reader) (File, error) { return f.Add("a", r) },
	} {
		if _, err := add(strings.NewReader("1234")); !errors.Is(err, ErrFull) || refused != i+1 {
			t.Errorf("way %d: %v, %d counted", i, err, refused)
		}
	}
}

func TestSafe(t *testing.T) {
	long := strings.Repeat("ä", 150) + ".tar.gz"
	for _, c := range []struct{ text, want string }{
		{"report.pdf", "report.pdf"}, {"a b (1).txt", "a b (1).txt"}, {"Übersicht.png", "Übersicht.png"},
		{"..", ""}, {"...x", "x"}, {"a/b", "a_b"}, {`C:\x`, "C__x"}, {"a\nb\x00", "ab"}, {"evil\u202egpj.exe", "evilgpj.exe"}, {"x. ", "x"},
		{"\xff", "_"}, {long, strings.Repeat("ä", 98) + ".gz"},
	} {
		if got := Safe(c.text); got != c.want {
			t.Errorf("Safe(%q) = %q, want %q", c.text, got, c.want)
		}
	}
	for path, want := range map[string]string{"a/b.png": "b.png", "./x": "x", "/tmp/": "", "..": "", `dir\y`: "y", "z": "z"} {
		if got := Name(path); got != want {
			t.Errorf("Name(%q) = %q, want %q", path, got, want)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, seed := range []string{"a", "..", "x/y", strings.Repeat("é.", 200), "\xc3\x28"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name := Safe(text)
		if Safe(name) != name || len(name) > maxName || strings.ContainsAny(name, forbidden+"\x00\n") || strings.HasPrefix(name, ".") {
			t.Errorf("Safe(%q) = %q", text, name)
		}
	})
}
