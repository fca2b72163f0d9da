// Package methods classifies the commands of the DevTools protocol: which of them
// scripts and clients may send, and which change what a person sees. The tables are
// methods.txt and events.txt; tests compare them with the protocol.
package methods

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
)

// Class says what happens to a command of a client.
type Class uint8

// The classes.
const (
	Refused Class = iota // it gets an error with Method.Reason
	Pass                 // it goes to Chromium as it is
	Mapped               // the server checks, changes or answers it; Method.Reason says how
)

// Method is a command of the protocol.
type Method struct {
	Name   string // such as "Page.navigate"
	Script bool   // scripts may send it in their own session with a page
	Client Class
	Writes bool   // it changes what a person sees or works with
	Reason string // why it is refused, or how it is mapped
}

var (
	//go:embed methods.txt
	methodsFile string
	//go:embed events.txt
	eventsFile string

	all    = parse(methodsFile)
	byName = index(all)
)

// Find returns the command of a name, or false if the table does not have it.
func Find(name string) (Method, bool) {
	m, ok := byName[name]
	return m, ok
}

// All returns the commands, sorted by name.
func All() iter.Seq[Method] { return slices.Values(all) }

// Events returns the names of the protocol's events, such as
// "Page.frameNavigated", sorted.
func Events() []string { return lines(eventsFile) }

// parse reads methods.txt. The test checks the words of each line.
func parse(file string) []Method {
	var list []Method
	for _, line := range lines(file) {
		words := strings.SplitN(line, " ", 5)
		if len(words) < 4 {
			continue
		}
		m := Method{Name: words[0], Script: words[1] == "allowed", Writes: words[3] == "writes"}
		switch words[2] {
		case "pass":
			m.Client = Pass
		case "mapped":
			m.Client = Mapped
		}
		if len(words) == 5 {
			m.Reason = words[4]
		}
		list = append(list, m)
	}
	return list
}

func index(list []Method) map[string]Method {
	table := make(map[string]Method, len(list))
	for _, m := range list {
		table[m.Name] = m
	}
	return table
}

// lines returns the lines of a file without its comments.
func lines(file string) []string {
	var list []string
	for line := range strings.Lines(file) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}
