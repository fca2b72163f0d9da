package capture

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"takeover/background"
	"takeover/cdp"
	"takeover/limits"
)

const (
	// maxHeard bounds the lines of one target that wait for the background log.
	maxHeard = 2 * background.MaxPerSecond
	// hearPatience is how long a line waits for its page to say whether its
	// console is silenced. After that, the line is kept. expandPatience is how
	// long the page may take to return the objects in a line. A busy page does
	// not answer.
	hearPatience   = 600 * time.Millisecond
	expandPatience = 250 * time.Millisecond
	// answerPatience is how long Heard waits for each page, and flushPatience
	// how long it waits in all.
	answerPatience = 250 * time.Millisecond
	flushPatience  = time.Second
)

// heard is a line on its way to the background log.
type heard struct {
	entry    background.Entry
	console  bool
	args     []remoteObject // of a console call: its arguments
	question *question      // asks whether the page has silenced its console; nil if no question is needed
	until    time.Time      // when the line stops waiting for the answer
}

// listen finds the background.Realm of a new target. A frame shares the realm of
// its page, through whose session it was attached.
func (w *watched) listen(by cdp.SessionID) {
	switch holder := w.l.targets[by]; {
	case w.m.heard == nil:
	case w.kind != "iframe":
		w.realm = w.m.heard.Realm(w.target, w.kind, w.url)
	case holder != nil:
		w.realm = holder.realm
	}
}

// moved sets the present address of the realm.
func (w *watched) moved() {
	if w.realm != nil && w.kind != "iframe" {
		w.realm.Moved(w.url)
	}
}

// deafen ends the realm of a target that is gone, once all its lines are in the
// log.
func (w *watched) deafen() {
	w.gone = true
	if !w.hearing {
		w.closeRealm()
		return
	}
	w.passLocked()
}

func (w *watched) closeRealm() {
	if w.realm != nil && w.kind != "iframe" {
		w.realm.Close()
	}
}

// listens reports whether the background log takes another line. It counts lines
// that arrive too fast.
func (w *watched) listens() bool {
	switch {
	case w.realm == nil:
		return false
	case len(w.heard) >= maxHeard:
		w.m.limits.Add(limits.ConsoleRate, 1)
		w.realm.Dropped(1)
	case w.realm.Allow():
		return true
	}
	w.l.flooding = w.realm
	return false
}

// hearConsole takes a line for the background log.
func (w *watched) hearConsole(p *consoleCall, level string, asked *question) {
	if _, silent := w.silent[p.Context]; silent || w.contexts[p.Context].isolated || level == "debug" {
		return
	}
	h := heard{console: true, question: asked, until: time.Now().Add(hearPatience), args: p.Args[:min(len(p.Args), maxConsoleArgs)]}
	h.entry = background.Entry{Type: background.TypeConsole, Level: level, At: momentOf(p.Timestamp)}
	if level == "error" || level == "warn" {
		h.entry.Stack = stackText(p.StackTrace.frames())
	}
	if p.Type == "assert" {
		h.args = append([]remoteObject{{Type: "string", Value: jsonValue(`"Assertion failed:"`)}}, h.args...)
	}
	w.hear(h)
}

// hearException takes an error for the background log, unless it comes from an
// isolated world, where no script of the page runs.
func (w *watched) hearException(d *exception, at float64) {
	if w.contexts[d.Context].isolated {
		return
	}
	e := background.Entry{Type: background.TypeError, Source: d.source(), At: momentOf(at)}
	e.Message = strings.TrimPrefix(strings.TrimPrefix(d.Text, "Uncaught "), "(in promise) ")
	if d.Exception != nil {
		if what := d.Exception.text(false); what != "" {
			e.Message = what
		}
	}
	if message, _, traced := strings.Cut(e.Message, "\n    at "); traced {
		e.Message, e.Stack = message, e.Message
	} else if calls := d.StackTrace.frames(); len(calls) > 0 {
		e.Stack = e.Message + "\n" + stackText(calls)
	} else if d.URL != "" {
		e.Stack = e.Message + "\n" + stackText([]stackFrame{{URL: d.URL, Line: d.Line + 1, Column: d.Column + 1}})
	}
	w.hear(heard{entry: e})
}

// momentOf converts CDP's Runtime.Timestamp.
func momentOf(ms float64) time.Time { return time.UnixMicro(int64(ms * 1000)) }

// stackText formats a stack as V8 does.
func stackText(calls []stackFrame) string {
	var b strings.Builder
	for i, c := range calls {
		if i > 0 {
			b.WriteByte('\n')
		}
		place := c.URL + ":" + strconv.FormatInt(c.Line, 10) + ":" + strconv.FormatInt(c.Column, 10)
		if c.Function != "" {
			place = c.Function + " (" + place + ")"
		}
		b.WriteString("    at " + place)
	}
	return b.String()
}

// hear appends a line to those that wait.
func (w *watched) hear(h heard) {
	w.heard = append(w.heard, h)
	if !w.hearing {
		w.hearing = true
		w.l.hearings++
	}
	w.passLocked()
}

