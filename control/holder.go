// Package control decides who may act in a session: it keeps the control lease,
// and passes it between people. It knows nothing about browsers, pages or
// sockets.
package control

import (
	"fmt"
	"strings"
)

// Kind is the kind of a holder.
type Kind uint8

// The kinds of holders.
const (
	KindNobody Kind = iota
	KindPerson      // a viewer
	KindScript      // the script of the current run
	KindClient      // a program that drives the session from outside
)

// Holder names a party that may hold a session's control lease. Holders can be
// compared. On the wire a holder is its String.
type Holder struct {
	Kind Kind
	ID   string // a viewer's id for a person, the client's id for a client, empty for a script
}

var (
	// Nobody is the holder of a free lease.
	Nobody = Holder{}
	// Script is the current run. A session has at most one at a time.
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
	wirePerson = "viewer:" // followed by the id
	wireClient = "client:" // followed by the id
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

// Parse parses the wire form. It returns false for a text that is not a holder,
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

// UnmarshalText parses the wire form. It returns an error for a text that names
// no holder.
func (h *Holder) UnmarshalText(raw []byte) error {
	read, ok := Parse(string(raw))
	if !ok {
		return fmt.Errorf("control: %.80q is not a holder", raw)
	}
	*h = read
	return nil
}
