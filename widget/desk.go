package widget

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
	"takeover/cdp"
)

// Built by widget/page/build.mjs.
//
//go:embed all:dist
var dist embed.FS

// ErrNotBuilt says that the program was built without the page's side.
var ErrNotBuilt = errors.New("widget/dist is empty: run node build.mjs")

// binding is what agents call; it exists in our worlds only.
const binding = "takeoverReport"

// placePatience bounds how long documents may take to say where their frames are.
const placePatience = 2 * time.Second

// Options are what a Desk needs.
type Options struct {
	// Changed is called when what Focus or Cursor say of a page has changed, for
	// the newest state only. It must not wait for anything of the model.
	Changed func(p *browser.Page, what Change)
	// Secret, if set, is called with what stands in a field of passwords, codes or
	// cards each time that it has changed. It must not wait either.
	Secret func(p *browser.Page, value string)
	// Opened is called when something has opened for a field, whoever caused it, and
	// again when what it is for has changed. It must not wait for anything of the model.
	Opened func(k *Picker)
	// Gone is called when the focus has left such a field.
	Gone func(k *Picker)
	// Refused is called when a page has asked for one of Permissions and got a no at
	// once, because there is no window to ask in, or when Chromium was told to refuse
	// it. It must not wait either.
	Refused func(r *Refusal)
	// Printed is called when a page has called window.print(), and when anybody else
	// prints it. It must not wait either.
	Printed func(p *browser.Page)
	// Menu is called when Chromium would open its menu in a page, which did not open
	// one of its own. It must not wait either.
	Menu   func(p *browser.Page, m Menu)
	Logger *slog.Logger
}

// Change says what changed.
type Change uint8

// What may change of a page.
const (
	FocusChanged Change = iota
	CursorChanged
)

// Desk follows what the pages of a browser have drawn outside themselves. Its
// methods may be called from any goroutine.
type Desk struct {
	model  *browser.Browser
	o      Options
	script *browser.InitScript
	stop   func() // ends the subscription
	ctx    context.Context
	cancel context.CancelFunc
	placed sync.WaitGroup // the goroutines that ask where frames are

	mu    sync.Mutex // guards what follows
	pages map[*browser.Page]*pageState
}

// pageState is what is known of a page.
type pageState struct {
	cursor    string
	pointed   *browser.World // that told the pointer's shape
	pointedAt float64        // when the pointer was there; see report
	focus     Focus          // as told
	frame     *browser.Frame // that has the focus, or nil
	inner     Focus          // in frame's own viewport
	asking    bool           // a goroutine asks where frame is
	again     bool           // and has to ask again
}

// New puts an agent into every document of the browser, now and later, and
// follows them until Close. ctx bounds the beginning only.
func New(ctx context.Context, model *browser.Browser, o Options) (*Desk, error) {
	agent, err := dist.ReadFile("dist/agent.js")
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrNotBuilt, err)
	}
	d := &Desk{model: model, o: o, pages: map[*browser.Page]*pageState{}}
	if d.o.Logger == nil {
		d.o.Logger = slog.New(slog.DiscardHandler)
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

// Close ends the following.
func (d *Desk) Close() {
	d.stop()
	d.mu.Lock()
	d.cancel() // from here on no goroutine is begun
	d.mu.Unlock()
	d.placed.Wait()
}

// Focus is where text is typed in a page.
func (d *Desk) Focus(p *browser.Page) Focus {
	d.mu.Lock()
	defer d.mu.Unlock()
	if st := d.pages[p]; st != nil {
		return st.focus
	}
	return Focus{}
}

// Secret is the kind of the field of passwords, codes or cards in which a page
// has the focus, and empty when it has it nowhere of that sort.
func (d *Desk) Secret(p *browser.Page) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Where a frame with it is may not be known yet, but what it is.
	if st := d.pages[p]; st != nil && st.inner.Secret() {
		return st.inner.Kind
	}
	return ""
}

// Cursor is the shape of a page's pointer.
func (d *Desk) Cursor(p *browser.Page) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if st := d.pages[p]; st != nil && st.cursor != "" {
		return st.cursor
	}
	return "default"
}

// onEvent runs on the model's goroutine.
func (d *Desk) onEvent(ev browser.Event) {
	switch ev := ev.(type) {
	case browser.BindingCalled:
		if ev.Name == binding && ev.World.Kind() == browser.WorldUtility {
			d.reported(ev.World, ev.Payload)
		}
	case browser.FrameNavigated:
		if !ev.SameDocument && ev.Err == nil {
			d.left(ev.Frame)
		}
	case browser.FrameDetached:
		d.left(ev.Frame)
	case browser.PageCrashed:
		d.left(ev.Page.MainFrame())
	case browser.PageClosed:
		d.mu.Lock()
		delete(d.pages, ev.Page)
		d.mu.Unlock()
	}
}

