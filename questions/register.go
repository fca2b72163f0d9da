package questions

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"takeover/browser"
)

// answerTimeout bounds how long the browser may take to carry out an answer.
const answerTimeout = 10 * time.Second

// question is something that a page asks of people. Its fields do not change,
// except for those that the register guards.
type question struct {
	id      string
	page    *browser.Page // guarded by the register: a permission's page may change
	to      Audience
	slot    string // see Host.Tell
	message any    // asks the viewers; guarded by the register: a picker's message may change
	closed  any    // withdraws the question
	about   any    // fields that are specific to the kind of question

	// stays reports whether the page still asks after its address has changed. It
	// is nil for kinds that notice the end of the document themselves.
	stays    func(url string) bool
	document <-chan struct{} // closed when the document is gone; nil for kinds that notice it in another way
	place    <-chan struct{} // closed when the page is no longer shown; nil for questions that do not depend on that
	personal bool            // belongs to the person in control, and ends when control changes hands
	programs bool            // programs may answer it, too

	refuse func(context.Context) error // gives the page a negative answer; nil if no page waits
	letGo  func()                      // runs when the question ends without any answer; may be nil

	over chan struct{} // closed when the question has ended
}

// register holds the open questions of a session, and implements the rule of this
// package about their end. It has its own lock, and never calls the host while
// that is held.
type register struct {
	ctx  context.Context // ends with the session
	host Host
	log  *slog.Logger

	mu     sync.Mutex // guards what follows
	open   []*question
	sealed bool // the session is over: nothing is added or started
	work   sync.WaitGroup
}

func newRegister(ctx context.Context, host Host, log *slog.Logger) *register {
	return &register{ctx: ctx, host: host, log: log}
}

// add asks the viewers. If a page waits and nobody who may answer is present, it
// refuses the question at once.
func (r *register) add(q *question) {
	if r.insert(q) {
		r.ask(q)
	}
}

// insert opens a question without telling anybody. If the session is over, it
// returns false and lets go of the question.
func (r *register) insert(q *question) bool {
	q.over = make(chan struct{})
	r.mu.Lock()
	sealed := r.sealed
	if !sealed {
		r.open = append(r.open, q)
	}
	r.mu.Unlock()
	if sealed {
		q.release()
	}
	return !sealed
}

// ask tells the viewers about a question that was inserted, and watches for its
// end.
func (r *register) ask(q *question) {
	if q.refuse != nil && !r.host.Answerable() && !r.leftToPrograms(q) {
		if r.remove(q) {
			r.refuse(q)
		}
		return
	}
	r.tell(q)
	if q.document != nil || q.place != nil {
		r.spawn(func() { r.watch(q) })
	}
}

// leftToPrograms reports whether a program may answer a question instead of a
// person.
func (r *register) leftToPrograms(q *question) bool { return q.programs && r.host.ProgramsAnswer() }

// watch drops a question when its document or its place is gone.
func (r *register) watch(q *question) {
	select {
	case <-q.document:
	case <-q.place:
	case <-q.over:
		return
	case <-r.ctx.Done():
		return
	}
	r.dropIf(func(o *question) bool { return o == q })
}

// change replaces the message of an open question and tells the viewers.
func (r *register) change(q *question, message any) {
	r.mu.Lock()
	q.message = message
	r.mu.Unlock()
	r.tell(q)
}

// tell sends the message of a question to each viewer, if the question is still
// open at that moment. So no viewer gets a question after its end.
func (r *register) tell(q *question) {
	r.host.Tell(q.to, q.slot, func() any {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !slices.Contains(r.open, q) {
			return nil
		}
		return q.message
	})
}

// find returns an open question that match accepts, or nil.
func (r *register) find(match func(*question) bool) *question {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.open, match); i >= 0 {
		return r.open[i]
	}
	return nil
}

// count returns how many open questions match accepts.
func (r *register) count(match func(*question) bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, q := range r.open {
		if match(q) {
			n++
		}
	}
	return n
}

