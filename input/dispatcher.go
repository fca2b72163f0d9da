package input

import (
	"errors"
	"slices"
	"sync"

	cdpinput "github.com/chromedp/cdproto/input"

	"takeover/cdp"
)

// maxHeldKeys bounds the keys that are held down at the same time. It is more
// than a person's fingers.
const maxHeldKeys = 32

// Dispatcher sends input to one page. Its methods may be called from any
// goroutine and send in the order of the calls. They never wait for Chromium: an
// error means that the page's session or the connection is gone. Validate a
// message before passing it to a method.
type Dispatcher struct {
	session *cdp.Session

	mu        sync.Mutex // guards what follows; Send only queues
	x, y      float64    // position of the mouse
	moved     bool       // the page knows this position
	held      int        // mouse buttons, as bits of MouseEvent.buttons
	keys      []pressedKey
	fingers   []finger
	composing bool
}

// pressedKey is a key that is down.
type pressedKey struct {
	id  string // its code, or its name if it has no code
	key Key
}

// New returns the dispatcher for the page that s is attached to.
func New(s *cdp.Session) *Dispatcher { return &Dispatcher{session: s} }

// Key sends a key that went down or up. It drops the release of a key whose press
// the page never saw. When more than maxHeldKeys are down, it releases the key
// that was pressed first.
func (d *Dispatcher) Key(k Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := k.Code
	if id == "" {
		id = k.Key
	}
	at := -1
	for i := range d.keys {
		if d.keys[i].id == id {
			at = i
		}
	}
	switch {
	case k.Event == "up" && at < 0:
		return nil
	case k.Event == "up":
		d.keys = append(d.keys[:at], d.keys[at+1:]...)
	case at < 0:
		if len(d.keys) == maxHeldKeys {
			if err := d.releaseKeyLocked(0); err != nil {
				return err
			}
		}
		d.keys = append(d.keys, pressedKey{id, k})
	}
	return cdp.Send(d.session, cdpinput.DispatchKeyEvent, keyParams(k))
}

// Text enters a whole text. It replaces a composition.
func (d *Dispatcher) Text(t Text) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.composing = false
	return cdp.Send(d.session, cdpinput.InsertText, cdpinput.InsertTextParams{Text: t.Text})
}

// Compose shows the unfinished text of an input method.
func (d *Dispatcher) Compose(c Compose) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.Text == "" && !d.composing {
		return nil
	}
	d.composing = c.Text != ""
	return d.composeLocked(c)
}

func (d *Dispatcher) composeLocked(c Compose) error {
	return cdp.Send(d.session, cdpinput.ImeSetComposition, cdpinput.ImeSetCompositionParams{
		Text: c.Text, SelectionStart: int64(c.Start), SelectionEnd: int64(c.End),
	})
}

// ReleaseAll releases buttons and keys, and cancels fingers and a composition.
func (d *Dispatcher) ReleaseAll() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	errs = append(errs, d.cancelTouchLocked(0))
	if d.composing {
		d.composing = false
		errs = append(errs, d.composeLocked(Compose{}))
	}
	errs = append(errs, d.releaseButtonsLocked(d.held, d.heldModifiersLocked()))
	for len(d.keys) > 0 { // last pressed first
		errs = append(errs, d.releaseKeyLocked(len(d.keys)-1))
	}
	return errors.Join(errs...)
}

// releaseKeyLocked releases a key that is down.
func (d *Dispatcher) releaseKeyLocked(i int) error {
	k := d.keys[i].key
	d.keys = slices.Delete(d.keys, i, i+1)
	k.Event, k.Repeat, k.Text = "up", false, ""
	k.Modifiers = d.heldModifiersLocked()
	return cdp.Send(d.session, cdpinput.DispatchKeyEvent, keyParams(k))
}

// heldModifiersLocked returns the modifiers whose keys are down.
func (d *Dispatcher) heldModifiersLocked() int {
	bits := 0
	for _, p := range d.keys {
		switch p.key.Key {
		case "Alt":
			bits |= ModAlt
		case "Control":
			bits |= ModCtrl
		case "Meta":
			bits |= ModMeta
		case "Shift":
			bits |= ModShift
		}
	}
	return bits
}
