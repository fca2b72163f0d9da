package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/chromedp/cdproto/target"

	"takeover/background"
	"takeover/cdp"
	"takeover/limits"
)

const (
	// detachPatience bounds how long a browser may take to detach the client.
	detachPatience = 2 * time.Second

	// maxFrames bounds the frames that are remembered, because a page may create
	// them without end.
	maxFrames = 20_000

	// slack is how early a timer may fire, so that timers close to each other
	// fire together.
	slack = 5 * time.Millisecond
)

// watchedTypes are the kinds of targets to capture. Chromium's own interface
// (browser_ui, tab, webview …) is not among them.
var watchedTypes = []string{"page", "iframe", "worker", "shared_worker", serviceWorker}

const serviceWorker = "service_worker"

// autoAttach returns parameters that make Chromium attach us to targets of
// watchedTypes and pause new ones before their first instruction. Service workers
// are watched only during a capture, because Chromium never stops one that is
// attached.
func autoAttach(services bool) target.SetAutoAttachParams {
	var filter target.Filter
	for _, t := range watchedTypes {
		if services || t != serviceWorker {
			filter = append(filter, target.FilterEntry{Type: t})
		}
	}
	filter = append(filter, target.FilterEntry{Exclude: true})
	return target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: new(true), Filter: filter}
}

// link is the monitor's connection to one browser: its client, its targets, and
// the goroutine that maps their events. The monitor's mutex guards all of it
// except the intake.
type link struct {
	m      *Monitor
	client *cdp.Client
	intake *intake
	cancel context.CancelCauseFunc
	ctx    context.Context // ends with the link
	loop   sync.WaitGroup  // the mapping goroutine
	tasks  sync.WaitGroup  // goroutines that wait for replies of the browser

	bodies   []waitingBody // oldest first
	bodiesAt time.Time     // when to check them
	fetching int           // number of bodies being fetched

	discovered chan struct{} // closed when the first targets are known

	targets map[cdp.SessionID]*watched
	frames  map[string]frame
	lookups int  // number of elements being looked up
	ending  bool // no further tasks may start

	services bool // whether service workers are watched

	hearings int             // number of targets with lines on their way to the background log
	waiting  []chan struct{} // of the callers of Heard
	flooding *background.Realm
}

// frame holds what events need to know about a DOM frame.
type frame struct {
	parent string
	url    string
}

// dial attaches a new client.
func (m *Monitor) dial(ctx context.Context, conn *cdp.Conn) (*link, error) {
	in := newIntake(m.queue.Events, m.queue.Bytes)
	sink := newSilenceProbe(in)
	client, err := conn.NewClient(ctx, sink)
	if err != nil {
		return nil, fmt.Errorf("attach capture: %w", err)
	}
	if m.heard != nil {
		sink.ask(client)
	}
	l := &link{
		m: m, client: client, intake: in,
		discovered: make(chan struct{}),
		targets:    map[cdp.SessionID]*watched{},
		frames:     map[string]frame{},
	}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l, nil
}

// discoveredMark is put into the intake after the events of the existing targets.
// When the loop reads it, those targets are known.
const discoveredMark = "discovered"

// watch attaches to the targets. Their events wait in the intake until the loop
// runs.
func (l *link) watch(ctx context.Context) error {
	l.sendTo(l.client.Browser(), target.SetDiscoverTargets.Method, target.SetDiscoverTargetsParams{Discover: true})
	l.m.mu.Lock()
	l.services = l.m.running
	params := autoAttach(l.services)
	l.m.mu.Unlock()
	if _, err := cdp.Call(ctx, l.client.Browser(), target.SetAutoAttach, params); err != nil {
		return fmt.Errorf("attach capture: %w", err)
	}
	l.intake.Put(cdp.Event{Method: discoveredMark})
	return nil
}

// discover waits until the existing targets are known. The loop must be running.
func (l *link) discover(ctx context.Context) error {
	select {
	case <-l.discovered:
		return nil
	case <-l.ctx.Done():
		return fmt.Errorf("attach capture: %w", context.Cause(l.ctx))
	case <-ctx.Done():
		return fmt.Errorf("attach capture: %w", context.Cause(ctx))
	}
}

// run maps events until the browser or the link ends.
func (l *link) run() {
	var deadline time.Time
	for {
		ev, ok, err := l.intake.take(l.ctx, deadline)
		if err != nil {
			reason := "connection closed"
			if why := l.client.Conn().Err(); why != nil {
				reason = why.Error()
			}
			if !errors.Is(err, io.EOF) {
				reason = err.Error()
			}
			l.m.mu.Lock()
			l.giveUpBodies()
			l.m.mu.Unlock()
			l.m.detached(l, reason)
			l.cancel(errors.New(reason))
			l.deafen()
			return
		}
		l.m.mu.Lock()
		if ok {
			l.handleLocked(ev)
			ev.Release()
		}
		deadline = l.tickLocked(time.Now())
		l.m.mu.Unlock()
	}
}

