// Package secrets learns what people type into fields for passwords, codes and
// cards, and registers it with a redactor, so that nothing that is stored or logged
// contains it.
package secrets

import (
	"slices"
	"strings"
	"sync"

	"takeover/capture"
	"takeover/input"
	"takeover/limits"
)

// Limits of what a Secrets remembers.
const (
	minSecret    = 3   // bytes, as in the redactor
	maxSecrets   = 64  // of a session; the oldest are dropped first
	maxDrafts    = 64  // unfinished texts; the oldest are dropped first
	minDraft     = 4   // bytes of the shortest draft that is registered; shorter ones would match everywhere
	maxTypedText = 512 // characters; nobody types a longer password
)

// Secrets registers with a redactor what the people in one session type into
// secret fields. It learns this in two ways: from their keys, before the page
// gets them, so that even a page that logs them at once reveals nothing; and
// from the contents of the fields that the page reports (package widget), which
// are right even after corrections. All methods may be called from any
// goroutine.
type Secrets struct {
	redactor *capture.Redactor
	limits   *limits.Hits

	mu      sync.Mutex // guards what follows
	typed   []rune     // the keys since the person entered this field
	kind    string     // kind of that field
	moved   bool       // the person has pressed somewhere since the last key
	told    string     // the content of the field at its last change
	kept    []registered
	drafts  []registered  // contents of fields while they were typed, forgotten when people lose control
	changed chan struct{} // closed and replaced when the focus or control moves
}

type registered struct {
	value  string
	remove func()
}

// New returns a Secrets that knows no secrets yet. hits counts the secrets that it
// forgets; nil counts nothing.
func New(r *capture.Redactor, hits *limits.Hits) *Secrets {
	return &Secrets{redactor: r, limits: hits, changed: make(chan struct{})}
}

// Key records a key or a text that a person sends to a secret field. kind is one
// of widget.Kinds. Call it before the page gets the key.
func (c *Secrets) Key(k input.Key, kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kind != c.kind || c.moved && kind != "otp" { // each digit of a code may have a field of its own
		c.settleLocked()
	}
	c.kind, c.moved = kind, false
	switch {
	case k.Event != "down":
	case k.Key == "Enter" || k.Key == "Tab":
		c.settleLocked()
	case k.Key == "Backspace":
		c.typed = c.typed[:max(0, len(c.typed)-1)]
	case k.Text != "" && len(c.typed)+len(k.Text) <= maxTypedText:
		c.typed = append(c.typed, []rune(k.Text)...)
		c.draftLocked(string(c.typed))
	}
}

// Holds records the content of a secret field after a change.
func (c *Secrets) Holds(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = value
	c.draftLocked(value)
}

// Given records the password that a person gave to a server, and other forms of
// it.
func (c *Secrets) Given(values ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, value := range values {
		c.kept = c.register(c.kept, value, maxSecrets)
	}
}

// Elsewhere records that the person presses elsewhere in the page, perhaps on a
// button that submits the secret.
func (c *Secrets) Elsewhere() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepLocked()
	c.moved = true
}

// FocusChanged records that the focus or the caret of a page moved. left means
// that the focus of the shown page is no longer in a secret field.
func (c *Secrets) FocusChanged(left bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left {
		c.settleLocked()
	}
	c.tellLocked()
}

// ControlChanged records that a person got or lost control.
func (c *Secrets) ControlChanged(person bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked()
	if !person {
		for _, d := range c.drafts {
			d.remove()
		}
		c.drafts = nil
	}
	c.tellLocked()
}

// Changed returns a channel that is closed when the focus or control moves.
func (c *Secrets) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

func (c *Secrets) tellLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// settleLocked keeps the typed text for good. The next key begins another secret.
func (c *Secrets) settleLocked() {
	c.keepLocked()
	c.typed, c.told = nil, ""
}

func (c *Secrets) keepLocked() {
	for _, value := range []string{string(c.typed), c.told} {
		for _, form := range forms(value) {
			c.kept = c.register(c.kept, form, maxSecrets)
		}
	}
}

func (c *Secrets) draftLocked(value string) {
	for _, form := range forms(value) {
		if len(form) >= minDraft {
			c.drafts = c.register(c.drafts, form, maxDrafts)
		}
	}
}

// register adds a value to the redactor, and removes the oldest if there are too
// many.
func (c *Secrets) register(list []registered, value string, most int) []registered {
	if len(value) < minSecret || slices.ContainsFunc(list, func(r registered) bool { return r.value == value }) {
		return list
	}
	if len(list) >= most {
		c.limits.Add(limits.Secrets, 1)
		list[0].remove()
		list = slices.Delete(list, 0, 1)
	}
	return append(list, registered{value, c.redactor.AddSecret(value)})
}

// forms returns a value as it was typed, and as a site may store it: numbers of
// cards and codes without spaces and hyphens.
func forms(value string) []string {
	bare := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, value)
	if bare == value || strings.Trim(bare, "0123456789") != "" {
		return []string{value}
	}
	return []string{value, bare}
}
