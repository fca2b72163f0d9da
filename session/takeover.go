package session

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"takeover/codegen"
	"takeover/control"
	"takeover/egress"
	"takeover/id"
	"takeover/invalid"
	"takeover/links"
)

// TakeoverState is the state of a takeover.
type TakeoverState string

// The states of a takeover: the first two are open, the others are final.
const (
	TakeoverPending   TakeoverState = "pending"
	TakeoverClaimed   TakeoverState = "claimed"
	TakeoverDone      TakeoverState = "done"
	TakeoverFailed    TakeoverState = "failed"
	TakeoverExpired   TakeoverState = "expired"
	TakeoverCancelled TakeoverState = "cancelled"
)

// Open reports whether somebody may still answer.
func (s TakeoverState) Open() bool { return s == TakeoverPending || s == TakeoverClaimed }

// TakeoverOptions describes a request for a person.
type TakeoverOptions struct {
	Reason      string
	Timeout     time.Duration // until it expires; default Options.TakeoverTimeout
	Until       string        // a selector or a URL glob; the takeover completes when it is met
	Note        string        // more text for the person
	RequestedBy string        // "script", "api", …
	RunID       string        // the run that makes the request, if any
	Hosts       egress.Hosts  // while it is open, they narrow what the session reaches
	Steps       bool          // keep what the person does as steps of a script

	program control.Holder // the program that waits for the outcome; Nobody if none does
}

// TakeoverInfo is a takeover in the form of the API.
type TakeoverInfo struct {
	ID          string        `json:"id" doc:"The takeover's id."`
	SessionID   string        `json:"sessionId" doc:"The session that needs a person."`
	RunID       string        `json:"runId,omitempty" doc:"The run that asked."`
	Reason      string        `json:"reason" doc:"What a person should do."`
	RequestNote string        `json:"requestNote,omitempty" doc:"More text for the person."`
	RequestedBy string        `json:"requestedBy" doc:"Who asked: script, api or another program."`
	State       TakeoverState `json:"state" doc:"pending or claimed while it is open; done, failed, expired or cancelled at the end."`
	CreatedAt   time.Time     `json:"createdAt" doc:"When somebody asked."`
	Deadline    time.Time     `json:"deadline" doc:"When it expires."`
	ClaimedBy   string        `json:"claimedBy" doc:"Who works on it; empty while nobody does."`
	ClaimedAt   *time.Time    `json:"claimedAt" doc:"When it was first claimed; null while nobody works on it."`
	EndedAt     *time.Time    `json:"endedAt" doc:"When it ended; null before."`
	Note        string        `json:"note" doc:"The person's text at the end."`
	URL         string        `json:"url" doc:"The link for the person."`
	Hosts       []string      `json:"hosts,omitempty" doc:"The only hosts that the session reaches meanwhile."`
	DeniedHosts []string      `json:"deniedHosts,omitempty" doc:"Hosts that the session does not reach meanwhile."`
	Changes     *Changes      `json:"changes" doc:"What changed while a person worked; null before the end."`

	KeepsSteps bool                 `json:"keepsSteps,omitempty" doc:"Whether what the person does is kept as steps of a script."`
	Steps      []codegen.PersonStep `json:"steps,omitempty" doc:"At the end, what the person did, if that is kept. Secrets are not in it."`
	StepsCut   bool                 `json:"stepsCut,omitempty" doc:"Whether the person did more than there was room for."`
}

// ForGuests returns what people with a link may see: without the link, whose role may be
// stronger than theirs, who requested the takeover, and what changed while a person worked.
// The note is for whoever may help, and not for those who only watch.
func (i TakeoverInfo) ForGuests(role Role) TakeoverInfo {
	i.URL, i.RequestedBy = "", ""
	if role == RoleView {
		i.RequestNote = ""
	}
	i.Changes, i.Steps = nil, nil
	return i
}

// Takeover is a request for a person.
type Takeover struct {
	session *Session
	timer   *time.Timer
	timeout time.Duration  // of the request
	program control.Holder // the program that waits for the outcome: a script, a client, or Nobody
	before  snapshot
	ended   chan struct{}

	following following

	mu   sync.Mutex // guards info
	info TakeoverInfo
}

// ID returns the takeover's id.
func (t *Takeover) ID() string { return t.info.ID } // never changes

// Session returns the session that the takeover belongs to.
func (t *Takeover) Session() *Session { return t.session }

