package questions

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"takeover/browser"
	"takeover/id"
	"takeover/invalid"
	"takeover/text"
	"takeover/widget"
)

const (
	// maxPermissions bounds the refused permissions that are open at the same
	// time.
	maxPermissions = 20
	// maxAllowed bounds the permissions that people may give the sites of a
	// session.
	maxAllowed = 200
)

// ErrAllowed is returned when people have already given maxAllowed permissions.
var ErrAllowed = fmt.Errorf("the sites of a session have at most %d", maxAllowed)

// PermissionMessage describes a permission that a page asked for and was refused.
// With Closed, it can no longer be granted.
type PermissionMessage struct {
	Type   string `json:"type"` // permission
	ID     string `json:"id"`
	Origin string `json:"origin,omitempty"`
	Name   string `json:"name,omitempty"` // one of widget.Permissions
	Closed bool   `json:"closed,omitempty"`
}

// Geolocation is the position that pages see, in degrees and meters.
type Geolocation = browser.Geolocation

// Permissions are the permissions that pages were refused, and those that people
// allowed. No page waits for them, because a Chromium without a window refuses at
// once. When people allow one later, the page is loaded again.
type Permissions struct {
	open  *register
	shown func() (*browser.Page, context.Context)

	mu      sync.Mutex // guards what follows
	browser Browser    // the present browser; its fields are nil before the first
	allowed []permission
	place   *Geolocation // the position for pages that may know it; nil until people allow geolocation
}

// permission is a named permission of a site.
type permission struct{ origin, name string }

func (p *Permissions) attach(b Browser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.browser = b
}

// Refused handles a refusal. It returns at once, and may run on the model's
// goroutine.
func (p *Permissions) Refused(r *widget.Refusal) {
	p.mu.Lock()
	scripts := p.browser.Scripts
	p.mu.Unlock()
	page := r.Page()
	origin := browser.Origin(page.URL())
	// If a script has granted permissions, Chromium refuses all others, even
	// before a page asks.
	if origin == "" || scripts == nil || scripts.GrantsPermissions() {
		return
	}
	p.open.spawn(func() {
		ctx, cancel := context.WithTimeout(p.open.ctx, answerTimeout)
		defer cancel()
		stands, err := r.Stands(ctx)
		if err != nil {
			p.open.log.Debug("state of a permission", "error", err)
		}
		if stands && !scripts.GrantsPermissions() {
			p.ask(page, permission{origin, r.Name})
		}
	})
}

// ask tells people about a refusal, once per site and permission. If several
// pages of a site were refused, the question is about the page that viewers
// see, because that page will be loaded again.
func (p *Permissions) ask(page *browser.Page, wanted permission) {
	same := func(q *question) bool {
		return q.about == wanted && q.page.Context() == page.Context()
	}
	shown, _ := p.shown()
	id := id.New("pm")
	q := &question{
		id: id, page: page, to: Acting, about: wanted,
		message: PermissionMessage{Type: "permission", ID: id, Name: wanted.name, Origin: text.Clip(wanted.origin, maxAddress)},
		closed:  PermissionMessage{Type: "permission", ID: id, Closed: true},
		stays:   func(url string) bool { return browser.Origin(url) == wanted.origin },
	}
	p.mu.Lock() // if two pages of a site are refused, only one asks
	known := p.open.find(same)
	added := known == nil && p.open.count(isAbout[permission]) < maxPermissions && p.open.insert(q)
	p.mu.Unlock()
	switch {
	case added:
		p.open.ask(q)
	case known != nil && shown == page:
		p.open.movePage(known, page)
	}
}

// Answer answers a refusal. With allow, the site gets the permission, and the
// page is loaded again so that it asks once more. place, for geolocation,
// becomes the position of all pages that may know it. Without place, an earlier
// position stays; if there is none, these pages get an error. The error is an
// *invalid.Error, ErrAllowed or the browser's.
func (p *Permissions) Answer(ctx context.Context, id string, allow bool, place *Geolocation) error {
	if err := checkGeolocation(place); err != nil {
		return err
	}
	q := p.open.take(id, isAbout[permission])
	if q == nil {
		return invalid.Field("id", "there is no such question")
	}
	if !allow {
		return nil
	}
	wanted, page := q.about.(permission), q.page
	scripts, err := p.keep(wanted)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if wanted.name == "geolocation" {
		if err := p.setGeolocation(ctx, page.Context(), place); err != nil {
			return err
		}
	}
	if err := scripts.Allow(ctx, page.Context(), wanted.origin, wanted.name); err != nil {
		return err
	}
	if browser.Origin(page.URL()) != wanted.origin {
		return nil
	}
	if _, err := page.Reload(ctx, browser.NavigateOptions{NoWait: true}); err != nil {
		p.open.log.Debug("reload for a permission", "error", err) // the page itself shows the outcome
	}
	return nil
}

func checkGeolocation(place *Geolocation) error {
	switch {
	case place == nil:
		return nil
	case !(place.Latitude >= -90 && place.Latitude <= 90):
		return invalid.Field("latitude", "must be between -90 and 90")
	case !(place.Longitude >= -180 && place.Longitude <= 180):
		return invalid.Field("longitude", "must be between -180 and 180")
	case !(place.Accuracy >= 0):
		return invalid.Field("accuracy", "must not be negative")
	}
	return nil
}

// setGeolocation sets the position of pages. nil keeps the present one, or makes the
// position unknown if there is none.
func (p *Permissions) setGeolocation(ctx context.Context, bc *browser.Context, place *Geolocation) error {
	if place == nil {
		if bc.Options().Geolocation != nil {
			return nil
		}
		place = &Geolocation{Unknown: true}
	}
	p.mu.Lock()
	p.place = place
	p.mu.Unlock()
	return bc.SetGeolocation(ctx, place)
}

// keep remembers a permission for the next browser, and returns the automation of
// the present one. The error is ErrAllowed, or browser.ErrBrowserClosed after the
// session's end.
func (p *Permissions) keep(allowed permission) (Scripts, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.browser.Scripts == nil {
		return nil, browser.ErrBrowserClosed
	}
	if !slices.Contains(p.allowed, allowed) {
		if len(p.allowed) >= maxAllowed {
			return nil, ErrAllowed
		}
		p.allowed = append(p.allowed, allowed)
	}
	return p.browser.Scripts, nil
}

// AllowAgain gives the sites of a new browser the permissions that people allowed
// before the last one died.
func (p *Permissions) AllowAgain(ctx context.Context) error {
	p.mu.Lock()
	b, allowed, place := p.browser, slices.Clone(p.allowed), p.place
	p.mu.Unlock()
	bc := b.Model.DefaultContext()
	if place != nil {
		if err := bc.SetGeolocation(ctx, place); err != nil {
			return err
		}
	}
	for _, a := range allowed {
		if err := b.Scripts.Allow(ctx, bc, a.origin, a.name); err != nil {
			return err
		}
	}
	return nil
}
