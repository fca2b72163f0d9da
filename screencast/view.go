package screencast

import (
	"math"
	"time"
)

const (
	// sizeStep divides the page's size: pictures come in so many sizes only, so
	// that a window that is being resized does not restart the cast all the time.
	sizeStep = 8

	// leastSize is the smallest picture, as a part of the page's size, that is
	// made for a small window or a slow line.
	leastSize = 0.25
)

// View is how a viewer looks at a page. The zero value is a viewer of whom
// nothing is known: it gets pictures of the page's own size, at full rate.
type View struct {
	// Width and Height are those of the whole page as it is shown, in CSS pixels
	// of the viewer's screen; 0 when they are not known.
	Width, Height int
	PixelRatio    float64 // device pixels of the viewer's screen per CSS pixel; default 1
	MaxRate       int     // pictures per second at most; 0 for no limit
	Hidden        bool    // nobody sees it: no pictures until it is shown again
}

// dense reports whether the viewer's screen shows more than one pixel per CSS
// pixel. Such a viewer's stills have twice the resolution.
func (v View) dense() bool { return v.PixelRatio > 1 }

// size is how large pictures need to be for the viewer, as a multiple of a page
// of so many CSS pixels.
func (v View) size(width, height int) float64 {
	if v.Width <= 0 || v.Height <= 0 || width <= 0 || height <= 0 {
		return math.Inf(1)
	}
	ratio := max(v.PixelRatio, 1)
	return ratio * min(float64(v.Width)/float64(width), float64(v.Height)/float64(height))
}

// SetView says how the viewer looks at the page from now on.
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

// shape is what Chromium is told of the pictures it shall make.
type shape struct {
	quality       int
	width, height int // at most, in pixels; 0 for the page's own
}

// reconsiderLocked works out anew what pictures should be like, after viewers,
// the page's size or the level changed.
func (c *Cast) reconsiderLocked() {
	need := 0.0
	for s := range c.viewers {
		if !s.view.Hidden {
			need = max(need, s.view.size(c.width, c.height))
		}
	}
	if need == 0 { // nobody looks
		return
	}
	l := levels[c.adapter.level]
	size := max(min(math.Ceil(need*sizeStep)/sizeStep, c.options.Density)*l.size, leastSize)
	c.wanted = shape{quality: l.quality}
	if size < c.options.Density && c.width > 0 && c.height > 0 {
		c.wanted.width, c.wanted.height = int(math.Ceil(float64(c.width)*size)), int(math.Ceil(float64(c.height)*size))
	}
}
