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
)

// Limits of what a Secrets remembers.
const (
	minSecret    = 3   // bytes, as the redactor has it
	maxSecrets   = 64  // a session's; the oldest go first
	maxDrafts    = 64  // of what is being typed
	minDraft     = 4   // bytes of a beginning that is worth it: a shorter one is everywhere
	maxTypedText = 512 // characters; nobody types a longer password
)

// Secrets tells a redactor what people of one session type into secret fields. It
// learns that twice: from their keys, before the page gets them, so that a page that
// logs them at once reveals nothing; and from what the page says its fields hold
// (package widget), which is also right after corrections. All methods may be
// called from any goroutine.
type Secrets struct {
	redactor *capture.Redactor

	mu      sync.Mutex // guards what follows
	typed   []rune     // the keys since the person came to this field
	kind    string     // of that field
	moved   bool       // they pressed somewhere since
	told    string     // what the field held when it changed last
	kept    []registered
	drafts  []registered  // what the field held before, forgotten when the person leaves
	changed chan struct{} // closed and replaced when the focus or control moved
}

type registered struct {
	value  string
	remove func()
}

// New returns a Secrets that knows none yet.
func New(r *capture.Redactor) *Secrets {
	return &Secrets{redactor: r, changed: make(chan struct{})}
}

// Key learns a key or a text that a person sends to a secret field of a kind, one of
// widget.Kinds. Call it before the page gets the key.
func (c *Secrets) Key(k input.Key, kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kind != c.kind || c.moved && kind != "otp" { // a code's digits may each have a field of their own
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

// Holds learns what a secret field holds after a change.
func (c *Secrets) Holds(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = value
	c.draftLocked(value)
}

// Given learns the user name and password that a person gave to a server.
func (c *Secrets) Given(values ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, value := range values {
		c.kept = c.register(c.kept, value, maxSecrets)
	}
}

// Elsewhere notes that the person presses somewhere else: maybe on a button that
// submits the secret.
func (c *Secrets) Elsewhere() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepLocked()
	c.moved = true
}

// FocusChanged notes that the focus or the caret of a page moved. With left, the
// shown page has no focus in a secret field any more.
func (c *Secrets) FocusChanged(left bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left {
		c.settleLocked()
	}
	c.tellLocked()
}

// ControlChanged notes that control went to a person or away from one.
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

// settleLocked keeps the typed text for good: the next key begins another secret.
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

// register tells the redactor one value more, and forgets the oldest of too many.
func (c *Secrets) register(list []registered, value string, most int) []registered {
	if len(value) < minSecret || slices.ContainsFunc(list, func(r registered) bool { return r.value == value }) {
		return list
	}
	if len(list) >= most {
		list[0].remove()
		list = slices.Delete(list, 0, 1)
	}
	return append(list, registered{value, c.redactor.AddSecret(value)})
}

// forms returns a value as it was typed, and as a site may keep it: the numbers of
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
