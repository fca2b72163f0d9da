package widget

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
	"takeover/cdp"
)

// Built by widget/page/build.mjs.
//
//go:embed all:dist
var dist embed.FS

// ErrNotBuilt means that the program was built without the page side.
var ErrNotBuilt = errors.New("widget/dist is empty: run node build.mjs")

// binding is the function that agents call. It exists only in our worlds.
const binding = "takeoverReport"

// placePatience bounds how long documents may take to report the positions of
// their frames.
const placePatience = 2 * time.Second

// Options are the callbacks of a Tracker. They are called on the model's goroutine
// and must not wait for the model.
type Options struct {
	// Changed is called when Focus or Cursor of a page have changed. Only the
	// newest state counts.
	Changed func(p *browser.Page, what Change)
	// Doubted, if set, is called when an agent reports another focus than the
	// secret field that Ask found. Ask again: a script may have forged the report.
	Doubted func(p *browser.Page)
	// Secret, if set, is called with the content of a field for passwords, codes
	// or cards whenever it has changed.
	Secret func(p *browser.Page, value string)
	// Opened is called when a field has opened a picker, no matter who caused it,
	// and again when the field has changed.
	Opened func(k *Picker)
	// Gone is called when the focus has left a field that Opened reported.
	Gone func(k *Picker)
	// Refused is called when a page asked for one of Permissions and was refused
	// at once, because there is no window to ask in, or because Chromium was told
	// to refuse it.
	Refused func(r *Refusal)
	// Printed is called when a page has called window.print(), or when somebody
	// else prints it.
	Printed func(p *browser.Page)
	// Menu is called when Chromium would open its context menu in a page, and the
	// page did not handle the event.
	Menu func(p *browser.Page, m Menu)
	// Fields, if set, counts the fields with the focus. Desks that share it number
	// their fields together.
	Fields *atomic.Uint64
	Logger *slog.Logger
}

// Change is a kind of change.
type Change uint8

// The possible changes of a page.
const (
	FocusChanged Change = iota
	CursorChanged
)

// Tracker follows what Chromium would draw outside the pages of a browser. Its
// methods may be called from any goroutine.
type Tracker struct {
	model  *browser.Browser
	o      Options
	script *browser.InitScript
	asking string // the expression that Ask evaluates
	stop   func() // ends the subscription
	ctx    context.Context
	cancel context.CancelFunc
	placed sync.WaitGroup // goroutines that request the positions of frames

	mu    sync.Mutex // guards what follows
	pages map[*browser.Page]*pageState
}

// pageState is the known state of a page.
type pageState struct {
	cursor    string
	drag      bool           // a press under the pointer begins a drag
	pointed   *browser.World // the world that reported the pointer's shape
	pointedAt float64        // when the pointer was there; see report.At
	focus     Focus          // what Tracker.Focus returns, in the main frame's viewport
	frame     *browser.Frame // the frame that has the focus, or nil
	element   int            // the agent's number of the field with the focus
	inner     Focus          // the newest report of the frame, in its own viewport
	changedAt time.Time      // when a document of the page was last replaced
	asking    bool           // a goroutine is requesting the frame's position
	again     bool           // the goroutine has to request it again
	asked     Focus          // the kind of the focused field as Ask found it
	reports   uint64         // number of the agents' reports of the focus
}

// New puts an agent into every present and future document of the browser, and
// follows the documents until Close. ctx bounds only New itself.
func New(ctx context.Context, model *browser.Browser, o Options) (*Tracker, error) {
	agent, err := dist.ReadFile("dist/agent.js")
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrNotBuilt, err)
	}
	focused, err := dist.ReadFile("dist/focused.js")
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrNotBuilt, err)
	}
	d := &Tracker{model: model, o: o, pages: map[*browser.Page]*pageState{}, asking: askExpression(focused)}
	if d.o.Logger == nil {
		d.o.Logger = slog.New(slog.DiscardHandler)
	}
	if d.o.Fields == nil {
		d.o.Fields = new(atomic.Uint64)
	}
	d.ctx, d.cancel = context.WithCancel(context.WithoutCancel(ctx))
	d.stop = model.Subscribe(d.onEvent)
	d.script, err = model.AddInitScript(ctx, browser.InitScriptOptions{
		Source: string(agent), World: browser.WorldUtility, Binding: binding, Now: true,
	})
	if err != nil {
		d.Close()
		return nil, fmt.Errorf("put agents into pages: %w", err)
	}
	return d, nil
}

// Close stops following.
func (t *Tracker) Close() {
	t.stop()
	t.mu.Lock()
	t.cancel() // no goroutine starts after this
	t.mu.Unlock()
	t.placed.Wait()
}

