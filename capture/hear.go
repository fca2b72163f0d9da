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
	// hearPatience is how long a page may take to answer questions about a line
	// before the line is kept as it is known. A page that is busy does not answer.
	hearPatience = 250 * time.Millisecond
	// answerPatience is how long Heard waits for pages, settlePatience in all.
	answerPatience = 100 * time.Millisecond
	settlePatience = time.Second

	// silencer is the variable by which a page asks that its console is not heard.
	silencer = "__DAEBUG_NO_CONSOLE_CAPTURE"
)

// heard is a line on its way to the background log.
type heard struct {
	entry   background.Entry
	console bool
	context int64          // of a console: whose
	args    []remoteObject // of a console: what it was called with
}

// listen finds the realm of a new target: a frame's is that of its page, which
// its session came by.
func (w *watched) listen(by cdp.SessionID) {
	switch holder := w.l.targets[by]; {
	case w.m.heard == nil:
	case w.kind != "iframe":
		w.realm = w.m.heard.Realm(w.target, w.kind, w.url)
	case holder != nil:
		w.realm = holder.realm
	}
}

// moved tells the realm where it is now.
func (w *watched) moved() {
	if w.realm != nil && w.kind != "iframe" {
		w.realm.Moved(w.url)
	}
}

// deafen ends the realm of a target that is gone, when all it said is kept.
func (w *watched) deafen() {
	w.gone = true
	if !w.hearing {
		w.closeRealm()
	}
}

func (w *watched) closeRealm() {
	if w.realm != nil && w.kind != "iframe" {
		w.realm.Close()
	}
}

// listens tells whether the next line is for the background log. One that comes
// too fast is counted there, and needs no more.
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
func (w *watched) hearConsole(p *consoleCall, level string) {
	if _, silent := w.silent[p.Context]; silent || w.contexts[p.Context].isolated || level == "debug" {
		return
	}
	h := heard{console: true, context: p.Context, args: p.Args[:min(len(p.Args), maxConsoleArgs)]}
	h.entry = background.Entry{Type: background.TypeConsole, Level: level, At: momentOf(p.Timestamp)}
	if level == "error" || level == "warn" {
		h.entry.Stack = stackText(p.StackTrace.frames())
	}
	if p.Type == "assert" {
		h.args = append([]remoteObject{{Type: "string", Value: jsonValue(`"Assertion failed:"`)}}, h.args...)
	}
	w.hear(h)
}

// hearException takes an error for the background log. What fails in a world of
// our own is none of the page's.
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

// hear puts a line behind those before it. A task brings them to the log, because
// it may have to ask the page.
func (w *watched) hear(h heard) {
	w.heard = append(w.heard, h)
	if w.hearing || w.l.ending {
		return
	}
	w.hearing = true
	w.l.hearings++
	w.l.taskLocked(w.bring)
}

// bring takes lines to the background log until there are no more.
func (w *watched) bring() {
	for {
		w.m.mu.Lock()
		batch := w.heard
		if w.heard = nil; len(batch) == 0 {
			w.hearing = false
			if w.gone {
				w.closeRealm()
			}
			w.l.heardLocked()
			w.m.mu.Unlock()
			return
		}
		w.m.mu.Unlock()
		silent := w.silentOf(batch)
		for _, h := range batch {
			if _, skip := silent[h.context]; h.console && skip {
				continue
			}
			if h.console {
				w.say(&h)
			}
			w.realm.Add(h.entry)
		}
	}
}

// silentOf asks the contexts of some lines whether they want to be heard, and
// returns those that do not. One that does not answer does.
func (w *watched) silentOf(batch []heard) map[int64]struct{} {
	silent := map[int64]struct{}{}
	asked := map[int64]struct{}{}
	ctx, cancel := context.WithTimeout(w.l.ctx, hearPatience)
	defer cancel()
	for _, h := range batch {
		if _, done := asked[h.context]; done || !h.console {
			continue
		}
		asked[h.context] = struct{}{}
		// The page's own variable, read so that a getter in its place could not do
		// a thing.
		answer, err := cdp.Call(ctx, w.session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: "globalThis." + silencer + " === true", ContextID: runtime.ExecutionContextID(h.context),
			ThrowOnSideEffect: new(true), Silent: new(true), ReturnByValue: new(true),
		})
		if err == nil && answer.Result != nil && string(answer.Result.Value) == "true" {
			silent[h.context] = struct{}{}
		}
	}
	if len(silent) > 0 {
		w.m.mu.Lock()
		for id := range silent {
			if len(w.silent) < maxContexts {
				w.silent[id] = struct{}{}
			}
		}
		w.m.mu.Unlock()
	}
	return silent
}

// say words a line: one value by itself as JSON, several as one text.
func (w *watched) say(h *heard) {
	ctx, cancel := context.WithTimeout(w.l.ctx, hearPatience)
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

// heardMark is put into the intake behind what was said until then.
const heardMark = "heard"

// Heard waits until what pages and workers have said so far is in the background
// log. ctx, and a second, bound it: a page may go on, or not answer.
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
