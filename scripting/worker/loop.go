package worker

import (
	"container/heap"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"takeover/scripting/wire"
)

// loop is a worker's event loop. Only one goroutine may enter goja. So answers,
// events and the end of the run's time are posted as tasks that run here, one at
// a time. Microtasks run when goja returns from each task. The same goroutine
// handles the timers.
type loop struct {
	w    *worker
	wake chan struct{} // one token: tasks has grown

	mu    sync.Mutex // guards tasks
	tasks []func()

	since    atomic.Int64 // when the current task began, in ns since start; 0 between tasks
	start    time.Time
	timers   timerHeap
	byID     map[int64]*timer
	held     int // number of timers that keep the run from ending after the main function has ended
	lastID   int64
	finished func() // ends the run when nothing is pending; nil while the script's main function runs
}

func newLoop(w *worker) *loop {
	return &loop{w: w, wake: make(chan struct{}, 1), start: time.Now(), byID: map[int64]*timer{}}
}

// post queues a task. It may be called from any goroutine.
func (l *loop) post(task func()) {
	l.mu.Lock()
	l.tasks = append(l.tasks, task)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run runs tasks and timers until one of them ends the process.
func (l *loop) run() {
	go l.watch()
	started := false // a warm worker may wait for its script as long as needed
	for {
		l.mu.Lock()
		tasks := l.tasks
		l.tasks = nil
		l.mu.Unlock()
		for _, task := range tasks {
			task()
		}
		l.w.host.reportRejections()
		started = started || len(tasks) > 0
		fired := l.fire()
		if len(tasks) > 0 || fired {
			continue
		}
		if l.w.out.Flush() != nil {
			return // the server is gone
		}
		if started && l.w.host.pending() == 0 && (len(l.timers) == 0 || l.finished != nil && l.held == 0) {
			l.mu.Lock()
			quiet := len(l.tasks) == 0
			l.mu.Unlock()
			if quiet {
				l.ranDry()
			}
		}
		l.wait()
	}
}

// ranDry ends the run because nothing can happen any more.
func (l *loop) ranDry() {
	if l.finished != nil {
		l.finished()
	}
	l.w.fail(&wire.ScriptError{Name: "Error", Message: "the script waits for something that can never happen: a promise that nothing will settle"})
}

// wait returns when a task is there or a timer is due.
func (l *loop) wait() {
	if len(l.timers) == 0 {
		<-l.wake
		return
	}
	t := time.NewTimer(time.Until(l.timers[0].at))
	defer t.Stop()
	select {
	case <-l.wake:
	case <-t.C:
	}
}

// fire runs the timers that are due now.
func (l *loop) fire() bool {
	now := time.Now()
	fired := false
	for len(l.timers) > 0 && !l.timers[0].at.After(now) {
		t := l.timers[0]
		if t.every > 0 {
			t.at = now.Add(t.every)
			t.seq = l.nextID() // run after others that are due
			heap.Fix(&l.timers, 0)
		} else {
			l.remove(t.id)
		}
		fired = true
		l.w.enter(t.call)
		l.w.host.reportRejections()
		l.mu.Lock()
		waiting := len(l.tasks) > 0
		l.mu.Unlock()
		if waiting {
			break
		}
	}
	return fired
}

// nextID numbers timers and operations in the order in which they started.
func (l *loop) nextID() int64 {
	l.lastID++
	return l.lastID
}

// add adds a timer and returns its id.
func (l *loop) add(delay time.Duration, repeat bool, trace []goja.StackFrame, call func() error) int64 {
	id := l.nextID()
	t := &timer{id: id, seq: id, at: time.Now().Add(delay), call: call, trace: trace, held: true}
	l.held++
	if repeat {
		t.every = max(delay, time.Millisecond)
	}
	l.byID[t.id] = t
	heap.Push(&l.timers, t)
	return t.id
}

// remove removes a timer. It ignores an unknown id.
func (l *loop) remove(id int64) {
	if t := l.byID[id]; t != nil {
		l.hold(id, false)
		delete(l.byID, id)
		heap.Remove(&l.timers, t.index)
	}
}

// hold sets whether a timer keeps the run from ending.
func (l *loop) hold(id int64, held bool) {
	if t := l.byID[id]; t != nil && t.held != held {
		t.held = held
		if held {
			l.held++
		} else {
			l.held--
		}
	}
}

// busy and idle mark the beginning and the end of a task. The time in between is
// time without yielding.
func (l *loop) busy() { l.since.Store(int64(time.Since(l.start)) | 1) }
func (l *loop) idle() { l.since.Store(0) }

// watch interrupts a task that takes too long and reports it to the server. The
// server kills the worker if the interrupt has no effect.
func (l *loop) watch() {
	var told int64
	for range time.Tick(min(l.w.limits.TurnTime/20, 100*time.Millisecond)) {
		since := l.since.Load()
		if since == 0 || since == told || time.Since(l.start)-time.Duration(since) < l.w.limits.TurnTime {
			continue
		}
		told = since
		l.w.vm.Interrupt(timeUp(fmt.Sprintf("the script did not yield for %v", l.w.limits.TurnTime)))
		_ = l.w.out.Write(wire.Frame{Kind: wire.KindStuck}, true)
	}
}

// timer is one timeout or interval.
type timer struct {
	id    int64
	seq   int64 // order of timers that are due at the same time
	at    time.Time
	every time.Duration // 0 for a timeout
	call  func() error
	trace []goja.StackFrame // stack where it was set
	held  bool              // keeps the run from ending
	index int               // index in the heap
}

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].seq < h[j].seq
	}
	return h[i].at.Before(h[j].at)
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push and Pop are for container/heap.
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop removes the last timer.
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return t
}
