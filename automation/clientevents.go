package automation

import (
	"sync"

	"takeover/browser"
)

// clientEvents holds a client's subscriptions, and the remembered events that it
// may still request.
type clientEvents struct {
	mu            sync.Mutex // guards what follows
	told          bool       // init was called, so events are sent
	closed        bool
	subscriptions map[subscription]bool
	journals      map[*browser.Page]*journal
	unhear        func() // stops listening to consoles
}

func newClientEvents() clientEvents {
	return clientEvents{subscriptions: map[subscription]bool{}, journals: map[*browser.Page]*journal{}}
}

// begin starts sending events. hear starts listening to consoles.
func (e *clientEvents) begin(hear func() (unhear func())) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.told && !e.closed {
		e.unhear = hear()
	}
	e.told = true
}

// begun reports whether events are sent, or were until the client was closed.
func (e *clientEvents) begun() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.told
}

// open reports whether events are sent.
func (e *clientEvents) open() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.told && !e.closed
}

// listen starts or ends a subscription, and reports whether there was one.
func (e *clientEvents) listen(s subscription, on bool) (before bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before = e.subscriptions[s]
	if on {
		e.subscriptions[s] = true
	} else {
		delete(e.subscriptions, s)
	}
	return before
}

// listens reports whether one of these subscriptions exists.
func (e *clientEvents) listens(these ...subscription) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range these {
		if e.subscriptions[s] {
			return true
		}
	}
	return false
}

// journal reads or changes the remembered events of a page.
func (e *clientEvents) journal(p *browser.Page, do func(*journal)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.journals[p]
	if j == nil {
		j = &journal{}
		e.journals[p] = j
	}
	do(j)
}

// navigated records that a page has another document.
func (e *clientEvents) navigated(p *browser.Page) {
	e.journal(p, func(j *journal) { j.navigation++ })
}

// drop forgets a closed page.
func (e *clientEvents) drop(p *browser.Page) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.journals, p)
	for s := range e.subscriptions {
		if s.where == any(p) {
			delete(e.subscriptions, s)
		}
	}
}

// close stops sending events. It returns the function that stops listening to
// consoles, or nil.
func (e *clientEvents) close() (unhear func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	unhear = e.unhear
	e.closed, e.unhear = true, nil
	return unhear
}
