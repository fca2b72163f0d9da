package questions

import (
	"context"
	"errors"
	"sync"

	"takeover/browser"
	"takeover/id"
	"takeover/invalid"
	"takeover/widget"
)

// SelectMessage describes a popup that Chromium would open over the page for a
// field, so that viewers can draw it. With Closed, the picker has ended.
type SelectMessage struct {
	Type string `json:"type"` // select
	ID   string `json:"id"`
	*widget.Description
	Closed bool `json:"closed,omitempty"`
}

// Pickers are the popups that Chromium opens for fields of the page that is
// shown. While a person has control, viewers draw them instead. At most one is
// open.
type Pickers struct {
	open  *register
	shown func() (*browser.Page, context.Context)

	mu      sync.Mutex // guards what follows
	tracker *widget.Tracker
	next    *widget.Picker // the newest picker that has opened and was not taken over yet
	taking  bool           // a goroutine runs take
	ended   *widget.Picker // the last picker that was answered or left; it never opens again
}

func (p *Pickers) attach(d *widget.Tracker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tracker, p.next, p.ended = d, nil, nil // the pickers were the former browser's
}

// Opened takes over a picker of the page that is shown, if a person has
// control. Otherwise it leaves the picker alone, so that a script can use it.
// It runs on the model's goroutine.
func (p *Pickers) Opened(k *widget.Picker) {
	if p.open.host.Control() != Person {
		return
	}
	if page, _ := p.shown(); page != k.Page() {
		return
	}
	p.mu.Lock()
	p.next = k
	taking := p.taking
	p.taking = true
	p.mu.Unlock()
	if !taking {
		p.open.spawn(p.take)
	}
}

// Gone ends the picker of a field that has lost the focus. It runs on the
// model's goroutine.
func (p *Pickers) Gone(k *widget.Picker) {
	p.mu.Lock()
	p.ended = k
	p.mu.Unlock()
	p.open.dropIf(func(q *question) bool { return isPicker(q) && q.about.(*widget.Picker).Same(k) })
}

// take takes over the newest picker that has opened, until there are no more.
func (p *Pickers) take() {
	for {
		page, place := p.shown()
		p.mu.Lock()
		k := p.next
		p.next = nil
		if k == nil || page == nil {
			p.taking = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		if k.Page() != page {
			continue
		}
		ctx, cancel := context.WithTimeout(place, answerTimeout)
		d, err := k.Take(ctx)
		cancel()
		if err == nil {
			p.show(place, k, &d)
			continue
		}
		if !errors.Is(err, widget.ErrGone) && place.Err() == nil {
			p.open.log.Debug("take over what a page has opened", "error", err)
		}
		p.open.dropIf(func(q *question) bool { return isPicker(q) && q.about.(*widget.Picker).Same(k) })
	}
}

// show makes viewers draw a picker. A new description of the same field keeps the
// id.
func (p *Pickers) show(place context.Context, k *widget.Picker, d *widget.Description) {
	same := func(q *question) bool { return isPicker(q) && q.about.(*widget.Picker).Same(k) }
	p.open.dropIf(func(q *question) bool { return isPicker(q) && !same(q) })
	if q := p.open.find(same); q != nil {
		p.open.change(q, SelectMessage{Type: "select", ID: q.id, Description: d})
		return
	}
	id := id.New("sel")
	q := &question{
		id: id, page: k.Page(), to: Seeing, slot: "select " + id, about: k,
		message:  SelectMessage{Type: "select", ID: id, Description: d},
		closed:   SelectMessage{Type: "select", ID: id, Closed: true},
		document: k.Destroyed(), place: place.Done(), personal: true,
	}
	p.mu.Lock()
	inserted := (p.ended == nil || !p.ended.Same(k)) && p.open.insert(q)
	p.mu.Unlock()
	if !inserted {
		return
	}
	p.open.ask(q)
	if p.open.host.Control() != Person { // control has changed hands meanwhile
		p.open.dropIf(same)
	}
}

// onControlChanged makes the shown page report its open picker again when a
// person takes control. A picker that a script left open would otherwise swallow
// the person's keys.
func (p *Pickers) onControlChanged(person bool) {
	page, _ := p.shown()
	p.mu.Lock()
	tracker := p.tracker
	p.mu.Unlock()
	if person && page != nil && tracker != nil {
		p.open.spawn(func() { tracker.Look(page) })
	}
}

// Answer sets a field: a select to the options with the given values, and any
// other field to the one value. With nil, it sets nothing. The error is an
// *invalid.Error or the browser's.
func (p *Pickers) Answer(ctx context.Context, id string, values []string) error {
	if len(values) > widget.MaxOptions {
		return invalid.Field("values", "must be at most %d", widget.MaxOptions)
	}
	k := p.end(id)
	if k == nil {
		return invalid.Field("id", "there is nothing open of that id")
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	switch err := k.Answer(ctx, values); {
	case errors.Is(err, widget.ErrChoice):
		return invalid.Field("values", "cannot be chosen")
	case errors.Is(err, widget.ErrGone):
		return invalid.Field("id", "the field is gone")
	default:
		return err
	}
}

// end takes the open picker with an id for the caller, who answers it. It returns
// nil if there is none.
func (p *Pickers) end(id string) *widget.Picker {
	p.mu.Lock()
	q := p.open.find(func(q *question) bool { return q.id == id && isPicker(q) })
	if q == nil || !p.open.remove(q) {
		p.mu.Unlock()
		return nil
	}
	k := q.about.(*widget.Picker)
	p.ended = k
	p.mu.Unlock()
	p.open.takeBack(q)
	return k
}

func isPicker(q *question) bool { return isAbout[*widget.Picker](q) }
