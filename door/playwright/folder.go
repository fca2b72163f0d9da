package playwright

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// DefaultFiles bounds the files of one process, in bytes: recordings, traces,
	// downloads.
	DefaultFiles = 512 << 20

	// maxEntries bounds their number, with that of folders, and maxDepth how deep
	// folders are nested.
	maxEntries = 20_000
	maxDepth   = 32

	fileBytes = 4 << 10 // which a file or a folder takes on a disk besides its contents
	listPart  = 1000    // entries of a folder that are read at a time

	// countEvery is how often they are counted.
	countEvery = 2 * time.Second

	// folderPrefix begins the names of the folders, and abandoned is the age from
	// which a folder that nobody locks belongs to a server that was killed.
	folderPrefix = "takeover-playwright-"
	abandoned    = time.Minute

	filesName = "files"
	movedName = "moved-"
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

// Why a folder is too large.
var (
	errBytes   = errors.New("too many bytes")
	errEntries = errors.New("too many files and folders")
	errDepth   = errors.New("folders are nested too deeply")
)

// check returns an error if the folder holds more than a number of bytes, maxEntries
// files and folders, or folders below maxDepth others. Each file and folder counts as
// fileBytes more than its size. It takes as long as that many entries need, and ends
// with ctx.
func (f *folder) check(ctx context.Context, bytes int64) error {
	left := budget{bytes: bytes, entries: maxEntries}
	return left.take(ctx, f.root, 0)
}

// budget is what a folder may still hold.
type budget struct {
	bytes   int64
	entries int
}

// take subtracts what is in a folder, which has a depth below the one that is checked.
func (b *budget) take(ctx context.Context, in *os.Root, depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	return list(in, func(entry fs.DirEntry) error {
		b.entries--
		b.bytes -= fileBytes
		if entry.Type().IsRegular() {
			if info, err := in.Lstat(entry.Name()); err == nil { // otherwise it was just removed
				b.bytes -= info.Size()
			}
		}
		switch {
		case b.entries < 0:
			return errEntries
		case b.bytes < 0:
			return errBytes
		case ctx.Err() != nil:
			return ctx.Err()
		case !entry.IsDir():
			return nil
		}
		sub, err := in.OpenRoot(entry.Name())
		if errors.Is(err, fs.ErrPermission) {
			return errDepth // what is in it cannot be counted
		} else if err != nil {
			return nil // it was just removed
		}
		defer sub.Close()
		return b.take(ctx, sub, depth+1)
	})
}

// list calls each for the entries of a folder, some at a time, until it returns an
// error.
func list(in *os.Root, each func(fs.DirEntry) error) error {
	open, err := in.Open(".")
	if err != nil {
		return nil // it was just removed
	}
	defer open.Close()
	for {
		entries, err := open.ReadDir(listPart)
		for _, entry := range entries {
			if err := each(entry); err != nil {
				return err
			}
		}
		if err != nil || len(entries) == 0 {
			return nil // the end, or it was just removed
		}
	}
}

// remove removes the folder, however deep it is.
func (f *folder) remove() error {
	var errs []error
	if f.root != nil {
		errs = append(errs, f.flatten(), f.root.Close())
	}
	errs = append(errs, os.RemoveAll(f.path))
	if f.lock != nil {
		errs = append(errs, f.lock.Close())
	}
	return errors.Join(errs...)
}

// flatten moves folders that are nested deeply to the top, so that removing them needs
// few descriptors.
func (f *folder) flatten() error {
	moved, prefix := 0, movedName+rand.Text()+"-" // which the process cannot guess
	var shorten func(in *os.Root, path string, depth int) error
	shorten = func(in *os.Root, path string, depth int) error {
		return list(in, func(entry fs.DirEntry) error {
			if !entry.IsDir() {
				return nil
			}
			at := filepath.Join(path, entry.Name())
			if depth == maxDepth {
				moved++
				return f.root.Rename(at, prefix+strconv.Itoa(moved))
			}
			sub, err := in.OpenRoot(entry.Name())
			if errors.Is(err, fs.ErrPermission) { // as an ordinary user
				_ = in.Chmod(entry.Name(), 0o700)
				sub, err = in.OpenRoot(entry.Name())
			}
			if err != nil {
				return err
			}
			defer sub.Close()
			return shorten(sub, at, depth+1)
		})
	}
	err := shorten(f.root, ".", 0)
	for next := 1; err == nil && next <= moved; next++ {
		var sub *os.Root
		name := prefix + strconv.Itoa(next)
		if sub, err = f.root.OpenRoot(name); err != nil {
			break
		}
		err = errors.Join(shorten(sub, name, 1), sub.Close(), f.root.RemoveAll(name))
	}
	return err
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
			root, err := os.OpenRoot(path)
			errs = append(errs, err, (&folder{path: path, root: root}).remove())
		}
		_ = lock.Close()
	}
	return errors.Join(errs...)
}
