package chromium

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindExecutable(t *testing.T) {
	path, err := FindExecutable()
	if err != nil {
		t.Fatal(err)
	}
	if isScript(path) {
		t.Logf("%s is a wrapper whose program is not known", path)
	}
	t.Setenv("PATH", t.TempDir())
	saved := executablePlaces
	executablePlaces = nil
	defer func() { executablePlaces = saved }()
	if _, err := FindExecutable(); !errors.Is(err, ErrNoExecutable) || !strings.Contains(err.Error(), "chromium") {
		t.Error(err)
	}
}

func TestBehindWrapper(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o700)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := write("lib/chromium", "\x7fELF")
	saved := executablePlaces
	executablePlaces = []string{filepath.Join(dir, "lib", "gone"), program}
	defer func() { executablePlaces = saved }()

	link := filepath.Join(dir, "linked")
	if err := os.Symlink(write("opt/google-chrome", "#!/bin/bash\nexec here"), link); err != nil {
		t.Fatal(err)
	}
	chrome := write("opt/chrome", "\x7fELF")
	unknown := write("bin/unknown", "#!/bin/sh\nexec /snap/bin/something")
	for _, tt := range []struct{ name, path, want string }{
		{"program", program, program},
		{"script that names the folder", write("bin/chromium", "#!/bin/sh\nexec "+dir+"/lib/chromium"), program},
		{"link to a script beside its program", link, chrome},
		{"unknown script", unknown, unknown},
	} {
		if got := behindWrapper(tt.path); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestReadStat checks that a process's name may contain anything, even text that
// looks like fields of stat.
func TestReadStat(t *testing.T) {
	self, err := readStat(os.Getpid())
	if err != nil || self.parent != os.Getppid() || self.startTime == 0 || self.group == 0 {
		t.Fatalf("%+v %v", self, err)
	}
	for _, line := range []string{"", "1 (x", "1 x) S 1", "1 (x) S", "1 (x) S 1 x 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5"} {
		if got, err := parseStat([]byte(line)); !errors.Is(err, errStat) {
			t.Errorf("%q is %+v", line, got)
		}
	}
	got, err := parseStat([]byte("7 (a) R 1 (b)) Z 3 4 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0"))
	if want := (procStat{name: "a) R 1 (b)", state: 'Z', parent: 3, group: 4, startTime: 99}); err != nil || got != want {
		t.Errorf("%+v %v", got, err)
	}
}