// Info returns the present state of the takeover.
func (t *Takeover) Info() TakeoverInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.info
}

// Ended returns a channel that is closed when the takeover is in a final state.
func (t *Takeover) Ended() <-chan struct{} { return t.ended }

// Claim records that somebody works on the takeover. The claimer may claim it
// again. For others, the error is ErrClaimed while the claimer is present.
func (t *Takeover) Claim(by string) error {
	for {
		before := t.Info()
		if before.State == TakeoverClaimed && before.ClaimedBy != by && t.session.present(claimer(before.ClaimedBy)) {
			return ErrClaimed
		}
		t.mu.Lock()
		if t.info.ClaimedBy != before.ClaimedBy { // by another person, meanwhile
			t.mu.Unlock()
			continue
		}
		if state := t.info.State; !state.Open() {
			t.mu.Unlock()
			return over{state}
		}
		again := t.info.State == TakeoverClaimed && t.info.ClaimedBy == by
		t.info.State, t.info.ClaimedBy = TakeoverClaimed, by
		if t.info.ClaimedAt == nil {
			t.info.ClaimedAt = new(time.Now().UTC())
		}
		t.mu.Unlock()
		if !again {
			t.session.takeoverChanged(t)
		}
		return nil
	}
}

// unclaim takes the takeover from a claimer who is gone. The person in control
// gets it, if there is one; otherwise everybody is asked again.
func (t *Takeover) unclaim(by control.Holder) {
	s := t.session
	if holder := s.control.Holder(); holder.IsPerson() && t.Info().ClaimedBy == by.String() {
		_ = t.Claim(holder.String()) // if it has just ended or another person was faster, nothing needs to be done
		return
	}
	t.mu.Lock()
	if t.info.State != TakeoverClaimed || t.info.ClaimedBy != by.String() {
		t.mu.Unlock()
		return
	}
	t.info.State, t.info.ClaimedBy, t.info.ClaimedAt = TakeoverPending, "", nil
	t.mu.Unlock()
	s.takeoverRequested(t)
}

// claimer returns the person who made a claim, by the name in the record. A claim
// by the API has no person.
func claimer(name string) control.Holder {
	person, _ := control.Parse(name)
	return person
}

// Done records that the person has finished.
func (t *Takeover) Done(by, note string) error { return t.finish(TakeoverDone, by, note) }

// Fail records that the person cannot do it, and why.
func (t *Takeover) Fail(by, reason string) error { return t.finish(TakeoverFailed, by, reason) }

// MayResolve returns ErrWorking while a person other than by has control, even if
// that person's connection just broke, because a guest must not end another
// person's work. Operators may do so, and do not call it. by may be
// control.Nobody.
func (t *Takeover) MayResolve(by control.Holder) error {
	if holder := t.session.control.Holder(); t.Info().State.Open() && holder.IsPerson() && holder != by {
		return ErrWorking
	}
	return nil
}

// Cancel withdraws the request.
func (t *Takeover) Cancel(by string) error { return t.finish(TakeoverCancelled, by, "") }

// Extend moves the deadline to the given time from now, at most
// MaxTakeoverTimeout after the request.
func (t *Takeover) Extend(timeout time.Duration) error {
	if timeout < time.Second || timeout > MaxTakeoverTimeout {
		return invalid.Field("timeout", "must be between 1000 and 86400000 ms")
	}
	t.mu.Lock()
	if state := t.info.State; !state.Open() {
		t.mu.Unlock()
		return over{state}
	}
	t.info.Deadline = time.Now().UTC().Add(timeout)
	if latest := t.info.CreatedAt.Add(MaxTakeoverTimeout); t.info.Deadline.After(latest) {
		t.info.Deadline = latest
	}
	t.timer.Reset(time.Until(t.info.Deadline))
	t.mu.Unlock()
	t.archive()
	t.session.sendTakeover()
	return nil
}

// moreTime gives a person the original timeout again, counted from now.
func (t *Takeover) moreTime() error { return t.Extend(t.timeout) }

// expire ends the takeover unless it was just extended.
func (t *Takeover) expire() {
	if time.Until(t.Info().Deadline) <= 0 {
		_ = t.finish(TakeoverExpired, "", "") // it may have just ended
	}
}

// over is the error of an action on a takeover that has ended. It is an ErrTakeoverState.
type over struct{ state TakeoverState }

