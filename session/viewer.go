package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"takeover/control"
	"takeover/egress"
	"takeover/id"
	"takeover/invalid"
	"takeover/limits"
	"takeover/links"
	"takeover/screencast"
)

// ViewerOptions describes a viewer.
type ViewerOptions struct {
	Role   Role
	Name   string       // name for others, such as "operator" or a link's id
	Link   *links.Grant // the grant of a guest, who used a link
	Resume string       // the secret word from an earlier view's HelloMessage, to continue with its control
}

// Viewer is one person's open view of a session. Only one goroutine may call
// NextPicture, and only one NextMessage; other methods may be called from any.
type Viewer struct {
	session  *Session
	id       string
	role     Role
	name     string
	guest    bool
	link     string       // the id of a guest's link
	hosts    egress.Hosts // the lists of that link
	takeover string       // the only takeover that a guest with a takeover's link may see
	secret   string       // together with the id, it is the secret word that resumes this view
	out      *outbox
	carried  *carried

	ctx    context.Context // ends with the viewer
	cancel context.CancelFunc

	departure sync.Once // runs Leave or Lost; a second call waits for the first, so that resume finds the reservation that Lost made

	mu   sync.Mutex // guards what follows
	seen *watching  // nil while it sees nothing
	view screencast.View
	left bool
}

// watching is a viewer's subscription to the cast of the shown page.
type watching struct {
	focus               *focus
	sub                 *screencast.Subscription // ends when the focus or the viewer ends
	offFocus, offViewer func() bool              // stop sub from closing when the focus or the viewer ends
}

// lookAt joins the cast of f.
func (v *Viewer) lookAt(f *focus, cast *screencast.Cast) *watching {
	sub := cast.Join(v.view, &v.carried.line)
	return &watching{focus: f, sub: sub, offFocus: context.AfterFunc(f.ctx, sub.Close), offViewer: context.AfterFunc(v.ctx, sub.Close)}
}

// close closes the subscription, which may be nil.
func (w *watching) close() {
	if w != nil {
		w.offFocus()
		w.offViewer()
		w.sub.Close()
	}
}

// Picture is a picture for a viewer. Release it after writing it.
type Picture struct {
	*screencast.Frame
	Tab uint32
}

// Join adds a viewer. Its first messages describe the state of the session. End
// it with Leave.
func (s *Session) Join(o ViewerOptions) (*Viewer, error) {
	v := &Viewer{session: s, id: id.New("v"), secret: newWord(), role: o.Role, name: o.Name, guest: o.Link != nil, out: newOutbox(), carried: &carried{}}
	if o.Link != nil {
		v.takeover, v.link = o.Link.Takeover, o.Link.LinkID
		v.hosts.Allowed, v.hosts.Denied = s.services.links.Hosts(v.link)
	}
	v.ctx, v.cancel = context.WithCancel(context.WithoutCancel(s.ctx))
	resumed := o.Resume != "" && s.resume(v, o.Resume)
	if err := s.welcome(v); err != nil {
		v.cancel()
		if resumed { // give up what the earlier viewer had, as if nobody had returned
			s.control.Release(v.holder())
			s.abandon(v.holder())
		}
		return nil, err
	}
	if resumed { // the viewer gets back what it had, unless somebody took it meanwhile
		s.control.Reclaim(v.holder())
	}
	if o.Link != nil {
		s.services.links.Joined(*o.Link, v.id)
	}
	s.note("viewer_joined", map[string]any{"viewer": v.id, "role": string(v.role)})
	return v, nil
}

