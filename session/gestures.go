package session

import (
	"sync"
	"time"

	"takeover/browser"
)

// gestures records when people last did something in a session. Pop-ups,
// copies, prints and menus use it to decide whether a person wanted what
// happens now, and idle timeouts to find out whether the session is in use.
type gestures struct {
	mu      sync.Mutex    // guards what follows
	used    time.Time     // when anybody last used the session
	worked  time.Time     // when a program, a script or a person last worked in it
	calls   int           // of programs, under way
	readers int           // who wait for events
	input   time.Time     // when a person in control last sent input, or control last changed
	pressed time.Time     // when a person last pressed something
	printed time.Time     // value of pressed when a page last printed
	image   time.Time     // value of pressed when a copied image was last passed on
	page    *browser.Page // the last page in which a person pressed something, or whose question a person answered
	inPage  time.Time     // when a person last pressed something in page, or answered its question

	entered   *browser.Page // the last page that got a person's key, text or press
	enteredAt time.Time     // when
	unspent   int           // such inputs that have not explained a change of a field yet
}

func newGestures(now time.Time) *gestures { return &gestures{used: now, worked: now} }

// use records that somebody uses the session.
func (g *gestures) use() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used = time.Now()
}

// work records that a program, a script or a person works in the session.
func (g *gestures) work() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used = time.Now()
	g.worked = g.used
}

// call records that a call of a program is under way until done is called.
func (g *gestures) call() (done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.calls--
		g.used = time.Now()
	}
}

// calling reports whether a call of a program is under way.
func (g *gestures) calling() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls > 0
}

// follow records that somebody waits for events until done is called.
func (g *gestures) follow() (done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.readers++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.readers--
	}
}

// busy reports whether a call is under way, or somebody waits for events.
func (g *gestures) busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls > 0 || g.readers > 0
}

// forget forgets the pages of a session that has ended.
func (g *gestures) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.page, g.entered = nil, nil
}

// act records input of a person in control.
func (g *gestures) act() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used = time.Now()
	g.input, g.worked = g.used, g.used
}

// press records that a person pressed something in a page.
func (g *gestures) press(p *browser.Page) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pressed = time.Now()
	g.page, g.inPage = p, g.pressed
}

// maxUnspent bounds the inputs that may still explain changes.
const maxUnspent = 64

// enter records a person's input that may change the content of a field.
func (g *gestures) enter(p *browser.Page) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.entered != p {
		g.entered, g.unspent = p, 0
	}
	g.enteredAt, g.unspent = time.Now(), min(g.unspent+1, maxUnspent)
}

// explains reports whether a person's input within the given time may have changed a
// field of a page. Each input explains one change.
func (g *gestures) explains(p *browser.Page, window time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.entered != p || g.unspent == 0 || time.Since(g.enteredAt) > window {
		return false
	}
	g.unspent--
	return true
}

// answer records that a person answered a page's question, and so wants what the
// page opens next.
func (g *gestures) answer(p *browser.Page) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.page, g.inPage = p, time.Now()
}

// lastWork returns when somebody last worked in the session.
func (g *gestures) lastWork() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.worked
}

// idle returns how long the session has been unused.
func (g *gestures) idle(now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return now.Sub(g.used)
}

// atWork reports whether a person in control sent input within the given time.
func (g *gestures) atWork(now time.Time, within time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return now.Sub(g.input) < within
}

// atWorkIn reports whether a person in control sent input within the given time, and pressed or typed
// last in the page.
func (g *gestures) atWorkIn(p *browser.Page, now time.Time, within time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return now.Sub(g.input) < within && (g.page == p || g.entered == p)
}

// pressedWithin reports whether a person pressed something within the given time.
func (g *gestures) pressedWithin(window time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Since(g.pressed) <= window
}

// wanted reports whether a page was opened within the given time after a person's
// press in its opener.
func (g *gestures) wanted(opener *browser.Page, opened time.Time, window time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.page == opener && opened.Sub(g.inPage) <= window
}

// copyImage reports whether a copied image may be passed on. Each press permits one
// image, because pictures wait behind it on the viewer's line.
func (g *gestures) copyImage() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.image.Equal(g.pressed) {
		return false
	}
	g.image = g.pressed
	return true
}

// print reports whether a page may print because a person pressed something
// within the given time. Each press permits one print.
func (g *gestures) print(window time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Since(g.pressed) > window || g.printed.Equal(g.pressed) {
		return false
	}
	g.printed = g.pressed
	return true
}