// passLocked starts a task that writes lines to the log, if the first one is
// ready. It needs a task because it may have to request objects from the page.
func (w *watched) passLocked() {
	if w.bringing || w.l.ending || len(w.heard) == 0 || w.waits(&w.heard[0], time.Now()) {
		return
	}
	w.bringing = true
	w.l.taskLocked(w.bring)
}

// waits reports whether a line still waits for its page's answer. It stops
// waiting when its time is up or the page is gone.
func (w *watched) waits(h *heard, now time.Time) bool {
	return h.question != nil && !h.question.answered && !w.gone && now.Before(h.until)
}

// tickHeard lets the first line pass when it has waited long enough, and returns
// when to check again.
func (w *watched) tickHeard(now time.Time) time.Time {
	if w.bringing || len(w.heard) == 0 {
		return time.Time{}
	}
	if w.waits(&w.heard[0], now) {
		return w.heard[0].until
	}
	w.passLocked()
	return time.Time{}
}

// bring writes lines to the background log until there are none left, or the
// first one has to wait.
func (w *watched) bring() {
	for {
		batch, ok := w.nextHeard()
		if !ok {
			return
		}
		for _, h := range batch {
			if h.console {
				w.say(&h)
			}
			w.realm.Add(h.entry)
		}
	}
}

// nextHeard returns the lines that are ready, without the lines of silenced
// pages. ok is false when the task may end.
func (w *watched) nextHeard() (batch []heard, ok bool) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	n, now := 0, time.Now()
	for n < len(w.heard) && !w.waits(&w.heard[n], now) {
		if q := w.heard[n].question; q == nil || !q.silent {
			batch = append(batch, w.heard[n])
		}
		n++
	}
	if n > 0 {
		w.heard = slices.Delete(w.heard, 0, n)
		return batch, true
	}
	w.bringing = false
	if len(w.heard) == 0 {
		w.hearing = false
		if w.gone {
			w.closeRealm()
		}
		w.l.heardLocked()
	}
	return nil, false
}

// say turns a line into text: formatted if the first of several values is a
// string with a %, otherwise its values joined with spaces.
func (w *watched) say(h *heard) {
	ctx, cancel := context.WithTimeout(w.l.ctx, expandPatience)
	defer cancel()
	x := &expansion{ctx: ctx, session: w.session, calls: maxExpansions}
	if len(h.args) == 1 {
		h.entry.Structured = structured(&h.args[0])
	} else if len(h.args) > 1 && h.args[0].Type == "string" && strings.Contains(h.args[0].stringValue(), "%") {
		h.entry.Message, _ = consoleText(h.args)
		return
	}
	words := make([]string, 0, len(h.args))
	for i := range h.args {
		words = append(words, x.word(&h.args[i]))
	}
	h.entry.Message = strings.Join(words, " ")
}

// heardMark is put into the intake after the lines so far. When the loop reads
// it, those lines are known.
const heardMark = "heard"

// Heard waits until all lines that pages and workers have logged so far are in
// the background log. It waits at most until ctx ends, and at most a second,
// because a page may keep logging or not answer.
func (m *Monitor) Heard(ctx context.Context) {
	m.mu.Lock()
	l, listens := m.link, m.heard != nil
	m.mu.Unlock()
	if l == nil || !listens {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushPatience)
	defer cancel()
	l.flush(ctx) // knows the newest workers then
	m.mu.Lock()
	var sessions []*cdp.Session
	for _, w := range l.targets {
		if w.realm != nil {
			sessions = append(sessions, w.session)
		}
	}
	m.mu.Unlock()
	answered(ctx, sessions)
	l.flush(ctx)
}

// flush waits until the events that have arrived so far are handled, and their
// lines are in the log.
func (l *link) flush(ctx context.Context) {
	flushed := make(chan struct{})
	l.intake.Put(cdp.Event{Method: heardMark, Token: flushed})
	select {
	case <-flushed:
	case <-l.ctx.Done():
	case <-ctx.Done():
	}
}

// answered waits until each target has answered, or answerPatience has passed.
// All earlier events of a target arrive before its answer. A target that is too
// busy to answer logs nothing new in the meantime.
func answered(ctx context.Context, sessions []*cdp.Session) {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range sessions {
		all.Go(func() { _, _ = cdp.Call(ctx, s, runtime.GetIsolateID, proto.Empty{}) }) // any reply will do
	}
	all.Wait()
}

// awaitHeard closes flushed once all lines are in the log.
func (l *link) awaitHeard(flushed chan struct{}) {
	if l.hearings == 0 {
		close(flushed)
		return
	}
	l.waiting = append(l.waiting, flushed)
}

// heardLocked records that all lines of a target are in the log.
func (l *link) heardLocked() {
	if l.hearings--; l.hearings > 0 {
		return
	}
	for _, flushed := range l.waiting {
		close(flushed)
	}
	l.waiting = slices.Delete(l.waiting, 0, len(l.waiting))
}