// welcome adds a viewer, and sends it the state of the session.
func (s *Session) welcome(v *Viewer) error {
	taken, field, refused := v.taken()
	s.tellMu.Lock()
	defer s.tellMu.Unlock()
	s.mu.Lock()
	if err := s.life.alive(); err != nil {
		s.mu.Unlock()
		return err
	}
	if len(s.viewers) >= maxViewers {
		s.mu.Unlock()
		s.hit(limits.Viewers)
		return fmt.Errorf("%w viewers: a session has at most %d", ErrTooMany, maxViewers)
	}
	if v.guest && s.guestsLocked() >= maxGuests {
		s.mu.Unlock()
		s.hit(limits.Guests)
		return fmt.Errorf("%w viewers by links: a session has at most %d", ErrTooMany, maxGuests)
	}
	s.viewers[v] = struct{}{}
	s.gestures.use()
	crashed := s.Status() == StatusCrashed
	run := s.runs.current()
	hibernates := s.Hibernates()
	s.mu.Unlock()
	wake(s)

	v.send("", HelloMessage{Type: "hello", Session: s.id, Viewer: v.id, Role: v.role, Protocol: 1, Touch: s.opts.IsMobile, Resume: v.id + "." + v.secret, Taken: taken, Field: field, LeaseGrace: s.control.Grace().Milliseconds()})
	if refused != nil {
		v.send("", *refused)
	}
	v.send("control", s.controlMessage(v))
	v.send("tabs", s.tabsFor(v))
	v.send("takeover", s.takeoverMessage(v))
	v.send("life", s.lifeMessage())
	v.send("focus", s.focusFor(v))
	v.send("cursor", s.cursorFor(v))
	if run != nil {
		v.send("run", run.brief())
	}
	if v.maySee() {
		s.resendQuestions(v)
		if v.role != RoleView {
			for _, m := range s.transfers.messages() {
				v.send(m.slot(), m)
			}
		}
	}
	switch {
	case crashed:
		v.send("", StateMessage{Type: "crashed"})
	case hibernates:
		v.send("", StateMessage{Type: "waking"})
	}
	return nil
}

// guestsLocked returns the number of viewers with links.
func (s *Session) guestsLocked() int {
	n := 0
	for v := range s.viewers {
		if v.guest {
			n++
		}
	}
	return n
}

// ID returns the viewer's id, as in the holder of a control lease.
func (v *Viewer) ID() string { return v.id }

// Role returns what the viewer may do.
func (v *Viewer) Role() Role { return v.role }

func (v *Viewer) holder() control.Holder { return control.Person(v.id) }

// Hello handles the viewer's first message, which says how it shows the page.
func (v *Viewer) Hello(view screencast.View) error {
	if view.MaxRate < 0 || view.MaxRate > 240 {
		return invalid.Field("maxFps", "must be between 0 and 240")
	}
	return v.show(view)
}

// Resize changes how the viewer shows the page, but not its rate limit. The page
// keeps the session's dimensions, and the viewer scales it.
func (v *Viewer) Resize(view screencast.View) error {
	v.mu.Lock()
	view.MaxRate = v.view.MaxRate
	v.mu.Unlock()
	return v.show(view)
}

