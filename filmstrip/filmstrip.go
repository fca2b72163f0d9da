// Package filmstrip keeps small pictures of what sessions showed, in files, so that people can
// look back. A strip has a bounded size: when it is full, every second picture goes, and from
// then on they come half as often.
package filmstrip

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// Every is the least time between two pictures of a new strip, unless they are of
	// different pages.
	Every = 2 * time.Second
	// Sooner is how many times as often pictures of different pages may come.
	Sooner = 4
	// DefaultBytes bounds the pictures of one strip.
	DefaultBytes = 8 << 20
	// DefaultAll bounds the files of all strips.
	DefaultAll = 512 << 20
	// MaxPicture bounds one picture, in bytes.
	MaxPicture = 128 << 10

	roomShare = 64    // the room of all strips is checked after one of so many parts was added
	headBytes = 8 + 4 // before each picture in its file: the time in ms since 1970, and its size
)

var (
	// ErrNotFound is returned for a picture that is not kept.
	ErrNotFound = errors.New("there is no such picture")
	// ErrTooLarge is returned for a picture of more than MaxPicture bytes.
	ErrTooLarge = errors.New("the picture is too large for a film strip")
)

// Options configures Strips. The zero value of a field is its default.
type Options struct {
	Bytes int64 // of one strip; default DefaultBytes
	All   int64 // of all strips; default DefaultAll, negative for none
}

// Strips are the strips in one folder, one file for each session. All methods may be called
// from any goroutine.
type Strips struct {
	dir string
	o   Options

	mu    sync.Mutex // held while a file is changed or read
	added int64      // bytes since the room was last checked
}

// Open returns the strips in a folder, which Add makes if it is missing.
func Open(dir string, o Options) *Strips {
	return &Strips{dir: dir, o: Options{Bytes: cmp.Or(o.Bytes, DefaultBytes), All: cmp.Or(o.All, DefaultAll)}}
}

// picture is where a picture lies in a strip's file. Its size is 0 where one is hidden.
type picture struct {
	at   time.Time
	from int64
	size int
}

// Strip is a strip that is being taken. One goroutine may use it.
type Strip struct {
	strips *Strips
	name   string
	every  time.Duration
	last   time.Time
	hides  bool // since the last picture, something must not be kept
}

// None reports whether no strips are kept.
func (s *Strips) None() bool { return s.o.All < 0 }

// Begin returns the strip of a session, which goes on if it has one. The id must be a name of
// a file.
func (s *Strips) Begin(session string) *Strip {
	return &Strip{strips: s, name: session, every: Every}
}

// Due reports whether the strip takes a picture at a time. another says that the page is not
// that of the last picture; such a picture may come sooner.
func (t *Strip) Due(now time.Time, another bool) bool {
	least := t.every
	if another {
		least /= Sooner
	}
	return now.Sub(t.last) >= least
}

// Add appends a JPEG.
func (t *Strip) Add(at time.Time, jpeg []byte) error {
	if len(jpeg) > MaxPicture {
		return ErrTooLarge
	}
	t.last, t.hides = at, false
	return t.append(at, jpeg)
}

// Hide records that from now on what is shown must not be kept, until the next picture.
func (t *Strip) Hide(at time.Time) error {
	if t.hides {
		return nil
	}
	err := t.append(at, nil)
	t.hides = err == nil
	return err
}

// append writes a picture, or none where one is hidden.
func (t *Strip) append(at time.Time, jpeg []byte) error {
	s := t.strips
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	path, err := s.path(t.name)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	entry := binary.BigEndian.AppendUint64(make([]byte, 0, headBytes+len(jpeg)), uint64(at.UnixMilli()))
	entry = binary.BigEndian.AppendUint32(entry, uint32(len(jpeg)))
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		if _, err = file.Write(append(entry, jpeg...)); err != nil {
			err = errors.Join(err, file.Truncate(size)) // half a picture would hide those that follow
		}
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if size+int64(len(entry)+len(jpeg)) > s.o.Bytes {
		t.every *= 2
		err = s.thin(path)
	}
	if s.added += int64(len(jpeg)); s.added > s.o.All/roomShare {
		s.added = 0
		err = errors.Join(err, s.makeRoom(t.name))
	}
	return err
}