// Focus returns the place in a page where typed text goes.
func (t *Tracker) Focus(p *browser.Page) Focus {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st := t.pages[p]; st != nil {
		return st.focus
	}
	return Focus{}
}

// Secret returns the kind of the focused field if it is a field for passwords,
// codes or cards, and otherwise "".
func (t *Tracker) Secret(p *browser.Page) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st := t.pages[p]; st != nil {
		return st.secret()
	}
	return ""
}

// secret returns the kind of the focused field if it is secret by the agent's
// report or by Ask, and otherwise "".
func (st *pageState) secret() string {
	// The position of its frame may be unknown, but the kind is known.
	for _, f := range []Focus{st.inner, st.asked} {
		if f.Secret() {
			return f.Kind
		}
	}
	return ""
}

// Field returns the number of the field of a page that has the focus now, as in
// Focus.Field. For a field in a frame, Focus knows it only when its position is
// known.
func (t *Tracker) Field(p *browser.Page) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st := t.pages[p]; st != nil {
		return st.inner.Field
	}
	return 0
}

// Pressed returns the number of the field with the focus, if it is at a point of the
// page's viewport that was pressed at a time, and no document was replaced since.
// Otherwise it returns 0.
func (t *Tracker) Pressed(p *browser.Page, x, y float64, at time.Time) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := t.pages[p]
	if st == nil || !st.focus.Editable() || !st.focus.Element.contains(x, y) || !st.changedAt.Before(at) {
		return 0
	}
	return st.focus.Field
}

// Drags reports whether a press under a page's pointer begins a drag, for example
// of a slider.
func (t *Tracker) Drags(p *browser.Page) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := t.pages[p]
	return st != nil && st.drag
}

// Cursor returns the shape of a page's pointer.
func (t *Tracker) Cursor(p *browser.Page) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st := t.pages[p]; st != nil && st.cursor != "" {
		return st.cursor
	}
	return "default"
}

// onEvent handles an event on the model's goroutine.
func (t *Tracker) onEvent(ev browser.Event) {
	switch ev := ev.(type) {
	case browser.BindingCalled:
		if ev.Name == binding && ev.World.Kind() == browser.WorldUtility {
			t.reported(ev.World, ev.Payload)
		}
	case browser.FrameNavigated:
		if !ev.SameDocument && ev.Err == nil {
			t.left(ev.Frame)
		}
	case browser.FrameDetached:
		t.left(ev.Frame)
	case browser.PageCrashed:
		t.left(ev.Page.MainFrame())
	case browser.PageClosed:
		t.mu.Lock()
		delete(t.pages, ev.Page)
		t.mu.Unlock()
	}
}

// reported handles a report of the agent in a frame's document.
func (t *Tracker) reported(w *browser.World, payload string) {
	r, err := parseReport(payload)
	switch {
	case err != nil:
		t.o.Logger.Debug("report of a document", "error", err)
		return
	case r.Open > 0:
		if t.o.Opened != nil {
			t.o.Opened(&Picker{world: w, number: r.Open})
		}
		return
	case r.Gone > 0:
		if t.o.Gone != nil {
			t.o.Gone(&Picker{world: w, number: r.Gone})
		}
		return
	case r.Menu != nil:
		if t.o.Menu != nil {
			t.o.Menu(w.Page(), *r.Menu)
		}
		return
	case r.Printed:
		if t.o.Printed != nil && w.Frame() == w.Page().MainFrame() {
			t.o.Printed(w.Page())
		}
		return
	case r.Refused != "":
		if t.o.Refused != nil && w.Frame() == w.Page().MainFrame() {
			t.o.Refused(&Refusal{Name: r.Refused, world: w})
		}
		return
	}
	f, p := w.Frame(), w.Page()
	if r.Secret != "" {
		if t.o.Secret != nil {
			t.o.Secret(p, r.Secret)
		}
		return
	}
	t.mu.Lock()
	st := t.pages[p]
	if st == nil {
		st = &pageState{}
		t.pages[p] = st
	}
	var changes []Change
	secret := st.secret()
	doubted := st.asked.Secret() && (r.Focus != nil && !r.Focus.Secret() || r.Blur)
	if r.Focus != nil || r.Blur {
		st.reports++
		st.asked = Focus{}
	}
	switch {
	case r.Cursor != "":
		if w != st.pointed && r.At < st.pointedAt { // reports of two processes can overtake each other
			elsewhere(w, st.pointedAt)
			break
		}
		if st.pointed != nil && st.pointed != w {
			elsewhere(st.pointed, r.At)
		}
		st.pointed, st.pointedAt = w, r.At
		st.cursor, st.drag = r.Cursor, r.Drag
		changes = append(changes, CursorChanged) // agents report changes, and what is there after a rest
	case r.Focus != nil:
		field := st.inner.Field
		if st.frame != f || st.element != r.Element || st.inner.Kind != r.Focus.Kind {
			field = t.o.Fields.Add(1)
		}
		st.frame, st.element, st.inner = f, r.Element, *r.Focus
		st.inner.Field = field
		if t.placeLocked(p, st) || secret != st.secret() {
			changes = append(changes, FocusChanged)
		}
	case r.Blur && st.frame == f:
		if t.blurLocked(st) {
			changes = append(changes, FocusChanged)
		}
	case r.Moved && st.frame != nil && st.frame != f:
		t.placeLocked(p, st)
	}
	if len(changes) == 0 && secret != st.secret() {
		changes = append(changes, FocusChanged)
	}
	t.mu.Unlock()
	t.tell(p, changes...)
	if doubted && t.o.Doubted != nil {
		t.o.Doubted(p)
	}
}

