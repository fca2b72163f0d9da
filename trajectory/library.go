package trajectory

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Defaults of what is kept.
const (
	DefaultKeep      = 50 // bundles
	DefaultKeepAge   = 7 * 24 * time.Hour
	DefaultKeepBytes = 4 << 30 // of all bundles
)

// The errors of a Library, besides ErrID.
var (
	// ErrRecording is returned for a bundle that is still being written.
	ErrRecording = errors.New("the bundle is still being recorded; stop the recording first")
	// ErrNotScanned is returned for a bundle that nobody has searched for secrets.
	ErrNotScanned = errors.New("nobody has searched the bundle for secrets, because the server ended while it recorded; ?unscanned=true lets it out all the same")
	// ErrFile is returned for a file that the bundle does not have.
	ErrFile = errors.New("the bundle has no such file")
)

// ErrLeak is in each LeakError.
var ErrLeak = errors.New("a secret is in the bundle")

// LeakError is returned for a bundle that contains a secret. It does not leave the
// server.
type LeakError struct{ Files []string }

// Unwrap returns ErrLeak.
func (e *LeakError) Unwrap() error { return ErrLeak }

// Error says where the secret is.
func (e *LeakError) Error() string {
	return "a secret is in " + strings.Join(e.Files, ", ") + ", so the bundle does not leave the server"
}

// KeepOptions bound the bundles that are kept. The oldest are removed first. The zero
// value of each field is its default.
type KeepOptions struct {
	Number int
	Age    time.Duration // since the end
	Bytes  int64         // of all bundles
}

// Library is a folder of bundles. All methods may be called from any goroutine.
type Library struct {
	dir  string
	keep KeepOptions

	mending sync.Mutex // held while a bundle is mended

	mu   sync.Mutex      // guards what follows
	live map[string]bool // ids of bundles that are being written
}

// Open returns the library in a folder, which need not exist.
func Open(dir string, keep KeepOptions) *Library {
	keep.Number = cmp.Or(keep.Number, DefaultKeep)
	keep.Age = cmp.Or(keep.Age, DefaultKeepAge)
	keep.Bytes = cmp.Or(keep.Bytes, DefaultKeepBytes)
	return &Library{dir: dir, keep: keep, live: map[string]bool{}}
}

// writes marks a bundle as one that is being written, until the returned function runs.
func (l *Library) writes(id string) (over func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[id] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.live, id)
	}
}

// written reports whether a bundle is being written.
func (l *Library) written(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live[id]
}

// BundleInfo describes a bundle.
type BundleInfo struct {
	ID        string         `json:"trajectory_id" doc:"The bundle's id."`
	SessionID string         `json:"sessionId" doc:"The session that was recorded."`
	StartedAt time.Time      `json:"started_at" doc:"When the recording began."`
	Recording bool           `json:"recording" doc:"Whether it is still being recorded."`
	Bytes     int64          `json:"bytes" doc:"The size of all files."`
	Report    *BundleReport  `json:"report" doc:"Its report.json; null while it is being recorded."`
	Files     []ManifestFile `json:"files,omitempty" doc:"Of one bundle: its files, without manifest.json."`

	unfinished bool // nobody writes it, and it has no manifest
}

// OfSession returns the ids of a session's bundles, newest first. No bundle is older than
// the session. What cannot be read is left out.
func (l *Library) OfSession(session string, began time.Time) (ids []string) {
	entries, _ := os.ReadDir(l.dir)
	for _, e := range slices.Backward(entries) { // ids begin with the second
		if !e.IsDir() || !ValidID(e.Name()) {
			continue
		}
		info, err := l.Get(e.Name())
		if err != nil {
			continue
		}
		if info.StartedAt.Before(began.Truncate(time.Second)) {
			break
		}
		if info.SessionID == session {
			ids = append(ids, info.ID)
		}
	}
	return ids
}

// List returns the bundles, newest first.
func (l *Library) List() ([]BundleInfo, error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list trajectories: %w", err)
	}
	list := []BundleInfo{}
	for _, e := range entries {
		if !e.IsDir() || !ValidID(e.Name()) {
			continue
		}
		info, err := l.Get(e.Name())
		if errors.Is(err, ErrID) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		info.Files = nil
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b BundleInfo) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), strings.Compare(b.ID, a.ID))
	})
	return list, nil
}

// open opens the folder of a bundle.
func (l *Library) open(id string) (*os.Root, error) {
	if !ValidID(id) {
		return nil, ErrID
	}
	root, err := os.OpenRoot(filepath.Join(l.dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrID
	}
	return root, err
}

// Get describes a bundle with its files.
func (l *Library) Get(id string) (info BundleInfo, err error) {
	root, err := l.open(id)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	info = BundleInfo{ID: id, Recording: l.written(id)}
	var m Meta
	if readJSON(root, metaFile, &m) == nil {
		info.SessionID, info.StartedAt = m.SessionID, m.StartedAt
	}
	if !info.Recording {
		var manifest Manifest
		info.unfinished = readJSON(root, manifestFile, &manifest) != nil
		info.Files, info.Report = manifest.Files, &BundleReport{}
		if info.unfinished || readJSON(root, reportFile, info.Report) != nil { // one broken bundle does not hide the others
			info.Report = &BundleReport{ID: id, StartedAt: info.StartedAt, EndedAt: info.StartedAt, Recovery: []string{"the report cannot be read"}, LeakScan: LeakScan{State: NotScanned}}
		}
	}
	err = fs.WalkDir(root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return ignoreMissing(err)
		}
		file, err := d.Info()
		if err == nil {
			info.Bytes += file.Size()
		}
		return ignoreMissing(err)
	})
	return info, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) { // a file that was being written
		return nil
	}
	return err
}