// path returns the file of a session's strip.
func (s *Strips) path(session string) (string, error) {
	if session == "" || strings.HasPrefix(session, ".") || session != filepath.Base(session) {
		return "", fmt.Errorf("%w: %.60q is no session", ErrNotFound, session)
	}
	return filepath.Join(s.dir, session), nil
}

// thin removes every second picture of a file, but not the first and the last. Where the
// first picture after a hidden time goes, that time gets longer.
func (s *Strips) thin(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	list := pictures(raw)
	kept := make([]byte, 0, len(raw)/2)
	n, hides := 0, false // pictures so far, and whether the last one that is kept is hidden
	for i, p := range list {
		keep := i == len(list)-1
		if p.size == 0 {
			keep = keep || !hides
		} else {
			keep = keep || n%2 == 0
			n++
		}
		if keep {
			hides = p.size == 0
			kept = append(kept, raw[p.from-headBytes:p.from+int64(p.size)]...)
		}
	}
	next := path + ".next"
	if err := os.WriteFile(next, kept, 0o600); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return os.Rename(next, path)
}

// pictures finds the pictures in the content of a file, as far as it is whole.
func pictures(raw []byte) (list []picture) {
	for from := int64(headBytes); from <= int64(len(raw)); {
		p := pictureOf(raw[from-headBytes:from], from)
		if p.size > MaxPicture || from+int64(p.size) > int64(len(raw)) {
			break
		}
		list = append(list, p)
		from += int64(p.size) + headBytes
	}
	return list
}

// pictureOf reads what stands before a picture that begins at a place of the file.
func pictureOf(head []byte, from int64) picture {
	return picture{time.UnixMilli(int64(binary.BigEndian.Uint64(head))).UTC(), from, int(binary.BigEndian.Uint32(head[8:]))}
}

// makeRoom removes the strips that were changed longest ago, but not the one of a session,
// until all together are small enough.
func (s *Strips) makeRoom(session string) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	sum := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // otherwise it was removed
			files = append(files, info)
			sum += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, file := range files {
		if sum <= s.o.All {
			break
		}
		if file.Name() != session {
			if err := os.Remove(filepath.Join(s.dir, file.Name())); err != nil {
				return err
			}
			sum -= file.Size()
		}
	}
	return nil
}

// Has reports whether a session has a strip.
func (s *Strips) Has(session string) bool {
	path, err := s.path(session)
	if err == nil {
		_, err = os.Stat(path)
	}
	return err == nil
}

// Times returns when the pictures of a session's strip were taken, and from when it has
// none until the next one, because what was shown must not be kept; oldest first. There are
// none without a strip.
func (s *Strips) Times(session string) (pictures, hidden []time.Time, err error) {
	err = s.read(session, func(_ *os.File, p picture) bool {
		if p.size == 0 {
			hidden = append(hidden, p.at)
		} else {
			pictures = append(pictures, p.at)
		}
		return true
	})
	return pictures, hidden, err
}

// Picture returns the JPEG that was taken at one of Times.
func (s *Strips) Picture(session string, at time.Time) (jpeg []byte, err error) {
	err = s.read(session, func(file *os.File, p picture) bool {
		if !p.at.Equal(at) || p.size == 0 {
			return true
		}
		jpeg = make([]byte, p.size)
		if _, err := file.ReadAt(jpeg, p.from); err != nil {
			jpeg = nil
		}
		return false
	})
	if err == nil && jpeg == nil {
		err = ErrNotFound
	}
	return jpeg, err
}

// read passes on where the pictures of a session's strip are, until more returns false.
func (s *Strips) read(session string, more func(file *os.File, p picture) bool) error {
	path, err := s.path(session)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var head [headBytes]byte
	for from := int64(0); ; {
		if _, err := file.ReadAt(head[:], from); err != nil { // the end
			return nil
		}
		p := pictureOf(head[:], from+headBytes)
		if p.size > MaxPicture || p.from+int64(p.size) > info.Size() || !more(file, p) {
			return nil
		}
		from = p.from + int64(p.size)
	}
}

// Forget removes the strip of a session.
func (s *Strips) Forget(session string) error {
	path, err := s.path(session)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Keep removes the strips of all sessions but those that known knows.
func (s *Strips) Keep(known func(session string) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if !known(e.Name()) {
			errs = append(errs, os.Remove(filepath.Join(s.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