// elsewhere reports to a document that the pointer was in another document at the
// given time, because a document does not see the pointer leave into a document
// of another process.
func elsewhere(w *browser.World, at float64) {
	_ = cdp.Send(w.Session(), runtime.Evaluate, runtime.EvaluateParams{ // fails when the document is gone
		Expression: fmt.Sprintf("takeoverAgent.elsewhere(%f)", at), UniqueContextID: w.UniqueID(),
	})
}

func (t *Tracker) tell(p *browser.Page, changes ...Change) {
	for _, c := range changes {
		t.o.Changed(p, c)
	}
}

// left handles the end of a frame's document.
func (t *Tracker) left(f *browser.Frame) {
	p := f.Page()
	t.mu.Lock()
	st := t.pages[p]
	var changes []Change
	if st == nil && f == p.MainFrame() {
		st = &pageState{}
		t.pages[p] = st
	}
	if st != nil {
		st.changedAt = time.Now()
	}
	if st != nil && (st.frame == f || f == p.MainFrame()) {
		secret := st.asked.Secret()
		st.asked = Focus{}
		document := f == p.MainFrame()
		if t.blurLocked(st) || secret || document {
			if document {
				t.noneLocked(st)
			}
			changes = append(changes, FocusChanged)
		}
	}
	if st != nil && f == p.MainFrame() && st.cursor != "" {
		st.cursor, st.drag, st.pointed, st.pointedAt = "", false, nil, 0
		changes = append(changes, CursorChanged)
	}
	t.mu.Unlock()
	t.tell(p, changes...)
}

// noneLocked records that no field has the focus, of this document or in another
// one.
func (t *Tracker) noneLocked(st *pageState) {
	st.frame, st.element = nil, 0
	st.inner = Focus{Field: t.o.Fields.Add(1)}
	st.focus = st.inner
}

// blurLocked forgets the focus, and reports whether there was one.
func (t *Tracker) blurLocked(st *pageState) bool {
	was := st.focus.Editable() || st.inner.Editable()
	if was {
		t.noneLocked(st)
	}
	return was
}

// placeLocked computes the position of the focus in the main frame's viewport,
// and reports whether it is known and has changed. For a focus in a child frame, it
// requests the frame's position and reports the focus later.
func (t *Tracker) placeLocked(p *browser.Page, st *pageState) bool {
	if st.frame == p.MainFrame() {
		changed := st.focus != st.inner
		st.focus = st.inner
		return changed
	}
	if st.asking || t.ctx.Err() != nil {
		st.again = true
		return false
	}
	st.asking, st.again = true, true
	t.placed.Go(func() { t.place(p, st) })
	return false
}

// place requests the position of the frame with the focus, and again if
// placeLocked was called meanwhile.
func (t *Tracker) place(p *browser.Page, st *pageState) {
	for {
		t.mu.Lock()
		if !st.again || st.frame == nil || t.ctx.Err() != nil {
			st.asking = false
			t.mu.Unlock()
			return
		}
		st.again = false
		f := st.frame
		t.mu.Unlock()

		ctx, cancel := context.WithTimeout(t.ctx, placePatience)
		x, y, err := f.Place(ctx)
		cancel()
		if err != nil && t.ctx.Err() == nil {
			t.o.Logger.Debug("place of a frame", "error", err)
		}
		t.mu.Lock()
		changed := false
		if err == nil && st.frame == f {
			now := st.inner.moved(x, y)
			changed = st.focus != now
			st.focus = now
		}
		t.mu.Unlock()
		if changed {
			t.tell(p, FocusChanged)
		}
	}
}
