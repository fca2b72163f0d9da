package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"takeover/store"
)

// How what is told of sessions goes to the store.
const (
	// archivePause is the least time between two writes of one key.
	archivePause = 250 * time.Millisecond
	// archiveShare bounds what one key costs: it rests so many times as long as its
	// last write took.
	archiveShare = 20
	// archiveTimeout is how long the store has for one write or read.
	archiveTimeout = 5 * time.Second
	// archiveRetryMax is the longest pause of a key that could not be written. The
	// first is archivePause; it doubles.
	archiveRetryMax = 30 * time.Second
	// archiveFirst is how long a new session waits for its first record: who is told
	// of it finds it again, whatever happens to the process.
	archiveFirst = time.Second
	// archiveGrace is how long the end waits for what is not written yet.
	archiveGrace = 5 * time.Second
)

// archiveKey names what is written as one. Its id is empty for a session itself.
type archiveKey struct{ kind, session, id string }

// archiveJob writes the present state of a key, or deletes it, and returns how many
// bytes of it are kept now.
type archiveJob func(ctx context.Context) (bytes int, err error)

// archive writes what is told of sessions, their runs, takeovers and links, to the
// store: on one goroutine, the newest state of each key, and never while anybody
// waits for it. A nil archive keeps nothing.
type archive struct {
	tables *archiveTables
	log    *slog.Logger
	full   func() // called on the writer's goroutine when more is kept than limit
	limit  int64  // bytes

	wake    chan struct{} // one token: there is something to do
	closing chan struct{}
	done    chan struct{}

	mu    sync.Mutex // guards what follows; held for memory operations only
	jobs  map[archiveKey]*waitingJob
	rests map[archiveKey]rest
	sizes map[string]map[archiveKey]int // by session
	total int64
}

// waitingJob is a job that was not begun.
type waitingJob struct {
	archiveJob
	done chan struct{} // closed when it was tried; nil while nobody waits
}

// rest is when a key may be written again, and how long it waits after the next
// failure.
type rest struct {
	until time.Time
	pause time.Duration
}

func newArchive(tables *archiveTables, limit int64, log *slog.Logger) *archive {
	return &archive{
		tables: tables, log: log, limit: limit, full: func() {},
		wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}),
		jobs: map[archiveKey]*waitingJob{}, rests: map[archiveKey]rest{}, sizes: map[string]map[archiveKey]int{},
	}
}

// later has a key written soon; a job of it that still waits is replaced.
func (a *archive) later(key archiveKey, job archiveJob) {
	if a != nil {
		a.put(key, job, false)
	}
}

// written has a key written soon, and returns a channel that is closed when that
// was tried.
func (a *archive) written(key archiveKey, job archiveJob) <-chan struct{} {
	return a.put(key, job, true)
}

func (a *archive) put(key archiveKey, job archiveJob, wait bool) chan struct{} {
	a.mu.Lock()
	w := a.jobs[key]
	if w == nil {
		w = &waitingJob{}
		a.jobs[key] = w
	}
	w.archiveJob = job
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

// close writes what waits, for archiveGrace at most, and ends the writer.
func (a *archive) close() {
	if a == nil {
		return
	}
	close(a.closing)
	<-a.done
}

// run writes until close.
func (a *archive) run() {
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
			a.flush()
			return
		}
		timer.Stop()
		if isClosed(a.closing) {
			a.flush()
			return
		}
	}
}

// flush writes all that waits, once.
func (a *archive) flush() {
	if a == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), archiveGrace)
	defer cancel()
	a.mu.Lock()
	jobs := a.jobs
	a.jobs = map[archiveKey]*waitingJob{}
	a.mu.Unlock()
	lost := 0
	for key, job := range jobs {
		if ctx.Err() != nil || !a.write(ctx, key, job) {
			lost++
		}
	}
	if lost > 0 {
		a.log.Error("the store does not have the last state of some sessions", "records", lost)
	}
}

// next is a job whose key does not rest, or how long to wait for one.
func (a *archive) next(now time.Time) (key archiveKey, job *waitingJob, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, r := range a.rests {
		if r.pause == 0 && now.After(r.until) && a.jobs[key] == nil {
			delete(a.rests, key)
		}
	}
	wait = time.Hour // a token comes before
	for key, job := range a.jobs {
		left := a.rests[key].until.Sub(now)
		if left <= 0 {
			delete(a.jobs, key)
			return key, job, 0
		}
		wait = min(wait, left)
	}
	return key, nil, wait
}

// write does a job. One that fails is tried again later, unless the key has got
// another meanwhile.
func (a *archive) write(ctx context.Context, key archiveKey, job *waitingJob) bool {
	ctx, cancel := context.WithTimeout(ctx, archiveTimeout)
	defer cancel()
	begun := time.Now()
	bytes, err := 0, store.ErrAway
	if away, _ := a.tables.store.Away(); !away {
		bytes, err = job.archiveJob(ctx)
	}
	if job.done != nil {
		close(job.done)
		job.done = nil
	}
	now := time.Now()
	a.mu.Lock()
	r := rest{until: now.Add(max(archivePause, archiveShare*now.Sub(begun)))}
	if err != nil {
		r.pause = min(max(archivePause, 2*a.rests[key].pause), archiveRetryMax)
		r.until = now.Add(r.pause)
		if a.jobs[key] == nil {
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
		a.log.Warn("keep what is told of a session", "kind", key.kind, "session", key.session, "error", err, "again_in", r.pause)
		return false
	}
	if full {
		a.full()
	}
	return true
}

// sizeLocked notes how many bytes of a key are kept.
func (a *archive) sizeLocked(key archiveKey, bytes int) {
	of := a.sizes[key.session]
	a.total += int64(bytes - of[key])
	if bytes > 0 {
		if of == nil {
			of = map[archiveKey]int{}
			a.sizes[key.session] = of
		}
		of[key] = bytes
		return
	}
	delete(of, key)
	if len(of) == 0 {
		delete(a.sizes, key.session)
	}
}

// moreLocked notes that so many bytes of a key are kept apart.
func (a *archive) moreLocked(key archiveKey, bytes int) {
	a.sizeLocked(key, a.sizes[key.session][key]+bytes)
}

// size is how many bytes are kept of a session, and over is by how many all of them
// are more than may be.
func (a *archive) size(session string) (bytes, over int64) {
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

// forget deletes all that is kept of a session.
func (a *archive) forget(session string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	keys := map[archiveKey]bool{{kindSession, session, ""}: true}
	for key := range a.sizes[session] {
		keys[key] = true
	}
	for key := range a.jobs {
		if key.session == session {
			keys[key] = true
		}
	}
	a.mu.Unlock()
	for key := range keys {
		a.drop(key)
	}
}

// drop deletes a key. It counts no more from now on.
func (a *archive) drop(key archiveKey) {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.sizeLocked(key, 0)
	a.mu.Unlock()
	a.later(key, func(ctx context.Context) (int, error) { return 0, a.tables.delete(ctx, key) })
}

// ignoreMissing is for deleting what may be gone.
func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