// reported handles what the agent of a frame's document says.
func (d *Desk) reported(w *browser.World, payload string) {
	r, err := parseReport(payload)
	switch {
	case err != nil:
		d.o.Logger.Debug("report of a document", "error", err)
		return
	case r.Open > 0:
		if d.o.Opened != nil {
			d.o.Opened(&Picker{world: w, number: r.Open})
		}
		return
	case r.Gone > 0:
		if d.o.Gone != nil {
			d.o.Gone(&Picker{world: w, number: r.Gone})
		}
		return
	case r.Menu != nil:
		if d.o.Menu != nil {
			d.o.Menu(w.Page(), *r.Menu)
		}
		return
	case r.Printed:
		if d.o.Printed != nil && w.Frame() == w.Page().MainFrame() {
			d.o.Printed(w.Page())
		}
		return
	case r.Refused != "":
		if d.o.Refused != nil && w.Frame() == w.Page().MainFrame() {
			d.o.Refused(&Refusal{Name: r.Refused, world: w})
		}
		return
	}
	f, p := w.Frame(), w.Page()
	if r.Secret != "" {
		if d.o.Secret != nil {
			d.o.Secret(p, r.Secret)
		}
		return
	}
	d.mu.Lock()
	st := d.pages[p]
	if st == nil {
		st = &pageState{}
		d.pages[p] = st
	}
	var changes []Change
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
		if st.cursor != r.Cursor {
			st.cursor = r.Cursor
			changes = append(changes, CursorChanged)
		}
	case r.Focus != nil:
		secret := st.inner.Secret()
		st.frame, st.inner = f, *r.Focus
		if d.placeLocked(p, st) || secret != st.inner.Secret() {
			changes = append(changes, FocusChanged)
		}
	case r.Blur && st.frame == f:
		if st.blurLocked() {
			changes = append(changes, FocusChanged)
		}
	case r.Moved && st.frame != nil && st.frame != f:
		d.placeLocked(p, st)
	}
	d.mu.Unlock()
	d.tell(p, changes...)
}

// elsewhere tells a document that the pointer was in another one at that time: one
// in another process does not see it leave.
func elsewhere(w *browser.World, at float64) {
	_ = cdp.Send(w.Session(), runtime.Evaluate, runtime.EvaluateParams{ // fails when it is gone
		Expression: fmt.Sprintf("takeoverAgent.elsewhere(%f)", at), UniqueContextID: w.UniqueID(),
	})
}

func (d *Desk) tell(p *browser.Page, changes ...Change) {
	for _, c := range changes {
		d.o.Changed(p, c)
	}
}

// left handles that a frame's document is gone.
func (d *Desk) left(f *browser.Frame) {
	p := f.Page()
	d.mu.Lock()
	st := d.pages[p]
	var changes []Change
	if st != nil && (st.frame == f || f == p.MainFrame()) && st.blurLocked() {
		changes = append(changes, FocusChanged)
	}
	if st != nil && f == p.MainFrame() && st.cursor != "" {
		st.cursor, st.pointed, st.pointedAt = "", nil, 0
		changes = append(changes, CursorChanged)
	}
	d.mu.Unlock()
	d.tell(p, changes...)
}

// blurLocked forgets the focus, and reports whether there was one.
func (st *pageState) blurLocked() bool {
	was := st.focus.Editable() || st.inner.Editable()
	st.frame, st.inner, st.focus = nil, Focus{}, Focus{}
	return was
}

// placeLocked works out where the focus is in the main frame's viewport, and
// reports whether that is known already, and new. For a frame's it is asked for, and
// told once it is known.
func (d *Desk) placeLocked(p *browser.Page, st *pageState) bool {
	if st.frame == p.MainFrame() {
		changed := st.focus != st.inner
		st.focus = st.inner
		return changed
	}
	if st.asking || d.ctx.Err() != nil {
		st.again = true
		return false
	}
	st.asking, st.again = true, true
	d.placed.Go(func() { d.place(p, st) })
	return false
}

// place asks where the frame with the focus is until that is reported its newest
// place.
func (d *Desk) place(p *browser.Page, st *pageState) {
	for {
		d.mu.Lock()
		if !st.again || st.frame == nil || d.ctx.Err() != nil {
			st.asking = false
			d.mu.Unlock()
			return
		}
		st.again = false
		f := st.frame
		d.mu.Unlock()

		ctx, cancel := context.WithTimeout(d.ctx, placePatience)
		x, y, err := f.Place(ctx)
		cancel()
		if err != nil && d.ctx.Err() == nil {
			d.o.Logger.Debug("place of a frame", "error", err)
		}
		d.mu.Lock()
		changed := false
		if err == nil && st.frame == f {
			now := Focus{Kind: st.inner.Kind, Rect: st.inner.Rect.moved(x, y)}
			changed = st.focus != now
			st.focus = now
		}
		d.mu.Unlock()
		if changed {
			d.tell(p, FocusChanged)
		}
	}
}
