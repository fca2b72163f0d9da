package trajectory

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"takeover/contract"
	"takeover/limits"
)

const (
	// DefaultBytes bounds a bundle. What would make it larger is left out, and the
	// report says so.
	DefaultBytes = 256 << 20

	// maxQueued bounds what waits to be written, in bytes. On a disk that hangs,
	// more is left out, and the report says so.
	maxQueued = 32 << 20

	// gather is how long what was accepted waits for more, which is then written with
	// it. A server that is killed loses no more than that.
	gather = 20 * time.Millisecond

	// maxReasons bounds the different reasons in a report.
	maxReasons = 20

	// MaxSessionEvents bounds the events of the session in a bundle, in bytes. Later
	// ones are left out, and the report says so.
	MaxSessionEvents = 16 << 20
)

// The files of a bundle.
const (
	metaFile     = "meta.json"
	eventsFile   = "events.jsonl"
	reportFile   = "report.json"
	manifestFile = "manifest.json"
	screenshots  = "screenshots"
	checkpoints  = "checkpoints"
	contracts    = "contracts"
)

// SessionEventsFile has the session's events of the time of the recording, if it had a capture.
const SessionEventsFile = "session.jsonl"

// ErrID is returned for an id that is not one of a bundle.
var ErrID = errors.New("no bundle has such an id")

var idForm = regexp.MustCompile(`^traj-\d{8}-\d{6}-[0-9a-f]{6}$`)

// ValidID reports whether an id is written like that of a bundle.
func ValidID(id string) bool { return idForm.MatchString(id) }

// Redactor removes secrets: from any text by its form and by registered values, from
// JSON by registered values only. Finder returns a function that reports whether the
// content of a file has one of those. A redact.Redactor is one.
type Redactor interface {
	Text(text string) string
	JSON(text []byte) []byte
	Finder() func(content []byte) bool
}

// Options describe a bundle.
type Options struct {
	Session  string
	Redactor Redactor
	Bytes    int64        // default DefaultBytes
	Hits     *limits.Hits // counts what was left out; may be nil
	Logger   *slog.Logger
}

// Meta is meta.json.
type Meta struct {
	Version   int       `json:"version"`
	ID        string    `json:"trajectory_id"`
	SessionID string    `json:"sessionId"`
	StartedAt time.Time `json:"started_at"`
}

// Bundle is a bundle that is being written. Its methods may be called from any
// goroutine; except for End, none of them waits for the disk.
type Bundle struct {
	id     string
	over   func() // runs when nobody writes the bundle any more
	o      Options
	root   *os.Root
	log    *os.File        // events.jsonl
	ending chan struct{}   // closed by End
	absent map[string]bool // files that could not be written; only write's goroutine uses it
	done   chan struct{}
	end    func() (BundleReport, error) // what End does, once

	mu     sync.Mutex // guards what follows; never held across I/O
	seq    uint64
	queue  []entry
	queued int64         // bytes of queue
	bytes  int64         // accepted
	wake   chan struct{} // one token: queue is not empty, or ended
	ended  bool
	report BundleReport
}

// entry is something to write: a line of events.jsonl, or a file.
type entry struct {
	name    string // of the file; empty for a line
	content []byte
	event   Event
	verdict contract.Verdict
}

// Begin creates a bundle in the library's folder, which is created, too, and starts
// writing it. End it with End.
func (l *Library) Begin(o Options) (*Bundle, error) {
	o.Bytes = cmp.Or(o.Bytes, DefaultBytes)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	now := time.Now().UTC()
	b := &Bundle{o: o, id: newID(now), ending: make(chan struct{}), absent: map[string]bool{}, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	b.report.ID, b.report.StartedAt = b.id, now
	b.over = l.writes(b.id)
	if err := b.create(filepath.Join(l.dir, b.id), now); err != nil {
		b.over()
		return nil, fmt.Errorf("begin a trajectory: %w", err)
	}
	b.end = sync.OnceValues(b.finish)
	go b.write()
	return b, nil
}

// newID returns an id that begins with the time.
func newID(now time.Time) string {
	random := make([]byte, 3)
	_, _ = rand.Read(random) // crypto/rand never fails
	return now.Format("traj-20060102-150405-") + hex.EncodeToString(random)
}

func (b *Bundle) create(dir string, now time.Time) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if b.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.root.Close(), os.RemoveAll(dir))
		}
	}()
	for _, name := range []string{screenshots, checkpoints, contracts} {
		if err := b.root.Mkdir(name, 0o700); err != nil {
			return err
		}
	}
	if _, err := writeJSON(b.root, metaFile, Meta{Version: Version, ID: b.id, SessionID: b.o.Session, StartedAt: now}); err != nil {
		return err
	}
	b.log, err = b.root.OpenFile(eventsFile, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	return err
}

