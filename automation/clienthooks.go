package automation

import (
	"fmt"
	"slices"
	"sync"

	"takeover/browser"
)

// clientHooks holds what a client adds to pages, and its handlers that run before
// actions.
type clientHooks struct {
	mu       sync.Mutex // guards what follows, and which handlers of overlays run
	last     int        // number of the newest binding
	bindings map[string]*binding
	carries  map[*browser.Page]bool // pages with the page side of bindings
	overlays []*overlayHandler
	clocks   map[*browser.Context]bool // contexts with a fake clock
	engines  *engines                  // selector engines of the client; nil without any
}

func newClientHooks() clientHooks {
	return clientHooks{bindings: map[string]*binding{}, carries: map[*browser.Page]bool{}, clocks: map[*browser.Context]bool{}}
}

// addBinding adds a binding, unless its name is taken. A binding without a name
// is called by its id.
func (h *clientHooks) addBinding(b *binding, bc *browser.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.name != "" {
		if err := h.takenLocked(b, bc); err != nil {
			return err
		}
	}
	h.last++
	b.id = fmt.Sprintf("binding@%d", h.last)
	if b.name == "" {
		b.name = b.id
	}
	h.bindings[b.id] = b
	return nil
}

// takenLocked returns an error that says where the name of a binding is taken, or
// nil if it is free.
func (h *clientHooks) takenLocked(b *binding, bc *browser.Context) error {
	for _, o := range h.bindings {
		if o.name != b.name {
			continue
		}
		p, onPage := o.where.(*browser.Page)
		switch {
		case o.where == b.where:
			return errorf("Function %q has been already registered", b.name)
		case o.where == any(bc):
			return errorf("Function %q has been already registered in the browser context", b.name)
		case onPage && b.where == any(p.Context()):
			return errorf("Function %q has been already registered in one of the pages", b.name)
		}
	}
	return nil
}

// addFunctions adds bindings that have only an id.
func (h *clientHooks) addFunctions(ids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		h.bindings[id] = &binding{id: id, name: id}
	}
}

// installed records the script of a binding. If err is set, it drops the binding.
func (h *clientHooks) installed(b *binding, s *browser.InitScript, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b.script = s
	if err != nil {
		delete(h.bindings, b.id)
	}
}

// takeBinding drops a binding with a script and returns it, or nil.
func (h *clientHooks) takeBinding(id string) *binding {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bindings[id]
	if b == nil || b.script == nil { // removed, not installed yet, or without a name
		return nil
	}
	delete(h.bindings, id)
	return b
}

// hasBinding reports whether a binding exists.
func (h *clientHooks) hasBinding(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bindings[id] != nil
}

// carry records that a page has the page side of bindings, and reports whether it
// had it before.
func (h *clientHooks) carry(p *browser.Page) (had bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	had = h.carries[p]
	h.carries[p] = true
	return had
}

// fakeTime records that a context has a fake clock, and reports whether it had
// one before.
func (h *clientHooks) fakeTime(bc *browser.Context) (was bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was = h.clocks[bc]
	h.clocks[bc] = true
	return was
}

func (h *clientHooks) addOverlay(o *overlayHandler) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.overlays = append(h.overlays, o)
}

// endOverlay ends the current call of a handler; with remove, it removes the
// handler.
func (h *clientHooks) endOverlay(o *overlayHandler, remove bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.finished != nil {
		close(o.finished)
		o.finished = nil
	}
	if remove {
		h.overlays = slices.DeleteFunc(h.overlays, func(other *overlayHandler) bool { return other == o })
	}
}

// overlaysOf returns a page's handlers, or none while one of them runs.
func (h *clientHooks) overlaysOf(p *browser.Page) []*overlayHandler {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []*overlayHandler
	for _, o := range h.overlays {
		if o.page != p {
			continue
		}
		if o.finished != nil {
			return nil
		}
		list = append(list, o)
	}
	return list
}

// beginOverlay begins a call of a handler. It returns a channel that is closed at
// the end of the call, or nil when the handler is already running or was removed.
func (h *clientHooks) beginOverlay(o *overlayHandler) chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.finished != nil || !slices.Contains(h.overlays, o) {
		return nil
	}
	o.finished = make(chan struct{})
	return o.finished
}

// abandonOverlay stops waiting for a call's end.
func (h *clientHooks) abandonOverlay(o *overlayHandler, finished chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.finished == finished {
		o.finished = nil
	}
}

// addEngine adds a selector engine.
func (h *clientHooks) addEngine(e *engine) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	set, err := h.engines.with(e)
	if err == nil {
		h.engines = set
	}
	return err
}

// customEngines returns the client's selector engines, or nil.
func (h *clientHooks) customEngines() *engines {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.engines
}

// drop forgets a closed page.
func (h *clientHooks) drop(p *browser.Page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.carries, p)
	h.overlays = slices.DeleteFunc(h.overlays, func(o *overlayHandler) bool { return o.page == p })
}
