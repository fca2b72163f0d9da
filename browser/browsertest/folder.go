package browsertest

import (
	"os"
	"syscall"
	"testing"

	"takeover/files"
)

// Files returns a folder of files for one test that the shared Chromium may read.
func Files(t testing.TB) *files.Folder {
	t.Helper()
	parent := Start(t).FilesDir()
	dir, err := os.MkdirTemp(parent, "test-")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(parent)
	if err != nil {
		t.Fatal(err)
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid) //nolint:forcetypeassert // always so on Linux
	if err := os.Chown(dir, owner, owner); err != nil && os.Geteuid() == 0 {
		t.Fatal(err)
	}
	folder, err := files.Open(dir, files.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return folder
}