func (e over) Error() string        { return "this takeover has ended: it is " + string(e.state) }
func (e over) Is(target error) bool { return target == ErrTakeoverState }

// finish moves the takeover to a final state. Only the first call counts.
func (t *Takeover) finish(state TakeoverState, by, note string) error {
	if utf8.RuneCountInString(note) > maxNote {
		return invalid.Field("note", "must be at most %d characters", maxNote)
	}
	if state := t.Info().State; !state.Open() {
		return over{state}
	}
	t.mu.Lock()
	before := t.before
	t.mu.Unlock()
	steps, cut := unfollow(t)
	changes := t.session.changesSince(before) // not under the lock, because it asks the browser
	now := time.Now().UTC()
	t.mu.Lock()
	if state := t.info.State; !state.Open() {
		t.mu.Unlock()
		return over{state}
	}
	t.before = snapshot{}
	t.info.State, t.info.EndedAt, t.info.Note, t.info.Changes = state, &now, t.session.monitor.Redactor().Values(strings.TrimSpace(note)), changes
	t.info.Steps, t.info.StepsCut = steps, cut
	if t.info.ClaimedBy == "" && (state == TakeoverDone || state == TakeoverFailed) {
		t.info.ClaimedBy = by
	}
	t.mu.Unlock()
	t.timer.Stop()
	t.session.services.links.Expire(t.ID())
	t.session.takeoverEnded(t)
	t.session.control.Unreserve()
	t.session.record(t.key(), t.write) // before whoever waits or has ended it is told
	close(t.ended)
	return nil
}

// linkGrace is how long the link of a takeover outlives its latest possible
// deadline. Until then, a late visitor reads that the deadline has passed, and
// not that the link is wrong.
const linkGrace = 5 * time.Minute

// addLink creates the share link of a takeover, so that everybody who gets the
// URL can use it. The URL opens the takeover, so the server decides who may see
// it.
func (t *Takeover) addLink() {
	_, secret, err := t.session.CreateLink(links.Options{Role: RoleTakeover, Takeover: t.ID(), ExpiresIn: MaxTakeoverTimeout + linkGrace, CreatedBy: "takeover"})
	if err != nil { // if there are too many links, a person needs a key
		t.session.log.Warn("link of a takeover", "error", err)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.info.URL += "#" + secret
}

// newTakeover checks the options and returns a pending takeover without a link.
func (s *Session) newTakeover(o TakeoverOptions) (*Takeover, error) {
	reason := strings.TrimSpace(o.Reason)
	if o.Timeout == 0 {
		o.Timeout = s.services.settings.takeoverTimeout
	}
	var bad []invalid.FieldError
	if reason == "" {
		bad = append(bad, invalid.FieldError{Field: "reason", Error: "is required: say what a person should do"})
	}
	if utf8.RuneCountInString(reason) > MaxReason {
		bad = append(bad, invalid.FieldError{Field: "reason", Error: "must be at most 500 characters"})
	}
	if utf8.RuneCountInString(o.Note) > maxNote {
		bad = append(bad, invalid.FieldError{Field: "note", Error: "must be at most 2000 characters"})
	}
	if o.Timeout < time.Second || o.Timeout > MaxTakeoverTimeout {
		bad = append(bad, invalid.FieldError{Field: "timeout", Error: "must be between 1000 and 86400000 ms"})
	}
	bad = append(bad, wrongHosts("hosts", o.Hosts)...)
	if len(bad) > 0 {
		return nil, &invalid.Error{Fields: bad}
	}
	id, now, before := id.New("to"), time.Now().UTC(), s.snapshot()
	shown := uint32(0)
	if f := s.shown(); f != nil {
		shown = f.tab
	}
	return &Takeover{
		session: s,
		timeout: o.Timeout,
		program: o.program,
		before:  before,
		ended:   make(chan struct{}),

		following: followingFrom(o, before, shown),
		info: TakeoverInfo{
			ID: id, SessionID: s.id, RunID: o.RunID, Reason: reason, RequestNote: o.Note, RequestedBy: o.RequestedBy,
			State: TakeoverPending, CreatedAt: now, Deadline: now.Add(o.Timeout),
			URL:   s.services.settings.publicURL() + "/takeover/" + id,
			Hosts: o.Hosts.Allowed, DeniedHosts: o.Hosts.Denied, KeepsSteps: o.Steps,
		},
	}, nil
}
