package playwright

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// DefaultFiles bounds the files of one process, in bytes: recordings, traces,
	// downloads.
	DefaultFiles = 512 << 20

	// countEvery is how often they are counted.
	countEvery = 2 * time.Second

	// folderPrefix begins the names of the folders, and abandoned is the age from
	// which a folder that nobody locks belongs to a server that was killed.
	folderPrefix = "takeover-playwright-"
	abandoned    = time.Minute

	filesName = "files"
)

// folder is the folder of one process. Its server locks it as long as it lives.
type folder struct {
	path string
	root *os.Root
	lock *os.File
	uid  int
}

// newFolder makes a folder that belongs to a user.
func newFolder(uid int) (*folder, error) {
	path, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, uid: uid}
	if err := f.open(); err != nil {
		return nil, errors.Join(err, f.remove())
	}
	return f, nil
}

func (f *folder) open() (err error) {
	if f.root, err = os.OpenRoot(f.path); err != nil {
		return err
	}
	if f.lock, err = os.Open(f.path); err != nil {
		return err
	}
	if err := unix.Flock(int(f.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("lock %s: %w", f.path, err)
	}
	if err := f.root.Mkdir(filesName, 0o700); err != nil {
		return err
	}
	return errors.Join(f.root.Lchown(filesName, f.uid, f.uid), os.Lchown(f.path, f.uid, f.uid))
}

// files returns the folder of what a client records or downloads.
func (f *folder) files() string { return filepath.Join(f.path, filesName) }

// add writes a file to it. The process owns the folder, so no name is trusted.
func (f *folder) add(name string, from io.Reader) error {
	file, err := f.root.OpenFile(filepath.Join(filesName, filepath.Base(name)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Chown(f.uid, f.uid), file.Close())
}

// environment returns the variables of a process: no others of the server's.
func (f *folder) environment() []string {
	return []string{"HOME=" + f.path, "TMPDIR=" + f.path, "XDG_CACHE_HOME=" + f.path, "XDG_CONFIG_HOME=" + f.path, "LANG=C.UTF-8"}
}

// size returns the bytes of all files.
func (f *folder) size() (total int64) {
	_ = fs.WalkDir(f.root.FS(), ".", func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it was just removed
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}

// remove removes the folder.
func (f *folder) remove() error {
	var errs []error
	if f.root != nil {
		errs = append(errs, f.root.Close())
	}
	errs = append(errs, os.RemoveAll(f.path))
	if f.lock != nil {
		errs = append(errs, f.lock.Close())
	}
	return errors.Join(errs...)
}

// removeAbandoned removes the folders of servers that were killed.
func removeAbandoned() error {
	paths, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < abandoned {
			continue
		}
		lock, err := os.Open(path)
		if err != nil {
			continue // it belongs to somebody else
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			errs = append(errs, os.RemoveAll(path))
		}
		_ = lock.Close()
	}
	return errors.Join(errs...)
}
