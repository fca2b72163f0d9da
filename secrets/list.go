package secrets

import (
	"slices"
	"strings"

	"takeover/limits"
	"takeover/redact"
)

const (
	minSecret  = 3  // bytes, as in the redactor
	maxSecrets = 64 // of a List; the oldest are dropped first
)

// List is a list of secrets that a redactor hides. It has 64 at most, and forgets the
// oldest first. Its methods must not be called at the same time.
type List struct {
	redactor *redact.Redactor
	limits   *limits.Hits
	held     []registered
}

type registered struct {
	value  string
	remove func()
}

// NewList returns an empty list. hits counts the secrets that it forgets; nil counts
// nothing.
func NewList(r *redact.Redactor, hits *limits.Hits) *List {
	return &List{redactor: r, limits: hits}
}

// Add appends values that the list does not have yet. It ignores values under three
// bytes.
func (l *List) Add(values ...string) {
	for _, value := range values {
		if len(value) < minSecret || slices.ContainsFunc(l.held, func(r registered) bool { return r.value == value }) {
			continue
		}
		if len(l.held) >= maxSecrets {
			l.limits.Add(limits.Secrets, 1)
			l.held[0].remove()
			l.held = slices.Delete(l.held, 0, 1)
		}
		l.held = append(l.held, registered{value, l.redactor.AddSecret(value)})
	}
}

// Grow is Add, but a value that begins with the newest one takes its place.
func (l *List) Grow(value string) {
	if last := len(l.held) - 1; last >= 0 && strings.HasPrefix(value, l.held[last].value) {
		l.held[last].remove()
		l.held = l.held[:last]
	}
	l.Add(value)
}

// Clear forgets all values.
func (l *List) Clear() {
	for _, r := range l.held {
		r.remove()
	}
	l.held = nil
}