func (v *Viewer) show(view screencast.View) error {
	if view.Width < 0 || view.Width > 1<<15 || view.Height < 0 || view.Height > 1<<15 {
		return invalid.Field("width", "width and height must be between 0 and 32768")
	}
	if !(view.PixelRatio >= 0 && view.PixelRatio <= 16) {
		return invalid.Field("dpr", "must be between 0 and 16")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view = view
	if v.seen != nil {
		v.seen.sub.SetView(view)
	}
	return nil
}

// Ack records that the viewer has drawn picture seq and all earlier ones.
func (v *Viewer) Ack(seq uint32) {
	v.mu.Lock()
	seen := v.seen
	v.mu.Unlock()
	if seen != nil {
		seen.sub.Ack(seq)
	}
}

// RoundTrip records how long an empty message to the viewer and its answer took.
func (v *Viewer) RoundTrip(d time.Duration) { v.carried.line.RoundTrip(d) }

// NextPicture waits for the next picture for the viewer: the newest one, as soon
// as the viewer's acks permit it. It follows the session's active tab. The error
// is screencast.ErrStalled, an ErrEnded, or the cause of ctx.
func (v *Viewer) NextPicture(ctx context.Context) (Picture, error) {
	for {
		f, sub, err := v.watch(ctx)
		if err != nil {
			return Picture{}, err
		}
		frame, err := sub.Next(ctx)
		switch {
		case err == nil:
			v.session.services.stats.viewerPictures.Add(1)
			return Picture{Frame: frame, Tab: f.tab}, nil
		case errors.Is(err, screencast.ErrStalled):
			return Picture{}, err
		}
		// The tab changed, the browser died, or the wait is over: check again.
		v.drop(f)
	}
}

// watchPause is the pause before a page that could not be watched is tried again.
const watchPause = 250 * time.Millisecond

// watch waits for a page that the viewer may see, and returns it with the
// viewer's subscription to its cast.
func (v *Viewer) watch(ctx context.Context) (*focus, *screencast.Subscription, error) {
	for {
		if v.ctx.Err() != nil {
			return nil, nil, ErrEnded
		}
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		f, changed := v.session.tabs.shown()
		var again <-chan time.Time
		if f != nil && v.maySee() {
			sub, err := v.subscribe(f)
			if err == nil {
				return f, sub, nil
			}
			v.session.log.Debug("watch page", "error", err)
			again = time.After(watchPause)
		}
		// There is nothing to see, or the page is just closing; the next change
		// wakes the viewer.
		select {
		case <-changed:
		case <-again:
		case <-v.ctx.Done():
		case <-ctx.Done():
		}
	}
}

func (v *Viewer) subscribe(f *focus) (*screencast.Subscription, error) {
	v.mu.Lock()
	seen := v.seen
	v.mu.Unlock()
	if seen != nil && seen.focus == f {
		return seen.sub, nil
	}
	p, err := f.eng.live.Page(f.ctx, f.page, f.tab)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	if v.left {
		v.mu.Unlock()
		return nil, ErrEnded
	}
	old, seen := v.seen, v.lookAt(f, p.Cast)
	v.seen = seen
	v.mu.Unlock()
	old.close()
	return seen.sub, nil
}

// drop leaves the cast of f.
func (v *Viewer) drop(f *focus) {
	v.mu.Lock()
	seen := v.seen
	if seen == nil || seen.focus != f {
		v.mu.Unlock()
		return
	}
	v.seen = nil
	v.mu.Unlock()
	seen.close()
}

// NextMessage waits for the next message: one of the types of this package that
// end in Message. After EndedMessage, the error is io.EOF.
func (v *Viewer) NextMessage(ctx context.Context) (any, error) { return v.out.next(ctx) }

// CastStats returns the figures of the viewer's pictures since the last call.
func (v *Viewer) CastStats() screencast.Stats {
	v.mu.Lock()
	seen := v.seen
	v.mu.Unlock()
	if seen == nil {
		return screencast.Stats{}
	}
	return seen.sub.Stats()
}

// Leave ends the view: it releases what the viewer held down and gives control
// back. It may be called again.
func (v *Viewer) Leave() { v.departure.Do(func() { v.leave(true) }) }

// leave ends the view, and with giveBack also the viewer's control. departure
// calls it.
func (v *Viewer) leave(giveBack bool) {
	s := v.session
	v.mu.Lock()
	seen := v.seen
	v.left, v.seen = true, nil
	v.mu.Unlock()
	v.cancel()
	seen.close()
	s.mu.Lock()
	delete(s.viewers, v)
	s.gestures.use()
	alone := !s.answerableLocked()
	s.mu.Unlock()
	s.control.Withdraw(v.holder())
	if giveBack {
		if v.works() {
			s.control.Away(v.holder(), string(v.role), v.secret, false, v.carried)
		}
		s.control.GiveUp(v.holder())
	}
	if alone {
		s.questions.Abandoned()
	}
	watchersChanged(s, s.control.Grace())
	v.out.close()
	s.note("viewer_left", map[string]any{"viewer": v.id, "role": string(v.role)})
	s.life.wakeClock()
}

// works reports whether the viewer is in control or has claimed the open
// takeover.
func (v *Viewer) works() bool {
	holder := v.session.control.Holder()
	t := v.session.openTakeover()
	return holder == v.holder() || t != nil && t.Info().ClaimedBy == v.holder().String()
}

// end tells the viewer that the session has ended. Its casts ended with the
// browser.
func (v *Viewer) end(reason string) {
	v.send("", EndedMessage{Type: "ended", Reason: reason})
	v.out.close()
	v.cancel()
}

// send queues a message. A viewer that does not read is disconnected.
func (v *Viewer) send(slot string, message any) {
	if !v.out.put(slot, message) {
		v.session.hit(limits.ViewerOutbox)
		v.session.log.Warn("viewer does not read", "viewer", v.id)
		v.out.close()
		v.cancel()
	}
}
