// Package archive keeps the state of sessions, runs, takeovers and links in a
// store, so that a restarted server can list those of earlier processes.
package archive

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"takeover/store"
)

// Limits of the writer.
const (
	// minPause is the least time between two writes of one key.
	minPause = 250 * time.Millisecond
	// restShare limits the write load of one key: after a write that took t, the
	// key rests for restShare*t.
	restShare = 20
	// pauseMax is the longest pause after failed writes of a key. The first pause is
	// minPause, and each is twice as long as the one before.
	pauseMax = 30 * time.Second
	// flushTimeout is how long Close and Flush may write.
	flushTimeout = 5 * time.Second

	// Timeout is how long the store has for one write or read.
	Timeout = 5 * time.Second
)

// Key names a record. ID is empty for the record of the session itself.
type Key struct {
	Kind    Kind
	Session string
	ID      string
}

// Job writes the present state of a record, or deletes it. It returns how many
// bytes the store keeps of it afterwards.
type Job func(ctx context.Context) (bytes int, err error)

// Archive writes the newest state of each record to the store, on its own
// goroutine, so its callers do not wait. All methods may be called from any
// goroutine. A nil Archive keeps nothing.
type Archive struct {
	tables *tables
	log    *slog.Logger
	full   func() // called on the writer's goroutine when the archive holds more than limit
	limit  int64  // bytes

	writing sync.Mutex    // held while a job runs: a newer state is not written before an older one
	wake    chan struct{} // one token: a job waits
	closing chan struct{}
	done    chan struct{} // closed when the writer has ended

	mu    sync.Mutex          // guards what follows; held for memory operations only
	jobs  map[Key]*waitingJob // nil if the archive is only read
	rests map[Key]rest
	sizes map[string]map[Key]int // by session
	total int64
}

// waitingJob is a job that the writer has not started.
type waitingJob struct {
	Job
	done chan struct{} // closed when it is written, or cannot be; nil while nobody waits for it
}

// rest says when a key may be written again, and how long the writer pauses after
// its next failure.
type rest struct {
	until time.Time
	pause time.Duration
}

// Options configures an Archive. All fields are required.
type Options struct {
	Server string        // the prefix of this server's records in a store that several servers share
	Bytes  int64         // Full is called when the archive holds more bytes
	Age    time.Duration // the store deletes older records
	Full   func()        // called on the writer's goroutine; should make room with Forget
	Logger *slog.Logger
}

// Open opens the tables of an archive. It writes nothing before Start.
func Open(ctx context.Context, s *store.Store, o Options) (*Archive, error) {
	t, err := openTables(ctx, s, o.Server, o.Bytes, o.Age)
	if err != nil {
		return nil, err
	}
	return &Archive{
		tables: t, log: o.Logger, limit: o.Bytes, full: o.Full,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}),
		jobs: map[Key]*waitingJob{}, rests: map[Key]rest{}, sizes: map[string]map[Key]int{},
	}, nil
}

