package session

import (
	"context"
	"sync"
	"time"

	"takeover/browser"
	"takeover/invalid"
)

// resizeTimeout bounds how long Resize waits for the pages.
const resizeTimeout = 10 * time.Second

// pageSize is the size of the session's pages.
type pageSize struct {
	fitting sync.Mutex // held while pages get a size, so that all get the same
	mu      sync.Mutex
	wanted  Dimensions
}

func (z *pageSize) get() Dimensions {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.wanted
}

func (z *pageSize) set(d Dimensions) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.wanted = d
}

// fit gives a browser's pages the size.
func (z *pageSize) fit(ctx context.Context, eng *engine) error {
	ctx, cancel := context.WithTimeout(ctx, resizeTimeout)
	defer cancel()
	z.fitting.Lock()
	defer z.fitting.Unlock()
	d := z.get()
	return eng.model.DefaultContext().Resize(ctx, browser.Size{Width: d.Width, Height: d.Height})
}

// fits reports whether a browser's pages have the size.
func (z *pageSize) fits(eng *engine) bool {
	d, v := z.get(), eng.model.DefaultContext().Options().Viewport
	return v.Width == d.Width && v.Height == d.Height
}

// Resize gives the session's tabs another size, in CSS pixels, and those that open
// later, also in a browser that starts after a crash. Contexts of clients keep theirs.
// The error is an invalid.Error, or says why the session has ended.
func (s *Session) Resize(ctx context.Context, d Dimensions) error {
	if err := s.life.alive(); err != nil {
		return err
	}
	if bad := d.check(); len(bad) > 0 {
		return &invalid.Error{Fields: bad}
	}
	s.tabs.size.set(d)
	s.archive()
	if eng := s.tabs.browser(); eng != nil {
		return s.tabs.size.fit(ctx, eng)
	}
	return nil // goLive does it
}

// check returns what is wrong with a size.
func (d Dimensions) check() (bad []invalid.FieldError) {
	for _, side := range []struct {
		name   string
		pixels int
	}{{"width", d.Width}, {"height", d.Height}} {
		if side.pixels < minSide || side.pixels > maxSide {
			bad = append(bad, invalid.Field("dimensions."+side.name, "must be between %d and %d", minSide, maxSide).Fields...)
		}
	}
	return bad
}