// movePage moves a question to another page.
func (r *register) movePage(q *question, page *browser.Page) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.open, q) {
		q.page = page
	}
}

// take ends the open question with an id for the caller, who answers it, and
// withdraws it from the viewers. It returns nil if there is no open question of
// that id and kind. So if there are two answers, only one succeeds.
func (r *register) take(id string, kind func(*question) bool) *question {
	q := r.find(func(q *question) bool { return q.id == id && kind(q) })
	if q == nil || !r.remove(q) {
		return nil
	}
	r.takeBack(q)
	return q
}

// drop ends the questions of a page whose document is gone.
func (r *register) drop(page *browser.Page) {
	r.dropIf(func(q *question) bool { return q.page == page })
}

// moved ends the questions of a page that do not survive a change of its address.
func (r *register) moved(page *browser.Page, url string) {
	r.dropIf(func(q *question) bool { return q.page == page && q.stays != nil && !q.stays(url) })
}

// controlChanged ends the questions that belong to the person who had control.
func (r *register) controlChanged() {
	r.dropIf(func(q *question) bool { return q.personal })
}

// dropAll ends all questions, because the browser died.
func (r *register) dropAll() { r.dropIf(func(*question) bool { return true }) }

// dropIf ends the questions that match accepts and withdraws them from the
// viewers. match is called under the lock.
func (r *register) dropIf(match func(*question) bool) {
	for _, q := range r.removeIf(match) {
		r.takeBack(q)
		q.release()
	}
}

// abandoned gives every waiting page a negative answer, because nobody who may
// answer is left.
func (r *register) abandoned() {
	programs := r.host.ProgramsAnswer()
	for _, q := range r.removeIf(func(q *question) bool { return q.refuse != nil && !(q.programs && programs) }) {
		r.takeBack(q)
		r.refuse(q)
	}
}

// messages returns the messages of the open questions, oldest first. A viewer who
// may not act gets only those for everybody who sees the page.
func (r *register) messages(mayAct bool) []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []any
	for _, q := range r.open {
		if mayAct || q.to == Seeing {
			list = append(list, q.message)
		}
	}
	return list
}

// close ends all questions and waits for the goroutines. It does not tell the
// viewers, because they learn that the session has ended.
func (r *register) close() {
	r.mu.Lock()
	r.sealed = true
	r.mu.Unlock()
	for _, q := range r.removeIf(func(*question) bool { return true }) {
		q.release()
	}
	r.work.Wait()
}

// spawn runs fn on a goroutine that close waits for. After close, it does
// nothing.
func (r *register) spawn(fn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.sealed {
		r.work.Go(fn)
	}
}

func (r *register) remove(q *question) bool {
	return len(r.removeIf(func(o *question) bool { return o == q })) > 0
}

func (r *register) removeIf(match func(*question) bool) (removed []*question) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = slices.DeleteFunc(r.open, func(q *question) bool {
		if !match(q) {
			return false
		}
		close(q.over)
		removed = append(removed, q)
		return true
	})
	return removed
}

// takeBack tells the viewers that a question is no longer open.
func (r *register) takeBack(q *question) {
	r.host.Tell(q.to, q.slot, func() any { return q.closed })
}

// refuse gives the page of a removed question a negative answer.
func (r *register) refuse(q *question) {
	r.spawn(func() {
		ctx, cancel := context.WithTimeout(r.ctx, answerTimeout)
		defer cancel()
		if err := q.refuse(ctx); err != nil && r.ctx.Err() == nil {
			r.log.Warn("refuse what a page asks", "question", q.id, "error", err)
		}
	})
}

func (q *question) release() {
	if q.letGo != nil {
		q.letGo()
	}
}

// isAbout reports whether a question is about a T, which identifies its kind.
func isAbout[T any](q *question) bool {
	_, ok := q.about.(T)
	return ok
}
