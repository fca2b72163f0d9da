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
)

// asker finds out which field a person's keys go to. The agents in the pages
// report secret fields, but a script with a CDP session could stop them. So
// when a person presses or types something and no secret field is known, the
// asker asks Chromium. It does not delay the keys: a first key that is found to
// belong to a secret is added a moment after the page got it.
type asker struct {
	session *Session
	desk    *widget.Desk
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

func newAsker(s *Session) *asker {
	a := &asker{session: s, wake: make(chan struct{}, 1)}
	a.ctx, a.cancel = context.WithCancel(s.ctx)
	return a
}

func (a *asker) start(d *widget.Desk) {
	a.desk = d
	a.work.Go(a.run)
}

func (a *asker) close() {
	a.cancel()
	a.work.Wait()
}

// press asks what has the focus of a page.
func (a *asker) press(p *browser.Page) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.queue); n == 0 || a.queue[n-1].page != p {
		a.addLocked(&question{page: p})
	}
}

// moves records input of a person that may move the focus, before the page gets it. Keys
// that still wait for their answer went where the focus is until then. It counts as a
// field that is not secret if the agents have said so since the focus may have moved to it.
func (a *asker) moves(p *browser.Page) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.movesLocked(p)
}

func (a *asker) movesLocked(p *browser.Page) {
	reports, plain := a.desk.Reported(p)
	if plain && (a.moved.page != p || reports > a.moved.reports) {
		for _, q := range a.keys {
			if q.page == p && !q.plain {
				q.plain, q.reports = true, reports
			}
		}
	}
	a.moved = focusMove{p, reports}
}

// typed records a key that is about to be sent to a page, now if its field is
// known to be secret.
func (a *asker) typed(p *browser.Page, k Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k.Key == "Tab" || k.Key == "Enter" {
		a.movesLocked(p)
	}
	if kind := a.desk.Secret(p); kind != "" && len(a.keys) == 0 {
		a.session.secrets.Key(k, kind)
		return
	}
	a.addLocked(&question{page: p, key: &k})
}

// addLocked adds a question. Those about keys are answered in their order.
func (a *asker) addLocked(q *question) {
	if len(a.queue) >= maxAsked {
		a.session.hit(limits.Asked)
		return
	}
	if q.key != nil {
		a.keys = append(a.keys, q)
	}
	a.queue = append(a.queue, q)
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *asker) take() []*question {
	a.mu.Lock()
	defer a.mu.Unlock()
	taken := a.queue
	a.queue = nil
	return taken
}

// run answers the questions in their order. It asks about the last page once more
// a moment later, because the page may still have been handling the press, and
// then for as long as a secret field has the focus there.
func (a *asker) run() {
	var last *browser.Page
	for {
		var again <-chan time.Time
		if last != nil {
			again = time.After(askAgain)
		}
		select {
		case <-a.ctx.Done():
			return
		case <-again:
			a.ask(last)
			if a.desk.Secret(last) == "" || !a.session.control.Holder().IsPerson() {
				last = nil
			}
		case <-a.wake:
			if asked := a.answerAll(); asked != nil {
				last = asked
			}
		}
	}
}

// answerAll answers the waiting questions, and returns the page of the last one.
func (a *asker) answerAll() (last *browser.Page) {
	for questions := a.take(); len(questions) > 0; questions = a.take() {
		last = nil
		for _, q := range questions {
			if q.page != last {
				a.ask(q.page)
				last = q.page
			}
			a.answer(q)
		}
	}
	return last
}

// answer records a key if its field was found to be secret.
func (a *asker) answer(q *question) {
	if q.key == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys = a.keys[1:]
	reports, _ := a.desk.Reported(q.page)
	if kind := a.desk.Secret(q.page); kind != "" && !(q.plain && reports > q.reports) {
		a.session.secrets.Key(*q.key, kind)
	}
}

func (a *asker) ask(p *browser.Page) {
	ctx, cancel := context.WithTimeout(a.ctx, askTimeout)
	defer cancel()
	if err := a.desk.Ask(ctx, p); err != nil && a.ctx.Err() == nil {
		a.session.log.Debug("ask for the focused field", "error", err)
	}
}
