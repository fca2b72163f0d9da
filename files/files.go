// Package files keeps the files of a session in one flat folder: files that
// scripts write, that Chromium downloads, and that callers upload. Their number
// and size are bounded, and no name leads out of the folder.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"takeover/text"
)

// Defaults of [Limits].
const (
	DefaultCount = 1000
	DefaultBytes = 512 << 20
)

var (
	// ErrFull is returned for a file beyond the limits.
	ErrFull = errors.New("the session's files have reached their limit")
	// ErrName is returned for an impossible file name.
	ErrName = errors.New("not a name of a file")
	// ErrNotFound is returned for an unknown file name.
	ErrNotFound = fmt.Errorf("no such file: %w", fs.ErrNotExist)
)

// Limits bound a folder. Zero fields get their defaults.
type Limits struct {
	Count int   // number of files; default 1,000
	Bytes int64 // bytes of all files; default 512 MiB
	// Full is called when a file was refused. Default: nothing is called.
	Full func()
}

// File describes a file without its content.
type File struct {
	Name       string    `json:"name" doc:"The file's name."`
	Size       int64     `json:"size" doc:"Bytes."`
	ModifiedAt time.Time `json:"modifiedAt" doc:"When it was last written."`
}

// Folder is a folder of files. All methods may be called from any goroutine. The
// folder may belong to another user, under whom Chromium runs. That user then
// owns the files, may read them, and cannot lead a method out of the folder.
type Folder struct {
	dir    string
	root   *os.Root
	limits Limits
	owner  int           // user id that gets the files; -1 for none
	lock   chan struct{} // held while a file is moved to its place

	mu    sync.Mutex // guards what follows; never held across I/O
	count int
	bytes int64
	parts int // number of the last file being written
}

// Open opens an existing folder. End it with Close.
func Open(dir string, limits Limits) (*Folder, error) {
	if limits.Count == 0 {
		limits.Count = DefaultCount
	}
	if limits.Bytes == 0 {
		limits.Bytes = DefaultBytes
	}
	if limits.Full == nil {
		limits.Full = func() {}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open files: %w", err)
	}
	f := &Folder{dir: dir, root: root, limits: limits, owner: -1, lock: make(chan struct{}, 1)}
	if info, err := root.Stat("."); err == nil && os.Geteuid() == 0 {
		f.owner = int(info.Sys().(*syscall.Stat_t).Uid) //nolint:forcetypeassert // always so on Linux
	}
	list, err := f.List()
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	for _, i := range list {
		f.count++
		f.bytes += i.Size
	}
	return f, nil
}

// Close releases the folder. Its files stay.
func (f *Folder) Close() error { return f.root.Close() }