// Place returns the server that wrote the record of a run, a takeover or a link, of all that
// share the store, and the session. Both are empty if none did.
func (a *Archive) Place(ctx context.Context, kind Kind, id string) (server, session string, err error) {
	if a == nil {
		return "", "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return a.tables.place(ctx, kind, id)
}

// Start starts the writer. Close ends it.
func (a *Archive) Start() { go a.run() }

// Later runs a job for a key soon. It replaces an earlier job of the key that has
// not started.
func (a *Archive) Later(key Key, job Job) {
	if a != nil {
		a.put(key, job, false)
	}
}

// Written does the same as Later at once, for callers that wait: the channel is closed when
// the job has succeeded, or failed because the store is away.
func (a *Archive) Written(key Key, job Job) <-chan struct{} {
	return a.put(key, job, true)
}

func (a *Archive) put(key Key, job Job, wait bool) chan struct{} {
	if a.jobs == nil {
		return nil
	}
	a.mu.Lock()
	w := a.jobs[key]
	if w == nil {
		w = &waitingJob{}
		a.jobs[key] = w
	}
	w.Job = job
	if wait && w.done == nil {
		w.done = make(chan struct{})
	}
	done := w.done
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
	return done
}

// Close runs the waiting jobs, for at most flushTimeout, and ends the writer.
func (a *Archive) Close() {
	if a == nil {
		return
	}
	close(a.closing)
	<-a.done
}

// run runs jobs until Close.
func (a *Archive) run() {
	defer close(a.done)
	for {
		key, job, wait := a.next(time.Now())
		if job != nil {
			a.write(context.Background(), key, job)
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-a.wake:
		case <-a.closing:
			timer.Stop()
			a.Flush()
			return
		}
		timer.Stop()
		select {
		case <-a.closing:
			a.Flush()
			return
		default:
		}
	}
}

// Flush runs all waiting jobs once.
func (a *Archive) Flush() {
	if a == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	a.mu.Lock()
	jobs := a.jobs
	a.jobs = map[Key]*waitingJob{}
	a.mu.Unlock()
	lost := 0
	for key, job := range jobs {
		if ctx.Err() != nil || !a.write(ctx, key, job) {
			lost++
		}
	}
	if lost > 0 {
		a.log.Error("the last state of some sessions was not written", "records", lost)
	}
}

// next returns a job whose key does not rest, or how long to wait for one. Jobs for which
// somebody waits come first, and rest only after a failure, for minPause.
func (a *Archive) next(now time.Time) (key Key, job *waitingJob, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, r := range a.rests {
		if r.pause == 0 && now.After(r.until) && a.jobs[key] == nil {
			delete(a.rests, key)
		}
	}
	wait = time.Hour // put ends the wait earlier
	for k, j := range a.jobs {
		r := a.rests[k]
		left := r.until.Sub(now)
		switch {
		case j.done != nil && r.pause == 0:
			left = 0
		case j.done != nil:
			left -= r.pause - minPause
		}
		if left <= 0 && (job == nil || j.done != nil) {
			key, job = k, j
		}
		wait = min(wait, max(left, 0))
	}
	delete(a.jobs, key) // none if job is nil
	return key, job, wait
}

// write runs a job and reports whether it succeeded. A failed job is retried
// later, unless a newer job of the key has replaced it.
func (a *Archive) write(ctx context.Context, key Key, job *waitingJob) bool {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	begun := time.Now()
	bytes, err := 0, store.ErrAway
	away, _ := a.tables.store.Away()
	if !away {
		a.writing.Lock()
		bytes, err = job.Job(ctx)
		a.writing.Unlock()
	}
	now := time.Now()
	a.mu.Lock()
	newer := a.jobs[key]
	switch {
	case job.done == nil:
	case err == nil || away || newer != nil && newer.done != nil:
		close(job.done)
		job.done = nil
	case newer != nil: // who waits for this job is content with the newer one
		newer.done, job.done = job.done, nil
	}
	r := rest{until: now.Add(max(minPause, restShare*now.Sub(begun)))}
	if err != nil {
		r.pause = min(max(minPause, 2*a.rests[key].pause), pauseMax)
		r.until = now.Add(r.pause)
		if newer == nil {
			a.jobs[key] = job
		}
	}
	a.rests[key] = r
	if err == nil {
		a.sizeLocked(key, bytes)
	}
	full := a.total > a.limit
	a.mu.Unlock()
	if err != nil {
		a.log.Warn("write a record", "kind", key.Kind, "session", key.Session, "error", err, "again_in", r.pause)
		return false
	}
	if full {
		a.full()
	}
	return true
}

// sizeLocked records how many bytes the store keeps of a key.
func (a *Archive) sizeLocked(key Key, bytes int) {
	of := a.sizes[key.Session]
	a.total += int64(bytes - of[key])
	if bytes > 0 {
		if of == nil {
			of = map[Key]int{}
			a.sizes[key.Session] = of
		}
		of[key] = bytes
		return
	}
	delete(of, key)
	if len(of) == 0 {
		delete(a.sizes, key.Session)
	}
}

// Size returns how many bytes the store keeps of a session, and by how many bytes
// all sessions together exceed the limit. The latter is negative while there is
// room.
func (a *Archive) Size(session string) (bytes, over int64) {
	if a == nil {
		return 0, 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.sizes[session] {
		bytes += int64(n)
	}
	return bytes, a.total - a.limit
}

// Forget deletes all records of a session.
func (a *Archive) Forget(session string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	keys := map[Key]bool{{Kind: Sessions, Session: session}: true}
	for key := range a.sizes[session] {
		keys[key] = true
	}
	for key := range a.jobs {
		if key.Session == session {
			keys[key] = true
		}
	}
	a.mu.Unlock()
	for key := range keys {
		a.Drop(key)
	}
}

// Drop deletes a key's record soon. Its bytes stop counting at once.
func (a *Archive) Drop(key Key) {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.sizeLocked(key, 0)
	a.mu.Unlock()
	a.Later(key, func(ctx context.Context) (int, error) { return 0, a.tables.delete(ctx, key) })
}

// ignoreMissing turns the error of deleting a missing record into nil.
func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// Set writes the record of a key as JSON and returns its length in bytes.
// Records hold at most MaxRecord bytes; SetDetails takes longer values. Call
// Set in a Job.
func (a *Archive) Set(ctx context.Context, key Key, record any) (int, error) {
	return a.tables.set(ctx, key, record)
}

// SetDetails writes the long part of a run or a session. Call it in a Job, before
// Set, so that no record is without its long part.
func (a *Archive) SetDetails(ctx context.Context, key Key, value []byte) error {
	return a.tables.details.Set(ctx, a.tables.name(key), value)
}

// Details reads the long part of a run or a session. The error is
// store.ErrNotFound if the key has none.
func (a *Archive) Details(ctx context.Context, key Key) ([]byte, error) {
	return a.tables.details.Get(ctx, a.tables.name(key))
}

// SetPicture writes the picture of a run or a session. Call it in a Job, before Set.
func (a *Archive) SetPicture(ctx context.Context, key Key, image []byte) error {
	return a.tables.details.Set(ctx, a.tables.name(key)+pictureSuffix, image)
}

// Picture reads the picture of a run or a session. The error is store.ErrNotFound
// if the key has none.
func (a *Archive) Picture(ctx context.Context, key Key) ([]byte, error) {
	return a.tables.details.Get(ctx, a.tables.name(key)+pictureSuffix)
}

// Of returns what another server that shares the store has written, for reading: it ignores
// what it is to write.
func (a *Archive) Of(server string) *Archive {
	if a == nil {
		return nil
	}
	of := *a.tables
	of.self = server
	return &Archive{tables: &of, log: a.log}
}

// Get reads the record of a key. If the store has none, the error is store.ErrNotFound.
func Get[T any](ctx context.Context, a *Archive, key Key) (record T, err error) {
	if a == nil {
		return record, store.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	e, err := a.tables.buckets[key.Kind].Get(ctx, a.tables.name(key))
	if err != nil {
		return record, err
	}
	return record, json.Unmarshal(e.Value, &record)
}

// Read calls read with each record of a kind until read returns an error. read
// returns the size of the record's details in bytes. Read deletes records of
// unknown sessions, and skips records that it cannot decode. Call it before
// Start, and with Sessions first.
func Read[T any](ctx context.Context, a *Archive, kind Kind, read func(key Key, record T) (details int, err error)) error {
	return each(ctx, a, kind, "", func(key Key, record T, size int) error {
		a.mu.Lock()
		known := kind == Sessions || a.sizes[key.Session] != nil
		if known {
			a.sizeLocked(key, size)
		}
		a.mu.Unlock()
		if !known {
			a.Drop(key)
			return nil
		}
		details, err := read(key, record)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.sizeLocked(key, size+details)
		return err
	})
}

// Each calls read with each record of a kind below a session. It skips records that it cannot
// decode.
func Each[T any](ctx context.Context, a *Archive, kind Kind, session string, read func(key Key, record T)) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return each(ctx, a, kind, session, func(key Key, record T, _ int) error {
		read(key, record)
		return nil
	})
}

func each[T any](ctx context.Context, a *Archive, kind Kind, session string, read func(key Key, record T, size int) error) error {
	return a.tables.each(ctx, kind, session, func(key Key, value []byte) error {
		var record T
		if err := json.Unmarshal(value, &record); err != nil {
			a.log.Warn("decode a record", "kind", kind, "session", key.Session, "error", err)
			return nil
		}
		return read(key, record, len(value))
	})
}
