package screencast

import (
	"math"
	"time"
)

const (
	// The size of pictures changes in steps of 1/sizeStep of the page's size, so
	// that resizing a window does not keep restarting the cast.
	sizeStep = 8

	// leastSize is the smallest picture for a small window or a slow line, as a
	// fraction of the page's size.
	leastSize = 0.25
)

// View describes how a viewer shows a page. The zero value is a viewer about whom
// nothing is known, who gets pictures of the page's own size at the full rate.
type View struct {
	// Width and Height are the size of the whole page on the viewer's screen in
	// CSS pixels; 0 when unknown.
	Width, Height int
	PixelRatio    float64 // device pixels of the viewer's screen per CSS pixel; default 1
	MaxRate       int     // largest number of pictures per second; 0 for no limit
	Hidden        bool    // gets no pictures until it is visible again
}

// dense reports whether the viewer's screen has more than one pixel per CSS
// pixel. Stills for such a viewer have twice the resolution.
func (v View) dense() bool { return v.PixelRatio > 1 }

// size returns the size of pictures that the viewer needs, as a multiple of the
// page's size in CSS pixels.
func (v View) size(width, height int) float64 {
	if v.Width <= 0 || v.Height <= 0 || width <= 0 || height <= 0 {
		return math.Inf(1)
	}
	ratio := max(v.PixelRatio, 1)
	return ratio * min(float64(v.Width)/float64(width), float64(v.Height)/float64(height))
}

// SetView sets how the viewer shows the page from now on.
func (s *Subscription) SetView(v View) {
	c := s.cast
	c.mu.Lock()
	if s.view.Hidden && !v.Hidden {
		s.shown = time.Now()
	}
	s.view, s.interval = v, 0
	if v.MaxRate > 0 && v.MaxRate < FullRate {
		s.interval = time.Second / time.Duration(v.MaxRate)
	}
	c.reconsiderLocked()
	c.mu.Unlock()
	s.signal()
	c.kick()
}

// shape describes the pictures that Chromium should make.
type shape struct {
	quality       int
	width, height int // upper bounds in pixels; 0 for the page's own size
}

// reconsiderLocked computes the wanted shape again after a change of the viewers,
// the page's size or the level.
func (c *Cast) reconsiderLocked() {
	need := 0.0
	for s := range c.viewers {
		if !s.view.Hidden {
			need = max(need, s.view.size(c.width, c.height))
		}
	}
	if need == 0 { // no viewer is visible
		return
	}
	l := levels[c.adapter.level]
	size := max(min(math.Ceil(need*sizeStep)/sizeStep, c.options.Density)*l.size, leastSize)
	c.wanted = shape{quality: l.quality}
	if size < c.options.Density && c.width > 0 && c.height > 0 {
		c.wanted.width, c.wanted.height = int(math.Ceil(float64(c.width)*size)), int(math.Ceil(float64(c.height)*size))
	}
}