// ID returns the bundle's id, which is also the name of its folder.
func (b *Bundle) ID() string { return b.id }

// Add records an event and returns its number.
func (b *Bundle) Add(e Event) uint64 {
	e = e.redact(b.o.Redactor)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.addLocked(e, "")
}

// AddContract records the outcome of a contract, with its evidence in a file of
// its own, and returns the event's number.
func (b *Bundle) AddContract(e Event, v contract.Verdict, evidence any) uint64 {
	e.Kind, e.Result = ContractOf, verdict{v}
	e = e.redact(b.o.Redactor)
	document, err := redacted(b.o.Redactor, evidence)
	b.mu.Lock()
	defer b.mu.Unlock()
	if name := path.Join(contracts, fmt.Sprintf("%06d.json", b.seq+1)); b.documentLocked(name, document, err) {
		e.Refs = &Refs{Contract: name}
	}
	return b.addLocked(e, v)
}

// AddCheckpoint records a checkpoint, with its content in a file of its own, and
// returns the event's number.
func (b *Bundle) AddCheckpoint(e Event, checkpoint any) uint64 {
	e.Kind = CheckpointOf
	e = e.redact(b.o.Redactor)
	document, err := redacted(b.o.Redactor, checkpoint)
	b.mu.Lock()
	defer b.mu.Unlock()
	if name := path.Join(checkpoints, fmt.Sprintf("%06d.json", b.seq+1)); b.documentLocked(name, document, err) {
		e.Refs = &Refs{Checkpoint: name}
	}
	return b.addLocked(e, "")
}

// The moments of a call at which a picture is taken.
const (
	before = "before"
	after  = "after"
)

// AddCall records the start of a call, with a PNG of the page before it unless
// that is nil, and returns the event's number.
func (b *Bundle) AddCall(e Event, png []byte) uint64 {
	e = e.redact(b.o.Redactor)
	b.mu.Lock()
	defer b.mu.Unlock()
	e.Kind = ToolCallStart
	if name := b.pictureLocked(&e, b.seq+1, before, png); name != "" {
		e.Refs = &Refs{Before: name}
	}
	return b.addLocked(e, "")
}

// AddEnd records the end of the call that began with the event of the given
// number, with a PNG of the page after it unless that is nil.
func (b *Bundle) AddEnd(call uint64, e Event, png []byte) {
	e = e.redact(b.o.Redactor)
	b.mu.Lock()
	defer b.mu.Unlock()
	e.Kind, e.Call = ToolCallEnd, call
	if name := b.pictureLocked(&e, call, after, png); name != "" {
		e.Refs = &Refs{After: name}
	}
	b.addLocked(e, "")
}

// AddSessionEvents keeps what the session's journal tells of the time of the recording: a
// JSON object in each line, from which the caller has removed secrets. With cut, some are
// missing.
func (b *Bundle) AddSessionEvents(lines []byte, cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cut {
		b.lostLocked("some of the session's events are missing: there were too many, or they could not be read in time")
	}
	if len(lines) > 0 {
		b.acceptLocked(entry{name: SessionEventsFile, content: lines})
	}
}

// pictureLocked keeps a picture of a call. It returns the picture's path in the
// bundle, or "" if there is none or no room for it, which the event then says.
func (b *Bundle) pictureLocked(e *Event, call uint64, when string, png []byte) string {
	if png == nil {
		return ""
	}
	name := path.Join(screenshots, fmt.Sprintf("%06d-%s.png", call, when))
	if !b.acceptLocked(entry{name: name, content: png}) {
		e.Missing = MissingLimit
		return ""
	}
	return name
}

// addLocked queues an event that is redacted, and returns its number, or 0 if there is
// no room for it.
func (b *Bundle) addLocked(e Event, v contract.Verdict) uint64 {
	b.seq++
	e.Version, e.Trajectory, e.Seq, e.TS, e.SessionID = Version, b.id, b.seq, time.Now().UnixMilli(), b.o.Session
	line, err := json.Marshal(e)
	if err != nil {
		b.lostLocked("an event could not be written as JSON")
		return 0
	}
	e.Args, e.Result = nil, nil // the report does not need them, and they may be large
	if !b.acceptLocked(entry{content: append(line, '\n'), event: e, verdict: v}) {
		return 0
	}
	return b.seq
}

