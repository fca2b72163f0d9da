package questions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"takeover/browser"
)

// room is the host for the tests of this package. It records what viewers are
// told.
type room struct {
	deserted atomic.Bool // nobody who may answer is present
	control  atomic.Int32

	mu   sync.Mutex // guards what follows
	told []any
	more chan struct{} // closed and replaced when something was told
}

func newRoom() *room { return &room{more: make(chan struct{})} }

func (r *room) Tell(_ Audience, _ string, message func() any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := message(); m != nil {
		r.told = append(r.told, m)
		close(r.more)
		r.more = make(chan struct{})
	}
}

func (r *room) ProgramsAnswer() bool { return false }

func (r *room) Answerable() bool { return !r.deserted.Load() }

func (r *room) Control() Control { return Control(r.control.Load()) }

// said returns what viewers were told so far, and a channel that is closed when
// there is more.
func (r *room) said() ([]any, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.told), r.more
}

// example is a test's question that counts how it ended.
type example struct {
	*question
	refused, released chan struct{}
}

// newExample returns a question whose page waits, and which survives a change to
// an address below /stays.
func newExample(id string, page *browser.Page) *example {
	e := &example{refused: make(chan struct{}), released: make(chan struct{})}
	e.question = &question{
		id: id, page: page, about: id, message: id, closed: id + " closed",
		stays:  func(url string) bool { return url == "/stays" },
		refuse: func(context.Context) error { close(e.refused); return nil },
		letGo:  func() { close(e.released) },
	}
	return e
}

func openRegister(t *testing.T, host Host) *register {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := newRegister(ctx, host, slog.New(slog.DiscardHandler))
	t.Cleanup(r.close)
	t.Cleanup(cancel)
	return r
}

// TestRegisterEndsQuestions tries everything that may end a question.
func TestRegisterEndsQuestions(t *testing.T) {
	type end int
	const (
		stays end = iota
		taken
		dropped // released without an answer
		refused
	)
	for name, c := range map[string]struct {
		prepare func(*question)
		act     func(r *register, h *room, q *question)
		want    end
	}{
		"answered":                   {act: func(r *register, _ *room, q *question) { r.take(q.id, isAbout[string]) }, want: taken},
		"answered as another kind":   {act: func(r *register, _ *room, q *question) { r.take(q.id, isAbout[int]) }},
		"another one answered":       {act: func(r *register, _ *room, _ *question) { r.take("other", isAbout[string]) }},
		"page gone":                  {act: func(r *register, _ *room, q *question) { r.drop(q.page) }, want: dropped},
		"another page gone":          {act: func(r *register, _ *room, _ *question) { r.drop(new(browser.Page)) }},
		"page moved":                 {act: func(r *register, _ *room, q *question) { r.moved(q.page, "/elsewhere") }, want: dropped},
		"page moved within":          {act: func(r *register, _ *room, q *question) { r.moved(q.page, "/stays") }},
		"another page moved":         {act: func(r *register, _ *room, _ *question) { r.moved(new(browser.Page), "/elsewhere") }},
		"page moved, told otherwise": {prepare: func(q *question) { q.stays = nil }, act: func(r *register, _ *room, q *question) { r.moved(q.page, "/elsewhere") }},
		"browser died":               {act: func(r *register, _ *room, _ *question) { r.dropAll() }, want: dropped},
		"nobody left, page waits":    {act: func(r *register, _ *room, _ *question) { r.abandoned() }, want: refused},
		"nobody left, no page waits": {prepare: func(q *question) { q.refuse = nil }, act: func(r *register, _ *room, _ *question) { r.abandoned() }},
		"control changed":            {act: func(r *register, _ *room, _ *question) { r.controlChanged() }},
		"control changed, personal":  {prepare: func(q *question) { q.personal = true }, act: func(r *register, _ *room, _ *question) { r.controlChanged() }, want: dropped},
		"document gone":              {prepare: func(q *question) { q.document = closedChannel() }, act: func(*register, *room, *question) {}, want: dropped},
		"page not shown any more":    {prepare: func(q *question) { q.place = closedChannel() }, act: func(*register, *room, *question) {}, want: dropped},
		"document stays":             {prepare: func(q *question) { q.document = make(chan struct{}) }, act: func(*register, *room, *question) {}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newRoom()
			r := openRegister(t, h)
			q, other := newExample("asked", new(browser.Page)), newExample("other", new(browser.Page))
			other.stays, other.refuse = nil, nil
			if c.prepare != nil {
				c.prepare(q.question)
			}
			r.add(q.question)
			r.add(other.question)
			c.act(r, h, q.question)
			if c.want == stays {
				if got := r.messages(true); !slices.Contains(got, any("asked")) {
					t.Fatalf("open is %v", got)
				}
				return
			}
			<-q.over
			h.awaits(t, "asked closed")
			switch c.want {
			case dropped:
				<-q.released
			case refused:
				<-q.refused
			case taken:
				if isClosed(q.released) || isClosed(q.refused) {
					t.Error("the register answered as well")
				}
			default: // the other outcomes have been counted
			}
			if r.take("asked", isAbout[string]) != nil {
				t.Error("a question was taken after its end")
			}
			if told, _ := h.said(); count(told, "asked") != 1 || count(told, "asked closed") != 1 {
				t.Errorf("viewers were told %v", told)
			}
		})
	}
}