// List returns all files, sorted by name.
func (f *Folder) List() ([]File, error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	list := []File{}
	for _, e := range entries {
		if info, err := f.Stat(e.Name()); err == nil {
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Stat describes a file.
func (f *Folder) Stat(name string) (File, error) {
	if Safe(name) != name {
		return File{}, fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	info, err := f.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return File{}, fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	return File{Name: name, Size: info.Size(), ModifiedAt: info.ModTime().UTC()}, nil
}

// Open opens a file for reading.
func (f *Folder) Open(name string) (*os.File, File, error) {
	if Safe(name) != name {
		return nil, File{}, fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, File{}, fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	info, err := file.Stat() // of this file, even if another has just taken its name
	if err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, File{}, fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	return file, File{Name: name, Size: info.Size(), ModifiedAt: info.ModTime().UTC()}, nil
}

// Read returns the content of a file of at most limit bytes.
func (f *Folder) Read(name string, limit int64) ([]byte, error) {
	file, info, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.Size > limit {
		return nil, fmt.Errorf("read %q: it has %d bytes, more than %d", name, info.Size, limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	return data, nil
}

// Path returns the path of a file, for Chromium to read it.
func (f *Folder) Path(name string) (string, error) {
	if _, err := f.Stat(name); err != nil {
		return "", err
	}
	return filepath.Join(f.dir, name), nil
}

// Write writes r to a file, and replaces one of the same name.
func (f *Folder) Write(name string, r io.Reader) (File, error) {
	if name == "" || Safe(name) != name {
		return File{}, fmt.Errorf("%w: %q", ErrName, name)
	}
	f.mu.Lock()
	f.parts++
	part := fmt.Sprintf(".part-%d", f.parts) // no safe file name begins like this
	f.mu.Unlock()
	size, err := f.fill(part, r)
	if err != nil {
		return File{}, fmt.Errorf("write %q: %w", name, err)
	}
	f.lock <- struct{}{}
	defer func() { <-f.lock }()
	old, statErr := f.Stat(name)
	if statErr != nil && !f.take(1, 0) {
		f.drop(part, size)
		f.limits.Full()
		return File{}, fmt.Errorf("write %q: %w", name, ErrFull)
	}
	if err := f.root.Rename(part, name); err != nil {
		f.drop(part, size)
		return File{}, fmt.Errorf("write %q: %w", name, err)
	}
	f.take(0, -old.Size)
	return f.Stat(name)
}

// fill writes a file under a temporary name, within the limits.
func (f *Folder) fill(part string, r io.Reader) (int64, error) {
	file, err := f.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	var size int64
	var more int
	chunk := make([]byte, 128<<10)
	for err == nil {
		more, err = r.Read(chunk)
		if !f.take(0, int64(more)) {
			f.limits.Full()
			err = ErrFull
			break
		}
		size += int64(more)
		if _, e := file.Write(chunk[:more]); e != nil {
			err = e
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && f.owner >= 0 {
		err = file.Chown(f.owner, f.owner)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		f.drop(part, size)
	}
	return size, err
}

func (f *Folder) drop(part string, size int64) {
	f.take(0, -size)
	_ = f.root.Remove(part) // removed with the folder at the latest
}

// take adds files and bytes to the totals, or subtracts them, if there is room.
func (f *Folder) take(count int, bytes int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if count > 0 && f.count+count > f.limits.Count || bytes > 0 && f.bytes+bytes > f.limits.Bytes {
		return false
	}
	f.count += count
	f.bytes += bytes
	return true
}

// Room returns the number of bytes that may still be added.
func (f *Folder) Room() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count >= f.limits.Count {
		return 0
	}
	return f.limits.Bytes - f.bytes
}

// Capacity returns the number of bytes that all files together may have.
func (f *Folder) Capacity() int64 { return f.limits.Bytes }

// Adopt moves a file of the same file system into the folder. Its new name is the
// suggested one, changed if that is unsafe or taken.
func (f *Folder) Adopt(path, suggested string) (File, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return File{}, errors.Join(ErrNotFound, err)
	}
	if !f.take(1, info.Size()) {
		f.limits.Full()
		return File{}, errors.Join(ErrFull, os.Remove(path))
	}
	name, err := f.link(path, suggested)
	if err != nil {
		f.take(-1, -info.Size())
		return File{}, fmt.Errorf("keep %q: %w", suggested, err)
	}
	if err := os.Remove(path); err != nil {
		return File{}, fmt.Errorf("keep %q: %w", name, err)
	}
	return f.Stat(name)
}

func (f *Folder) link(path, suggested string) (string, error) {
	name := Safe(suggested)
	if name == "" {
		name = "download"
	}
	extension := filepath.Ext(name)
	base := strings.TrimSuffix(name, extension)
	for n := 1; ; n++ {
		err := os.Link(path, filepath.Join(f.dir, name))
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
		name = Safe(fmt.Sprintf("%s (%d)%s", text.Clip(base, maxName-len(extension)-len(" (1000)")), n, extension))
	}
}

// Copy copies a file. It replaces a file that already has the new name.
func (f *Folder) Copy(from, to string) (File, error) {
	if from == to {
		return f.Stat(from)
	}
	file, _, err := f.Open(from)
	if err != nil {
		return File{}, err
	}
	defer file.Close()
	return f.Write(to, file)
}

// Remove removes a file.
func (f *Folder) Remove(name string) error {
	f.lock <- struct{}{}
	defer func() { <-f.lock }()
	info, err := f.Stat(name)
	if err != nil {
		return err
	}
	if err := f.root.Remove(name); err != nil {
		return fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	f.take(-1, -info.Size)
	return nil
}
