package session

import (
	"context"
	"fmt"
	"slices"

	"takeover/browser"
	"takeover/invalid"
	"takeover/text"
	"takeover/widget"
)

const (
	// maxPermissions is how many refusals viewers are told of at once.
	maxPermissions = 20
	// maxAllowed is how much people may allow the sites of a session.
	maxAllowed = 200
)

// permits are what pages were refused, and what people allowed them. Guarded by
// Session.mu.
type permits struct {
	open    map[string]*openPermission
	allowed []allowedPermission
	place   *Place // what pages that may know it are told; nil before
}

// openPermission is what a page asked for and did not get: a Chromium without a
// window refuses at once, so that nothing waits. People may allow it afterwards.
type openPermission struct {
	page    *browser.Page
	origin  string
	message PermissionMessage
}

// Place is where pages believe to be, in degrees and meters.
type Place = browser.Geolocation

type allowedPermission struct{ origin, name string }

// permissionRefused tells people what a page was refused. It may run on the model's
// goroutine.
func (s *Session) permissionRefused(r *widget.Refusal) {
	s.mu.Lock()
	eng := s.engine
	s.mu.Unlock()
	origin := browser.Origin(r.Page().URL())
	// While scripts say what their pages may, the rest is refused without being asked for.
	if origin == "" || eng == nil || eng.auto.GrantsPermissions() {
		return
	}
	s.spawn(func() {
		ctx, cancel := context.WithTimeout(s.ctx, actTimeout)
		defer cancel()
		stands, err := r.Stands(ctx)
		if err != nil {
			s.log.Debug("state of a permission", "error", err)
		}
		if stands && !eng.auto.GrantsPermissions() {
			s.askPermission(r.Page(), origin, r.Name)
		}
	})
}

// askPermission tells people of a refusal, once for each site.
func (s *Session) askPermission(p *browser.Page, origin, name string) {
	s.mu.Lock()
	for _, o := range s.permits.open {
		if o.origin == origin && o.message.Name == name && o.page.Context() == p.Context() {
			if s.focus != nil && s.focus.page == p {
				o.page = p // another one of the same site
			}
			s.mu.Unlock()
			return
		}
	}
	if len(s.permits.open) >= maxPermissions {
		s.mu.Unlock()
		return
	}
	o := &openPermission{page: p, origin: origin, message: PermissionMessage{
		Type: "permission", ID: newID("pm"), Name: name, Origin: text.Clip(origin, maxTitle),
	}}
	if s.permits.open == nil {
		s.permits.open = map[string]*openPermission{}
	}
	s.permits.open[o.message.ID] = o
	s.mu.Unlock()
	s.tellActors("", o.message)
}

// dropPermissions takes back what was told of a page, unless it shows that origin
// still.
func (s *Session) dropPermissions(page *browser.Page, origin string) {
	s.closePermissions(func(o *openPermission) bool { return o.page == page && o.origin != origin })
}

// closePermissions takes back what was told of some refusals.
func (s *Session) closePermissions(of func(*openPermission) bool) {
	s.mu.Lock()
	var gone []string
	for id, o := range s.permits.open {
		if of(o) {
			delete(s.permits.open, id)
			gone = append(gone, id)
		}
	}
	s.mu.Unlock()
	for _, id := range gone {
		s.tellActors("", PermissionMessage{Type: "permission", ID: id, Closed: true})
	}
}

func (s *Session) openPermissions() []PermissionMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []PermissionMessage
	for _, o := range s.permits.open {
		list = append(list, o.message)
	}
	return list
}

// Permission answers a permission message: with allow the site may from now on, and
// the page is loaded again so that it asks once more. place, for geolocation, is
// where all pages that may know it believe to be; without one they are told that
// nobody knows. Who may answer: see Auth.
func (v *Viewer) Permission(ctx context.Context, id string, allow bool, place *Place) error {
	if err := v.mayAnswer(); err != nil {
		return err
	}
	if err := checkPlace(place); err != nil {
		return err
	}
	s := v.session
	eng, err := s.ready()
	if err != nil {
		return err
	}
	s.mu.Lock()
	o := s.permits.open[id]
	delete(s.permits.open, id)
	s.mu.Unlock()
	if o == nil {
		return invalid.Field("id", "there is no such question")
	}
	s.tellActors("", PermissionMessage{Type: "permission", ID: id, Closed: true})
	if !allow {
		return nil
	}
	if !s.keepAllowed(allowedPermission{o.origin, o.message.Name}) {
		return fmt.Errorf("%w permissions: the sites of a session have at most %d", ErrTooMany, maxAllowed)
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	if o.message.Name == "geolocation" {
		if err := s.setPlace(ctx, o.page.Context(), place); err != nil {
			return err
		}
	}
	if err := eng.auto.Allow(ctx, o.page.Context(), o.origin, o.message.Name); err != nil {
		return err
	}
	if browser.Origin(o.page.URL()) != o.origin {
		return nil
	}
	if _, err := o.page.Reload(ctx, noWait); err != nil {
		s.log.Debug("reload for a permission", "error", err) // the page itself shows how it went
	}
	return nil
}

func checkPlace(place *Place) error {
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

// setPlace says where pages are; nil leaves what is known.
func (s *Session) setPlace(ctx context.Context, bc *browser.Context, place *Place) error {
	if place == nil {
		if bc.Options().Geolocation != nil {
			return nil
		}
		place = &Place{Unknown: true}
	}
	s.mu.Lock()
	s.permits.place = place
	s.mu.Unlock()
	return bc.SetGeolocation(ctx, place)
}

// keepAllowed keeps what is allowed for the next browser, unless there is too much.
func (s *Session) keepAllowed(a allowedPermission) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.permits
	switch {
	case slices.Contains(p.allowed, a):
		return true
	case len(p.allowed) >= maxAllowed:
		return false
	}
	p.allowed = append(p.allowed, a)
	return true
}

// allowAgain gives a new browser's sites what people allowed before the last one
// died.
func (s *Session) allowAgain(ctx context.Context, eng *engine) error {
	s.mu.Lock()
	list, place := slices.Clone(s.permits.allowed), s.permits.place
	s.mu.Unlock()
	bc := eng.model.DefaultContext()
	if place != nil {
		if err := bc.SetGeolocation(ctx, place); err != nil {
			return err
		}
	}
	for _, a := range list {
		if err := eng.auto.Allow(ctx, bc, a.origin, a.name); err != nil {
			return err
		}
	}
	return nil
}
