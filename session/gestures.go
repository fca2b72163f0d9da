package session

import (
	"sync"
	"time"

	"takeover/browser"
)

// gestures records when people last did something in a session. Idle timeouts,
// pop-ups, copies, prints and menus ask it whether a person wanted what happens now.
type gestures struct {
	mu      sync.Mutex // guards what follows
	used    time.Time  // when anybody last used the session
	input   time.Time  // when a person in control last sent input, or control last changed
	pressed time.Time  // when a person last pressed something
	printed time.Time  // what pressed was when a page last printed
	page    *browser.Page
	inPage  time.Time // when a person last pressed something in page, or answered it
}

func newGestures(now time.Time) *gestures { return &gestures{used: now} }

// use notes that somebody uses the session.
func (g *gestures) use() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used = time.Now()
}

// act notes input of a person in control.
func (g *gestures) act() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used = time.Now()
	g.input = g.used
}

// press notes that a person pressed something in a page.
func (g *gestures) press(p *browser.Page) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pressed = time.Now()
	g.page, g.inPage = p, g.pressed
}

// answer notes that a person answered what a page asked: they want what it opens.
func (g *gestures) answer(p *browser.Page) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.page, g.inPage = p, time.Now()
}

// idle returns how long nobody has used the session.
func (g *gestures) idle(now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return now.Sub(g.used)
}

// atWork reports whether a person in control sent input within a time.
func (g *gestures) atWork(now time.Time, within time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return now.Sub(g.input) < within
}

// pressedWithin reports whether a person pressed something within a time.
func (g *gestures) pressedWithin(window time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Since(g.pressed) <= window
}

// wanted reports whether a page was opened within a time of a person's press in
// another page, its opener.
func (g *gestures) wanted(opener *browser.Page, opened time.Time, window time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.page == opener && opened.Sub(g.inPage) <= window
}

// print reports whether a page may print for a person who pressed something within a
// time. Each press is good for one print.
func (g *gestures) print(window time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Since(g.pressed) > window || g.printed.Equal(g.pressed) {
		return false
	}
	g.printed = g.pressed
	return true
}
