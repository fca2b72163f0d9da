package session

import (
	"context"
	"sync"
	"time"

	"takeover/browser"
	"takeover/limits"
	"takeover/widget"
)

const (
	askTimeout = time.Second            // how long a page may take to say which field has the focus
	askAgain   = 500 * time.Millisecond // until the next question about a page where a person acted
	maxAsked   = 256                    // keys that wait for the answer
	agentLate  = 250 * time.Millisecond // how long an agent may take to say where a press has moved the focus
)

// focusProbe finds out which field a person's keys go to. The agents in the pages
// report secret fields, but a script with a CDP session could stop them. So
// when a person presses or types something and no secret field is known, the
// probe asks Chromium. It does not delay the keys: a first key that is found to
// belong to a secret is added a moment after the page got it.
type focusProbe struct {
	session *Session
	tracker *widget.Tracker
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup
	wake    chan struct{} // has space for one

	mu    sync.Mutex // guards what follows
	queue []*question
	keys  []*question // those about keys, without an answer yet
	moved focusMove   // the last input of a person that may have moved the focus
}

// question asks where a key went, or without a key, what has the focus now.
type question struct {
	page *browser.Page
	key  *Key
	// plain says that the key went to a field that is not secret, if the agents have
	// reported the focus more than reports times by now. Otherwise they may be stopped.
	plain   bool
	reports uint64
}

// focusMove is input that may have moved the focus, after so many reports of the page's
// focus.
type focusMove struct {
	page    *browser.Page
	reports uint64
}

func newFocusProbe(s *Session) *focusProbe {
	f := &focusProbe{session: s, wake: make(chan struct{}, 1)}
	f.ctx, f.cancel = context.WithCancel(s.ctx)
	return f
}

func (f *focusProbe) start(t *widget.Tracker) {
	f.tracker = t
	f.work.Go(f.run)
}

func (f *focusProbe) close() {
	f.cancel()
	f.work.Wait()
}

// press asks what has the focus of a page.
func (f *focusProbe) press(p *browser.Page) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.queue); n == 0 || f.queue[n-1].page != p {
		f.addLocked(&question{page: p})
	}
}

// moves records input of a person that may move the focus, before the page gets it. Keys
// that still wait for their answer went where the focus is until then. It counts as a
// field that is not secret if the agents have said so since the focus may have moved to it.
func (f *focusProbe) moves(p *browser.Page) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.movesLocked(p)
}

func (f *focusProbe) movesLocked(p *browser.Page) {
	reports, plain := f.tracker.Reported(p)
	if plain && (f.moved.page != p || reports > f.moved.reports) {
		for _, q := range f.keys {
			if q.page == p && !q.plain {
				q.plain, q.reports = true, reports
			}
		}
	}
	f.moved = focusMove{p, reports}
}

// typed records a key that is about to be sent to a page, now if its field is
// known to be secret.
func (f *focusProbe) typed(p *browser.Page, k Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if k.Key == "Tab" || k.Key == "Enter" {
		f.movesLocked(p)
	}
	if kind := f.tracker.Secret(p); kind != "" && len(f.keys) == 0 {
		f.session.secrets.Key(k, kind)
		return
	}
	f.addLocked(&question{page: p, key: &k})
}

// addLocked adds a question. Those about keys are answered in their order.
func (f *focusProbe) addLocked(q *question) {
	if len(f.queue) >= maxAsked {
		f.session.hit(limits.Asked)
		return
	}
	if q.key != nil {
		f.keys = append(f.keys, q)
	}
	f.queue = append(f.queue, q)
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *focusProbe) take() []*question {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.queue
	f.queue = nil
	return taken
}

// run answers the questions in their order. It asks about the last page once more
// a moment later, because the page may still have been handling the press, and
// then for as long as a secret field has the focus there.
func (f *focusProbe) run() {
	var last *browser.Page
	for {
		var again <-chan time.Time
		if last != nil {
			again = time.After(askAgain)
		}
		select {
		case <-f.ctx.Done():
			return
		case <-again:
			f.ask(last)
			if f.tracker.Secret(last) == "" || !f.session.control.Holder().IsPerson() {
				last = nil
			}
		case <-f.wake:
			if asked := f.answerAll(); asked != nil {
				last = asked
			}
		}
	}
}

// answerAll answers the waiting questions, and returns the page of the last one.
func (f *focusProbe) answerAll() (last *browser.Page) {
	for questions := f.take(); len(questions) > 0; questions = f.take() {
		last = nil
		late := false // an agent has not told where the focus is; the others of these keys do not wait for it
		for _, q := range questions {
			if q.page != last {
				f.ask(q.page)
				last = q.page
			}
			late = late || !f.awaitReport(q)
			f.answer(q)
		}
	}
	return last
}

// secretLocked returns the kind of the secret field to which a key went, or "". sure is
// false while an agent has said that the key's field is not secret, but not yet that the
// focus has moved on to a secret one: it may be late, or stopped.
func (f *focusProbe) secretLocked(q *question) (kind string, sure bool) {
	reports, _ := f.tracker.Reported(q.page)
	kind = f.tracker.Secret(q.page)
	switch {
	case kind == "" || !q.plain:
		return kind, true
	case reports > q.reports:
		return "", true
	}
	return kind, false
}

// awaitReport waits until it is sure where a key went, for agentLate at most. It returns
// false if that was too short.
func (f *focusProbe) awaitReport(q *question) bool {
	late := time.After(agentLate)
	for {
		changed := f.session.secrets.Changed()
		f.mu.Lock()
		_, sure := f.secretLocked(q)
		f.mu.Unlock()
		if sure {
			return true
		}
		select {
		case <-changed:
		case <-late:
			return false
		case <-f.ctx.Done():
			return false
		}
	}
}

// answer records a key if its field was found to be secret.
func (f *focusProbe) answer(q *question) {
	if q.key == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = f.keys[1:]
	if kind, _ := f.secretLocked(q); kind != "" {
		f.session.secrets.Key(*q.key, kind)
	}
}

func (f *focusProbe) ask(p *browser.Page) {
	ctx, cancel := context.WithTimeout(f.ctx, askTimeout)
	defer cancel()
	if err := f.tracker.Ask(ctx, p); err != nil && f.ctx.Err() == nil {
		f.session.log.Debug("ask for the focused field", "error", err)
	}
}
