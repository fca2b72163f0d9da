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
)

const (
	// maxHeard is how many lines of one target wait for the background log.
	maxHeard = 2 * background.MaxPerSecond
	// hearPatience is how long a page may take to say whether it wants to be heard
	// before its line is kept, and expandPatience how long it may take to answer
	// questions about the line's objects. A page that is busy does not answer.
	hearPatience   = 600 * time.Millisecond
	expandPatience = 250 * time.Millisecond
	// answerPatience is how long Heard waits for pages, settlePatience in all.
	answerPatience = 100 * time.Millisecond
	settlePatience = time.Second
)

// heard is a line on its way to the background log.
type heard struct {
	entry    background.Entry
	console  bool
	args     []remoteObject // of a console call: its arguments
	question *question      // of a console: whether the page wants it heard; nil if that was not asked
	until    time.Time      // when it stops waiting for the answer
}

// listen finds the realm of a new target. A frame's realm is that of its page,
// through whose session it came.
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

// deafen ends the realm of a target that is gone, once everything it said is
// kept.
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

// listens reports whether the next line is for the background log. It counts
// lines that come too fast.
func (w *watched) listens() bool {
	switch {
	case w.realm == nil:
		return false
	case len(w.heard) >= maxHeard:
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

// hearException takes an error for the background log, but not one from a world
// of our own.
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

// momentOf reads CDP's Runtime.Timestamp.
func momentOf(ms float64) time.Time { return time.UnixMicro(int64(ms * 1000)) }

// stackText writes calls as V8 does.
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

// hear puts a line behind those before it.
func (w *watched) hear(h heard) {
	w.heard = append(w.heard, h)
	if !w.hearing {
		w.hearing = true
		w.l.hearings++
	}
	w.passLocked()
}

// passLocked starts a task that brings lines to the log, if the first one need
// not wait. It is a task because it may have to ask the page about objects.
func (w *watched) passLocked() {
	if w.bringing || w.l.ending || len(w.heard) == 0 || w.waits(&w.heard[0], time.Now()) {
		return
	}
	w.bringing = true
	w.l.taskLocked(w.bring)
}

// waits reports whether a line waits for its page's answer. Without an answer it
// waits until its time is over, or the page has gone.
func (w *watched) waits(h *heard, now time.Time) bool {
	return h.question != nil && !h.question.answered && !w.gone && now.Before(h.until)
}

// tickHeard lets the first line go when it has waited long enough, and returns
// when to look again.
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

// bring takes lines to the background log until there are no more, or the first
// one waits.
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

// nextHeard returns the lines that need not wait, without those of pages that
// want to be silent. ok is false at the task's end.
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

// say words a line: one value by itself as JSON, several as one text.
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

// heardMark follows the lines up to now in the intake.
const heardMark = "heard"

// Heard waits until the lines of pages and workers up to now are in the
// background log. ctx bounds it, and so does a second, because a page may
// continue or not answer.
func (m *Monitor) Heard(ctx context.Context) {
	m.mu.Lock()
	l := m.link
	var sessions []*cdp.Session
	if l != nil && m.heard != nil {
		for _, w := range l.targets {
			if w.realm != nil {
				sessions = append(sessions, w.session)
			}
		}
	}
	m.mu.Unlock()
	if len(sessions) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, settlePatience)
	defer cancel()
	answered(ctx, sessions)
	settled := make(chan struct{})
	l.intake.Put(cdp.Event{Method: heardMark, Token: settled})
	select {
	case <-settled:
	case <-l.ctx.Done():
	case <-ctx.Done():
	}
}

// answered waits for an answer of each target, behind which are no events that
// happened before. One that is busy says nothing new either.
func answered(ctx context.Context, sessions []*cdp.Session) {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range sessions {
		all.Go(func() { _, _ = cdp.Call(ctx, s, runtime.GetIsolateID, proto.Empty{}) }) // whatever it answers
	}
	all.Wait()
}

// awaitHeard answers Heard.
func (l *link) awaitHeard(settled chan struct{}) {
	if l.hearings == 0 {
		close(settled)
		return
	}
	l.waiting = append(l.waiting, settled)
}

// heardLocked notes that a target's lines are in the log.
func (l *link) heardLocked() {
	if l.hearings--; l.hearings > 0 {
		return
	}
	for _, settled := range l.waiting {
		close(settled)
	}
	l.waiting = slices.Delete(l.waiting, 0, len(l.waiting))
}
