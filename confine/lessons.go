package confine

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// kind is what starts have in common whose outcome must be the same.
type kind struct {
	launcher string
	path     string // of Chromium
	network  bool
	drops    bool // to another user
}

func kindOf(o Options) kind {
	return kind{launcher: strings.Join(o.Launcher, " "), path: o.Path, network: o.Network, drops: o.UID != os.Geteuid()}
}

// lesson is what this server knows about one kind of starts.
type lesson struct {
	without  map[string]string // measures that are left out, with reasons
	required []string          // measures that were in force when a Chromium answered; empty before
}

// lessonBook keeps the lessons of this server.
type lessonBook struct {
	mu  sync.Mutex // guards all
	all map[kind]lesson
}

var lessons = lessonBook{all: map[kind]lesson{}}

// of returns what is known. Its map belongs to the caller.
func (b *lessonBook) of(k kind) lesson {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.all[k]
	known.without = maps.Clone(known.without)
	if known.without == nil {
		known.without = map[string]string{}
	}
	return known
}

// prove keeps what held in the first start in which Chromium answered.
func (b *lessonBook) prove(k kind, report Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.all[k]
	if known.required != nil {
		return
	}
	known = lesson{without: maps.Clone(known.without), required: []string{}}
	if known.without == nil {
		known.without = map[string]string{}
	}
	for _, m := range report {
		if m.On {
			known.required = append(known.required, m.Name)
			continue
		}
		if isNamespace(m.Name) { // each trial costs a start of the launcher; the others cost nothing
			known.without[m.Name] = m.Reason
		}
	}
	b.all[k] = known
}

// Proven reports whether a Chromium has answered in such a confinement. If it has, then
// one that ends at once does so for another reason.
func Proven(o Options) bool { return lessons.of(kindOf(o)).required != nil }

// LeaveOut leaves measures out of all further starts of this kind, because
// Chromium does not start with them.
func LeaveOut(o Options, names []string, reason string) {
	k := kindOf(o)
	known := lessons.of(k)
	if known.required != nil {
		return // it did start
	}
	for _, name := range names {
		known.without[name] = reason
	}
	lessons.mu.Lock()
	defer lessons.mu.Unlock()
	if lessons.all[k].required == nil {
		lessons.all[k] = known
	}
}

func isNamespace(name string) bool {
	return slices.ContainsFunc(namespaces, func(n namespace) bool { return n.name == name })
}
