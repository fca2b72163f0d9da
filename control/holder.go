// Package control says who may act in a session: it holds the control lease, and
// passes it between people. It knows nothing of browsers, pages or sockets.
package control

import (
	"fmt"
	"strings"
)

// Kind is what sort of party a holder is.
type Kind uint8

// The kinds of holders.
const (
	KindNobody Kind = iota
	KindPerson      // a viewer
	KindScript      // the run that is under way
	KindClient      // a program that drives the session from outside
)

// Holder names a party that may hold a session's control lease. Holders can be
// compared. On the wire a holder is its String.
type Holder struct {
	Kind Kind
	ID   string // of a person the viewer's id, of a client its own; empty for a script
}

var (
	// Nobody holds a lease that is free.
	Nobody = Holder{}
	// Script is the run that is under way: a session has one at a time.
	Script = Holder{Kind: KindScript}
)

// Person returns the holder for a viewer's id.
func Person(viewer string) Holder { return Holder{KindPerson, viewer} }

// Client returns the holder for the id of a program that drives the session from
// outside.
func Client(id string) Holder { return Holder{KindClient, id} }

// IsPerson reports whether the holder is a person.
func (h Holder) IsPerson() bool { return h.Kind == KindPerson }

// IsProgram reports whether the holder is a script or a client.
func (h Holder) IsProgram() bool { return h.Kind == KindScript || h.Kind == KindClient }

// The wire form of holders.
const (
	wireScript = "script"
	wirePerson = "viewer:" // and the id
	wireClient = "client:" // and the id
)

// String returns the wire form: "" for nobody, "script", "viewer:<id>" or
// "client:<id>".
func (h Holder) String() string {
	switch h.Kind {
	case KindPerson:
		return wirePerson + h.ID
	case KindScript:
		return wireScript
	case KindClient:
		return wireClient + h.ID
	default:
		return ""
	}
}

// Parse reads the wire form. It reports false for a text that names no holder,
// such as "api".
func Parse(text string) (Holder, bool) {
	if text == "" {
		return Nobody, true
	}
	if text == wireScript {
		return Script, true
	}
	if id, ok := strings.CutPrefix(text, wirePerson); ok && id != "" {
		return Person(id), true
	}
	if id, ok := strings.CutPrefix(text, wireClient); ok && id != "" {
		return Client(id), true
	}
	return Nobody, false
}

// MarshalText returns the wire form.
func (h Holder) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the wire form. It returns an error for a text that names no
// holder.
func (h *Holder) UnmarshalText(raw []byte) error {
	read, ok := Parse(string(raw))
	if !ok {
		return fmt.Errorf("control: %.80q names no holder", raw)
	}
	*h = read
	return nil
}