func readJSON(root *os.Root, name string, into any) error {
	raw, err := root.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// leave opens the folder of a bundle that may leave the server, and describes it.
func (l *Library) leave(id string, unscanned bool) (*os.Root, BundleInfo, error) {
	info, err := l.Get(id)
	if err == nil && info.unfinished {
		if _, err = l.mend(id, "the report could not be written at the end"); err == nil {
			info, err = l.Get(id)
		}
	}
	if err != nil {
		return nil, info, err
	}
	switch {
	case info.Recording:
		return nil, info, ErrRecording
	case info.Report.LeakScan.State == Found:
		return nil, info, &LeakError{info.Report.LeakScan.Files}
	case info.Report.LeakScan.State != Clean && !unscanned:
		return nil, info, ErrNotScanned
	}
	root, err := l.open(id)
	return root, info, err
}

// File opens a file of a bundle by its path in it.
func (l *Library) File(id, name string, unscanned bool) (io.ReadSeekCloser, error) {
	root, info, err := l.leave(id, unscanned)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if name != manifestFile && !slices.ContainsFunc(info.Files, func(f ManifestFile) bool { return f.Path == name }) {
		return nil, ErrFile
	}
	file, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrFile
	}
	return file, err
}

// Archive is a bundle that may leave the server. Write and WriteHTML write it; Close it in the
// end.
type Archive struct {
	root  *os.Root
	files []ManifestFile
	id    string
	info  BundleInfo
}

// Archive opens a bundle.
func (l *Library) Archive(id string, unscanned bool) (*Archive, error) {
	root, info, err := l.leave(id, unscanned)
	if err != nil {
		return nil, err
	}
	return &Archive{root, info.Files, id, info}, nil
}

// Close frees the archive.
func (a *Archive) Close() error { return a.root.Close() }

// Info describes the bundle.
func (a *Archive) Info() BundleInfo { return a.info }

// EachEvent calls each with every event of the bundle, until it returns an error.
func (a *Archive) EachEvent(each func(*Event) error) error {
	return a.eachLine(eventsFile, func(line []byte) error {
		var e Event
		if json.Unmarshal(line, &e) == nil { // a crash may have cut it off
			return each(&e)
		}
		return nil
	})
}

// EachSessionLine calls each with every event of the session in the bundle, as JSON, until
// it returns an error.
func (a *Archive) EachSessionLine(each func(line []byte) error) error {
	return a.eachLine(SessionEventsFile, each)
}

// eachLine calls each with every line of a file, which need not exist.
func (a *Archive) eachLine(name string, each func(line []byte) error) error {
	file, err := a.root.Open(name)
	if err != nil {
		return ignoreMissing(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, MaxLine)
	for lines.Scan() {
		if err := each(bytes.Clone(lines.Bytes())); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// Picture returns the picture of an event, with its path in the bundle, or "" if it has none.
func (a *Archive) Picture(e *Event) (name string, png []byte, err error) {
	if e.Refs == nil || path.Ext(e.Refs.name()) != ".png" || !slices.ContainsFunc(a.files, func(f ManifestFile) bool { return f.Path == e.Refs.name() }) {
		return "", nil, nil
	}
	png, err = a.root.ReadFile(e.Refs.name())
	return e.Refs.name(), png, err
}

// Write writes the bundle as a zip file, in a folder of its id.
func (a *Archive) Write(to io.Writer) error {
	out := zip.NewWriter(to)
	for _, file := range append(slices.Clone(a.files), ManifestFile{Path: manifestFile}) {
		content, err := a.root.ReadFile(file.Path)
		if err != nil {
			return fmt.Errorf("zip trajectory: %w", err)
		}
		h := &zip.FileHeader{Name: path.Join(a.id, file.Path), Method: zip.Deflate}
		if path.Ext(file.Path) == ".png" {
			h.Method = zip.Store
		}
		w, err := out.CreateHeader(h)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			return fmt.Errorf("zip trajectory: %w", err)
		}
	}
	return out.Close()
}

// Delete removes a bundle. The error is ErrID or ErrRecording.
func (l *Library) Delete(id string) error {
	info, err := l.Get(id)
	switch {
	case err != nil:
		return err
	case info.Recording:
		return ErrRecording
	}
	// Half a bundle must never look like one.
	err = os.Rename(filepath.Join(l.dir, id), filepath.Join(l.dir, trash+id))
	if err == nil {
		err = os.RemoveAll(filepath.Join(l.dir, trash+id))
	}
	if err != nil {
		return fmt.Errorf("delete trajectory: %w", err)
	}
	return nil
}

// trash begins the name of a bundle that is being removed.
const trash = ".trash-"

// Retain removes the oldest bundles that are more than what is kept, and returns
// their ids.
func (l *Library) Retain(now time.Time) (removed []string, err error) {
	list, err := l.List()
	if err != nil {
		return nil, err
	}
	left, _ := filepath.Glob(filepath.Join(l.dir, trash+"*")) // the pattern is right
	for _, name := range left {
		if err := os.RemoveAll(name); err != nil {
			return nil, fmt.Errorf("delete trajectory: %w", err)
		}
	}
	bytes, number := int64(0), 0
	for _, info := range list {
		if info.Recording || info.Bytes <= l.keep.Bytes { // one that is too large by itself does not push the others out
			number++
			bytes += info.Bytes
			if info.Recording || number <= l.keep.Number && bytes <= l.keep.Bytes && now.Sub(info.Report.EndedAt) <= l.keep.Age {
				continue
			}
		}
		if err := l.Delete(info.ID); err != nil && !errors.Is(err, ErrID) {
			return removed, err
		}
		removed = append(removed, info.ID)
	}
	return removed, nil
}