// documentLocked queues a document, unless err says why there is none. It returns false
// if it is left out.
func (b *Bundle) documentLocked(name string, content []byte, err error) bool {
	if err != nil {
		b.lostLocked("a document could not be written as JSON: " + b.o.Redactor.Text(err.Error()))
		return false
	}
	return b.acceptLocked(entry{name: name, content: append(content, '\n')})
}

// acceptLocked queues an entry. It returns false if there is no room for it.
func (b *Bundle) acceptLocked(e entry) bool {
	size := int64(len(e.content))
	switch {
	case b.ended:
		return false
	case b.bytes+size > b.o.Bytes:
		b.lostLocked("the bundle is full")
		return false
	case b.queued+size > maxQueued:
		b.lostLocked("the disk is too slow")
		return false
	}
	b.queue = append(b.queue, e)
	b.queued += size
	b.bytes += size
	b.signal()
	return true
}

// lostLocked counts something that is left out. Each reason is told once.
func (b *Bundle) lostLocked(why string) {
	b.report.Lost++
	b.o.Hits.Add(limits.Trajectory, 1)
	if slices.Contains(b.report.Recovery, why) || len(b.report.Recovery) >= maxReasons {
		return
	}
	b.report.Recovery = append(b.report.Recovery, why)
	b.o.Logger.Warn("trajectory lacks something", "trajectory", b.id, "why", why)
}

func (b *Bundle) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// write writes what was accepted, in order, until End.
func (b *Bundle) write() {
	defer close(b.done)
	for {
		b.mu.Lock()
		list, ended := b.queue, b.ended
		b.queue = nil
		b.mu.Unlock()
		for rest := list; len(rest) > 0; {
			n := 1
			for rest[0].name == "" && n < len(rest) && rest[n].name == "" { // lines go into one write
				n++
			}
			b.put(rest[:n])
			rest = rest[n:]
		}
		switch {
		case len(list) == 0 && ended:
			return
		case len(list) == 0:
			<-b.wake
		}
		select {
		case <-b.ending:
		case <-time.After(gather):
		}
	}
}

// reason describes an error without the place of the bundle on the server.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return "a file could not be written: " + e.Err.Error()
	}
	return "a file could not be written"
}

// put writes a file, or lines, and counts them.
func (b *Bundle) put(list []entry) {
	var err error
	var size int64
	for i := range list {
		size += int64(len(list[i].content))
		if list[i].event.Refs != nil && b.absent[list[i].event.Refs.name()] {
			list[i].content = withoutFile(list[i].content)
		}
	}
	if one := list[0]; one.name != "" {
		err = writeFile(b.root, one.name, one.content)
	} else {
		err = b.append(list)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queued -= size
	for _, e := range list {
		switch {
		case err != nil:
			if b.lostLocked(reason(err)); e.name != "" {
				b.absent[e.name] = true
			}
		case e.name == "":
			b.report.count(e.event, e.verdict)
		case path.Dir(e.name) == screenshots:
			b.report.Artifacts.Screenshots++
		}
	}
}

// withoutFile returns the line of an event whose file could not be written.
func withoutFile(line []byte) []byte {
	var e map[string]json.RawMessage
	if json.Unmarshal(line, &e) != nil {
		return line
	}
	delete(e, "refs")
	e["missing"] = json.RawMessage(`"` + MissingError + `"`)
	out, err := json.Marshal(e)
	if err != nil {
		return line
	}
	return append(out, '\n')
}

// append writes lines.
func (b *Bundle) append(list []entry) error {
	info, err := b.log.Stat()
	if err != nil {
		return err
	}
	var lines []byte
	for _, e := range list {
		lines = append(lines, e.content...)
	}
	if _, err := b.log.Write(lines); err != nil {
		return errors.Join(err, b.log.Truncate(info.Size())) // the rest of half a line would spoil the next one
	}
	return nil
}

// End writes what is left, looks for registered secrets in the bundle, and writes
// the report and the manifest. It waits for the disk. It may be called again.
func (b *Bundle) End() (BundleReport, error) { return b.end() }

// finish is what End does.
func (b *Bundle) finish() (BundleReport, error) {
	defer b.over()
	b.mu.Lock()
	b.ended = true
	b.signal()
	b.mu.Unlock()
	close(b.ending)
	<-b.done
	err := b.log.Close()
	b.report.EndedAt = time.Now().UTC()
	err = errors.Join(err, finish(b.root, &b.report, b.o.Redactor), b.root.Close())
	if err != nil {
		return b.report, fmt.Errorf("end a trajectory: %w", err)
	}
	return b.report, nil
}
