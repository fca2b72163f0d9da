// Package secrets learns what people type into fields for passwords, codes and
// cards, and registers it with a redactor, so that nothing that is stored or logged
// contains it.
package secrets

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"takeover/capture"
	"takeover/input"
	"takeover/limits"
)

// Limits of what a Secrets remembers.
const (
	minSecret    = 3   // bytes, as in the redactor
	maxSecrets   = 64  // of each list; the oldest are dropped first
	minDraft     = 4   // bytes of the shortest draft that is registered; shorter ones would match everywhere
	minTold      = 6   // characters of the shortest content that a page is believed without likeness to what was typed
	maxTypedText = 512 // characters; nobody types a longer password
)

// Secrets registers with a redactor what the people in one session type into
// secret fields. It learns this in two ways: from their keys, before the page
// gets them, so that even a page that logs them at once reveals nothing; and
// from the contents of the fields that the page reports (package widget), which
// are right even after corrections, but which a hostile page may invent. All
// methods may be called from any goroutine.
type Secrets struct {
	redactor *capture.Redactor
	limits   *limits.Hits

	mu    sync.Mutex // guards what follows
	typed []rune     // the keys since the person entered this field
	kind  string     // kind of that field
	moved bool       // the person has pressed somewhere since the last key
	told  string     // the content of the field at its last change
	// What pages tell never displaces what people typed, because pages may lie.
	ofKeys, ofPages known
	changed         chan struct{} // closed and replaced when the focus or control moves
}

// known are secrets of one origin.
type known struct {
	kept   []registered
	drafts []registered // contents of fields while they were typed, forgotten when people lose control
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
		c.draftLocked(&c.ofKeys, string(c.typed))
	}
}

// Holds records what a page of an address tells about the content of a secret field
// after a change. A page may tell anything, and what it tells is hidden everywhere:
// call this at most once for each input of a person. What is not Credible is ignored,
// unless it is like what the person typed.
func (c *Secrets) Holds(value, address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !Credible(value, address) && !alike(value, string(c.typed)) {
		return
	}
	c.told = value
	c.draftLocked(&c.ofPages, value)
}

// Credible reports whether a page of an address may be believed that a text is a
// secret: it is long enough, has a letter or a digit, and is no part of the page's host.
func Credible(value, address string) bool {
	if utf8.RuneCountInString(value) < minTold || bare(value) == "" {
		return false
	}
	u, err := url.Parse(address)
	return err != nil || !strings.Contains(strings.ToLower(u.Host), strings.ToLower(value))
}

// alike reports whether one of two texts contains the other, apart from what stands
// between their letters and digits.
func alike(value, typed string) bool {
	value, typed = bare(value), bare(typed)
	return len(value) >= minSecret && len(typed) >= minSecret && (strings.Contains(value, typed) || strings.Contains(typed, value))
}

// bare returns the letters and digits of a text.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// Given records the password that a person gave to a server, and other forms of
// it.
func (c *Secrets) Given(values ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, value := range values {
		c.ofKeys.kept = c.register(c.ofKeys.kept, value)
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
		for _, k := range []*known{&c.ofKeys, &c.ofPages} {
			for _, d := range k.drafts {
				d.remove()
			}
			k.drafts = nil
		}
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
	for _, form := range forms(string(c.typed)) {
		c.ofKeys.kept = c.register(c.ofKeys.kept, form)
	}
	for _, form := range forms(c.told) {
		c.ofPages.kept = c.register(c.ofPages.kept, form)
	}
}

func (c *Secrets) draftLocked(k *known, value string) {
	for _, form := range forms(value) {
		if len(form) >= minDraft {
			k.drafts = c.register(k.drafts, form)
		}
	}
}

// register adds a value to the redactor, and removes the oldest if there are too
// many.
func (c *Secrets) register(list []registered, value string) []registered {
	if len(value) < minSecret || slices.ContainsFunc(list, func(r registered) bool { return r.value == value }) {
		return list
	}
	if len(list) >= maxSecrets {
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
