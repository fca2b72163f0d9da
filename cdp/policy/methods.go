package policy

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
	Name         string // such as "Page.navigate"
	Script       bool   // scripts may send it in their own session with a page
	Client       Class
	Writes       bool   // it changes what a person sees or works with
	Draws        bool   // it shows what a page looks like, and waits while a person is in a secret field
	Reason       string // why clients may not send it, or how it is mapped
	ScriptReason string // why scripts may not send it
}

var (
	//go:embed methods.txt
	methodsFile string
	//go:embed events.txt
	eventsFile string

	all    = parse(methodsFile)
	byName = index(all)
)

// textNotOpened is why scripts may not send a command that has no more specific
// reason.
const textNotOpened = "it is not among the commands that are known to concern the script's own page alone"

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
		m := Method{Name: words[0], Script: words[1] == "allowed", Writes: words[3] == "writes", Draws: words[3] == "draws"}
		switch words[2] {
		case "pass":
			m.Client = Pass
		case "mapped":
			m.Client = Mapped
		}
		reason, own := "", ""
		if len(words) == 5 {
			reason, own, _ = strings.Cut(words[4], "|")
		}
		m.Reason = strings.TrimSpace(reason)
		switch {
		case m.Script:
		case own != "":
			m.ScriptReason = strings.TrimSpace(own)
		case m.Client == Refused:
			m.ScriptReason = m.Reason
		default:
			m.ScriptReason = textNotOpened
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