// deafen ends the realms of the link's targets, and the calls that wait for pages
// to come to rest, because the link has ended.
func (l *link) deafen() {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	for _, w := range l.targets {
		w.deafen()
		if w.settle != nil {
			w.settle.failRest(ErrTargetGone)
		}
	}
}

// close detaches from the browser and waits for the link's goroutines.
func (l *link) close(reason string) {
	l.m.mu.Lock()
	l.ending = true
	l.m.mu.Unlock()
	l.cancel(errors.New(reason))
	l.loop.Wait()
	l.tasks.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), detachPatience)
	defer cancel()
	if err := l.client.Close(ctx); err != nil && !errors.Is(err, cdp.ErrClosed) {
		l.m.log.Debug("detach capture", "error", err)
	}
}

// taskLocked runs f concurrently with the mapping, unless the link is ending. f
// may wait for the browser, and must end with the link's context.
func (l *link) taskLocked(f func()) {
	if !l.ending {
		l.tasks.Go(f)
	}
}

// sendTo sends a command without waiting for its reply. It logs a failure, unless
// the target or the connection is gone, which the link learns by other means.
func (l *link) sendTo(s *cdp.Session, method string, params any) {
	if err := s.Send(method, params); err != nil && !errors.Is(err, cdp.ErrDetached) && !errors.Is(err, cdp.ErrClosed) {
		l.m.log.Debug("capture command", "method", method, "error", err)
	}
}

// reconfigureLocked applies the monitor's configuration to every target.
func (l *link) reconfigureLocked() {
	l.watchServicesLocked(l.m.running)
	if !l.m.running && l.m.awaited == 0 {
		// Frames are not tracked while nothing is captured.
		clear(l.frames)
	}
	for _, w := range l.targets {
		if !l.m.running && l.m.awaited == 0 && (w.kind == "page" || w.kind == "iframe") {
			l.setFrameLocked(w.target, w.rootFrame())
		}
		w.configureLocked(false)
	}
}

// watchServicesLocked starts or stops watching service workers.
func (l *link) watchServicesLocked(watch bool) {
	if l.services == watch {
		return
	}
	l.services = watch
	l.sendTo(l.client.Browser(), target.SetAutoAttach.Method, autoAttach(watch))
	for _, w := range l.targets {
		if w.kind != serviceWorker {
			l.sendTo(w.session, target.SetAutoAttach.Method, autoAttach(watch))
		} else if !watch {
			l.sendTo(l.client.Browser(), target.DetachFromTarget.Method, target.DetachFromTargetParams{SessionID: target.SessionID(w.session.ID())})
		}
	}
}

// handleLocked maps one event.
func (l *link) handleLocked(ev cdp.Event) {
	l.m.limits.Add(limits.CaptureQueue, ev.Skipped)
	if ev.Skipped > 0 && l.m.running {
		l.m.lost += ev.Skipped
		l.m.counts[CategoryMonitor]++
		l.m.ring.Lose(Event{CaptureSessionID: l.m.id}, ev.Skipped, WhyQueueFull)
	}
	if ev.Skipped > 0 && l.flooding != nil {
		l.flooding.Dropped(int(ev.Skipped))
	}
	switch ev.Method {
	case discoveredMark:
		close(l.discovered)
		return
	case heardMark:
		l.awaitHeard(ev.Token.(chan struct{}))
		return
	case silenceMark:
		l.answeredLocked(ev)
		return
	case restMark:
		l.asked(ev.Token.(*rest))
		return
	}
	if handle := targetHandlers[ev.Method]; handle != nil {
		handle(l, ev)
		return
	}
	w := l.targets[ev.Session]
	if w == nil {
		return
	}
	if handle := handlers[ev.Method]; handle != nil {
		handle(w, ev)
	}
}

// tickLocked does what is due and returns when to check again. Zero means at the
// next event.
func (l *link) tickLocked(now time.Time) (next time.Time) {
	for _, w := range l.targets {
		if due := w.tickLocked(now.Add(slack)); !due.IsZero() && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return earliest(next, l.tickBodies(now.Add(slack)))
}

// setFrameLocked remembers a frame.
func (l *link) setFrameLocked(id string, f frame) {
	if _, known := l.frames[id]; known || l.m.fits(len(l.frames), maxFrames) {
		l.frames[id] = f
	}
}
