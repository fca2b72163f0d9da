package chromium

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packed returns an archive with one entry for each header.
func packed(t *testing.T, heads ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, head := range heads {
		if err := archive.WriteHeader(&head); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(make([]byte, head.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestHostileUserData unpacks archives that try to write elsewhere.
func TestHostileUserData(t *testing.T) {
	file := func(name string) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 3, Mode: 0o777}
	}
	for name, archive := range map[string][]byte{
		"no archive":        []byte("text"),
		"half of one":       packed(t, file("a"))[:20],
		"a path upwards":    packed(t, file("../out")),
		"an absolute path":  packed(t, file("/out")),
		"a path that winds": packed(t, file("a/../../out")),
		"a link":            packed(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "/etc"}),
		"a hard link":       packed(t, tar.Header{Typeflag: tar.TypeLink, Name: "link", Linkname: "/etc/passwd"}),
		"a device":          packed(t, tar.Header{Typeflag: tar.TypeChar, Name: "null"}),
		"a file twice":      packed(t, file("a"), file("a")),
		"a file as folder":  packed(t, file("a"), file("a/b")),
	} {
		dir := filepath.Join(t.TempDir(), "profile")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := unpackUserData(archive, dir); !errors.Is(err, ErrUserData) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
			t.Errorf("%s: something was written beside the folder: %v, %v", name, left, err)
		}
	}
	dir := t.TempDir()
	if err := unpackUserData(packed(t, file("Default/Cookies"), tar.Header{Typeflag: tar.TypeDir, Name: "Empty/"}), dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "Default", "Cookies")); err != nil || info.Size() != 3 || info.Mode().Perm() != 0o600 {
		t.Errorf("unpacked %v: %v", info, err)
	}
}

// TestNoTabsOnDisk puts files in the place of the folders that an older profile has,
// and writes nothing through a link.
func TestNoTabsOnDisk(t *testing.T) {
	profile, elsewhere := t.TempDir(), t.TempDir()
	old, other := filepath.Join(profile, "Default", "Sessions", "Session_1"), filepath.Join(elsewhere, "Sessions", "mine")
	for _, file := range []string{old, other} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("what a person typed"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := keepNoTabs(profile); err != nil {
		t.Fatal(err)
	}
	for _, name := range tabFiles {
		info, err := os.Lstat(filepath.Join(profile, "Default", name))
		if err != nil || !info.Mode().IsRegular() || info.Size() != 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	linked := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(linked, "Default")); err != nil {
		t.Fatal(err)
	}
	if err := keepNoTabs(linked); err == nil {
		t.Error("a link that leads out was followed")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// TestPackUserData packs what an ended Chromium left: no caches, and no links, which
// its processes may have put there.
func TestPackUserData(t *testing.T) {
	p := &Process{folder: &folder{dir: t.TempDir()}, done: make(chan struct{})}
	if _, err := p.PackUserData(1 << 20); !errors.Is(err, ErrUserData) {
		t.Errorf("while Chromium runs: %v", err)
	}
	close(p.done)
	secret := filepath.Join(t.TempDir(), "secret")
	for name, text := range map[string]string{
		secret: "of the machine", "Default/Cookies": "jar", "Default/Cache/data": "cache", "Default/Sessions": "", "Default/Local Storage/leveldb/000003.log": "log", "SingletonLock": "lock",
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.folder.profile(), name)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(secret, filepath.Join(p.folder.profile(), "Default", "link")), os.Symlink(filepath.Dir(secret), filepath.Join(p.folder.profile(), "folder"))); err != nil {
		t.Fatal(err)
	}
	archive, err := p.PackUserData(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := unpackUserData(archive, dir); err != nil {
		t.Fatal(err)
	}
	var files []string
	err = filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files = append(files, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if want := "Default/Cookies Default/Local Storage/leveldb/000003.log"; err != nil || strings.Join(files, " ") != want {
		t.Errorf("packed %q, want %q: %v", files, want, err)
	}
	if _, err := p.PackUserData(10); !errors.Is(err, ErrUserData) {
		t.Errorf("above the limit: %v", err)
	}
	const sum = int64(len("jar" + "log"))
	if _, err := packFolder(p.folder.profile(), 1<<20, sum); err != nil {
		t.Errorf("as much as may be: %v", err)
	}
	if _, err := packFolder(p.folder.profile(), 1<<20, sum-1); !errors.Is(err, ErrUserData) {
		t.Errorf("files that are too large together: %v", err)
	}
	if err := os.Truncate(filepath.Join(p.folder.profile(), "Default/Cookies"), maxUnpacked+1); err != nil { // a hole
		t.Fatal(err)
	}
	if _, err := p.PackUserData(1 << 30); !errors.Is(err, ErrUserData) {
		t.Errorf("a file with a hole that is too large: %v", err)
	}
}
