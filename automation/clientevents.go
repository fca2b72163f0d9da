package automation

import (
	"sync"

	"takeover/browser"
)

// clientEvents is what a client is reported, and what it may still ask for.
type clientEvents struct {
	mu            sync.Mutex // guards what follows
	told          bool       // init was called: events go out
	closed        bool
	subscriptions map[subscription]bool
	journals      map[*browser.Page]*journal
	unhear        func() // ends hearing consoles
}

func newClientEvents() clientEvents {
	return clientEvents{subscriptions: map[subscription]bool{}, journals: map[*browser.Page]*journal{}}
}

// begin lets events go out from now on. hear begins to hear consoles.
func (e *clientEvents) begin(hear func() (unhear func())) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.told && !e.closed {
		e.unhear = hear()
	}
	e.told = true
}

// begun says whether events go out, or did until the client was closed.
func (e *clientEvents) begun() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.told
}

// open says whether events go out.
func (e *clientEvents) open() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.told && !e.closed
}

// listen begins or ends a subscription, and says whether there was one.
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

// listens says whether there is one of these subscriptions.
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

// journal reads or changes what is remembered of a page.
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

// navigated notes that a page has another document.
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

// close ends the events. It gives what ends hearing consoles, or nil.
func (e *clientEvents) close() (unhear func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	unhear = e.unhear
	e.closed, e.unhear = true, nil
	return unhear
}