// awaits waits until viewers were told something.
func (r *room) awaits(t *testing.T, message any) {
	t.Helper()
	for {
		told, more := r.said()
		if slices.Contains(told, message) {
			return
		}
		select {
		case <-more:
		case <-t.Context().Done():
			t.Fatalf("viewers were told %v", told)
		}
	}
}

func count(list []any, message any) (n int) {
	for _, m := range list {
		if m == message {
			n++
		}
	}
	return n
}

func closedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestRegisterWithoutPeople checks that without people, a question that a page
// waits for is refused at once and nobody is told, and that the others are kept
// for the next person.
func TestRegisterWithoutPeople(t *testing.T) {
	h := newRoom()
	h.deserted.Store(true)
	r := openRegister(t, h)
	waits, patient := newExample("waits", new(browser.Page)), newExample("patient", new(browser.Page))
	patient.refuse = nil
	r.add(waits.question)
	r.add(patient.question)
	<-waits.refused
	if got := r.messages(true); len(got) != 1 || got[0] != "patient" {
		t.Errorf("open is %v", got)
	}
	if told, _ := h.said(); slices.Contains(told, any("waits")) || slices.Contains(told, any("waits closed")) {
		t.Errorf("viewers were told %v", told)
	}
}

// TestRegisterGivesOneAnswer answers a question many times at once: only one
// answer succeeds.
func TestRegisterGivesOneAnswer(t *testing.T) {
	r := openRegister(t, newRoom())
	r.add(newExample("asked", new(browser.Page)).question)
	var got atomic.Int32
	var people sync.WaitGroup
	for range 20 {
		people.Go(func() {
			if r.take("asked", isAbout[string]) != nil {
				got.Add(1)
			}
		})
	}
	people.Wait()
	if got.Load() != 1 {
		t.Errorf("%d got it", got.Load())
	}
}

// lateHost ends a question before the viewers hear of it.
type lateHost struct {
	*room
	before func()
}

func (l *lateHost) Tell(to Audience, slot string, message func() any) {
	if before := l.before; before != nil {
		l.before = nil
		before()
	}
	l.room.Tell(to, slot, message)
}

// TestRegisterTellsNoEndedQuestion ends a question just before viewers are asked:
// they are told only of its end.
func TestRegisterTellsNoEndedQuestion(t *testing.T) {
	h := &lateHost{room: newRoom()}
	r := openRegister(t, h)
	h.before = r.dropAll
	r.add(newExample("asked", new(browser.Page)).question)
	if told, _ := h.said(); len(told) != 1 || told[0] != "asked closed" {
		t.Errorf("viewers were told %v", told)
	}
}

// TestRegisterLists checks that viewers who join get the open questions, in order
// and as their role permits.
func TestRegisterLists(t *testing.T) {
	r := openRegister(t, newRoom())
	for i := range 4 {
		q := newExample(fmt.Sprint(i), new(browser.Page))
		if i%2 == 1 {
			q.to = Acting
		}
		r.add(q.question)
	}
	r.change(r.find(func(q *question) bool { return q.id == "2" }), "two")
	if got := fmt.Sprint(r.messages(true)); got != "[0 1 two 3]" {
		t.Errorf("a viewer who may act gets %s", got)
	}
	if got := fmt.Sprint(r.messages(false)); got != "[0 two]" {
		t.Errorf("a viewer who looks on gets %s", got)
	}
}

// TestRegisterEnds checks that all questions end with the session, that viewers
// are told nothing, and that no question starts afterwards.
func TestRegisterEnds(t *testing.T) {
	h := newRoom()
	ctx, cancel := context.WithCancel(t.Context())
	r := newRegister(ctx, h, slog.New(slog.DiscardHandler))
	before, after := newExample("before", new(browser.Page)), newExample("after", new(browser.Page))
	before.document = make(chan struct{}) // so that it is watched
	r.add(before.question)
	cancel()
	r.close()
	<-before.released
	r.add(after.question)
	<-after.released
	r.spawn(func() { t.Error("something began after the end") })
	if told, _ := h.said(); len(told) != 1 || told[0] != "before" {
		t.Errorf("viewers were told %v", told)
	}
}

// TestRegisterLogsRefusals refuses a question whose page does not accept the
// answer.
func TestRegisterLogsRefusals(t *testing.T) {
	h := newRoom()
	logged := make(logs, 1)
	r := newRegister(t.Context(), h, slog.New(logged))
	q := newExample("asked", new(browser.Page))
	q.refuse = func(context.Context) error { return errors.New("no answer") }
	r.add(q.question)
	r.abandoned()
	if got := <-logged; got != "refuse what a page asks" {
		t.Errorf("logged %q", got)
	}
	r.close()
}

// logs is a log handler that records messages.
type logs chan string

func (l logs) Enabled(context.Context, slog.Level) bool { return true }

func (l logs) Handle(_ context.Context, r slog.Record) error { l <- r.Message; return nil }

func (l logs) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l logs) WithGroup(string) slog.Handler { return l }
