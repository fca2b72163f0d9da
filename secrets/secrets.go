// Package secrets learns what people type into fields for passwords, codes and
// cards, and registers it with a redactor, so that nothing that is stored or logged
// contains it.
package secrets

import (
	"net/url"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"takeover/input"
	"takeover/limits"
	"takeover/redact"
)

// Limits of what a Secrets remembers.
const (
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
	kept   *List
	drafts *List // contents of fields while they were typed, forgotten when people lose control
}

// New returns a Secrets that knows no secrets yet. hits counts the secrets that it
// forgets; nil counts nothing.
func New(r *redact.Redactor, hits *limits.Hits) *Secrets {
	origin := func() known { return known{NewList(r, hits), NewList(r, hits)} }
	return &Secrets{ofKeys: origin(), ofPages: origin(), changed: make(chan struct{})}
}

// Key records a key or a text that a person sends to a secret field. kind is one
// of widget.Kinds. Call it before the page gets the key.
func (c *Secrets) Key(k input.Key, kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kind != c.kind || c.moved && kind != "otp" { // each digit of a code may have a field of its own
		c.finishLocked()
	}
	c.kind, c.moved = kind, false
	switch {
	case k.Event != "down":
	case k.Key == "Enter" || k.Key == "Tab":
		c.finishLocked()
	case k.Key == "Backspace":
		c.typed = c.typed[:max(0, len(c.typed)-1)]
	case k.Text != "" && len(c.typed)+len(k.Text) <= maxTypedText:
		c.typed = append(c.typed, []rune(k.Text)...)
		c.ofKeys.draft(string(c.typed))
	}
}

// Holds records what a page of an address tells about the content of a secret field
// after a change. A page may tell anything, and what it tells is hidden everywhere:
// call this at most once for each input of a person. A value that is not Credible counts
// only if it is like what the person typed.
func (c *Secrets) Holds(value, address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !Credible(value, address) && !alike(value, string(c.typed)) {
		return
	}
	c.told = value
	c.ofPages.draft(value)
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
	c.ofKeys.kept.Add(values...)
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
		c.finishLocked()
	}
	c.tellLocked()
}

// ControlChanged records that a person got or lost control.
func (c *Secrets) ControlChanged(person bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishLocked()
	if !person {
		c.ofKeys.drafts.Clear()
		c.ofPages.drafts.Clear()
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

// finishLocked keeps the typed text for good. The next key begins another secret.
func (c *Secrets) finishLocked() {
	c.keepLocked()
	c.typed, c.told = nil, ""
}

func (c *Secrets) keepLocked() {
	c.ofKeys.kept.Add(forms(string(c.typed))...)
	c.ofPages.kept.Add(forms(c.told)...)
}

// draft adds an unfinished content.
func (k known) draft(value string) {
	for _, form := range forms(value) {
		if len(form) >= minDraft {
			k.drafts.Add(form)
		}
	}
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
