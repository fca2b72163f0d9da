package confine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Command is the hidden subcommand that runs the launcher.
const Command = "chromium-launcher"

// Names of the measures.
const (
	Users     = "user namespace"
	Processes = "process namespace"
	Mounts    = "mount namespace"
	IPC       = "IPC namespace"
	Network   = "network namespace"
	Proc      = "own /proc"
	Nested    = "limit of namespaces"
	Shm       = "own /dev/shm"
	Hidden    = "hidden folders"
	Files     = "Landlock"
	Calls     = "system call filter"
	Limits    = "resource limits"
	Connects  = "connections to the proxy only"
	Cgroup    = "cgroup"
)

// errBefore is returned when a measure fails that was in force in an earlier start
// of this server. The kernel has it, so a Chromium may be using up what it needs;
// later ones must not get weaker confinement because of that.
var errBefore = errors.New("this worked at an earlier start, and is required since")

// A Measure says whether a protection is in force.
type Measure struct {
	Name   string `json:"name"`
	On     bool   `json:"on"`
	Reason string `json:"reason,omitempty"` // why it is not, or what is missing of it
	Partly bool   `json:"partly,omitempty"` // it is in force, except for what the reason says
}

// Report lists all measures of one start.
type Report []Measure

// add adds the outcome of one measure.
func (r *Report) add(name string, err error) {
	m := Measure{Name: name, On: err == nil}
	if err != nil {
		m.Reason = err.Error()
		_, m.Partly = errors.AsType[*partly](err)
	}
	*r = append(*r, m)
}

// partly is the error of a measure that is in force only in part.
type partly struct{ missing string }

func (p *partly) Error() string { return p.missing }

// Nothing returns the report of a start without a launcher: no measure is in
// force, for one reason.
func Nothing(reason string) Report {
	var r Report
	for _, n := range []string{Users, Processes, Mounts, IPC, Network, Proc, Nested, Shm, Hidden, Files, Calls, Limits, Cgroup} {
		r = append(r, Measure{Name: n, Reason: reason})
	}
	return r
}

// missing returns an error when one of the measures is not in force.
func (r Report) missing(required []string) error {
	for _, m := range r {
		if !m.On && slices.Contains(required, m.Name) {
			return fmt.Errorf("%w: %s: %s", errBefore, m.Name, m.Reason)
		}
	}
	return nil
}

// Refused lists the measures that are not in force, for a log or a person. It is
// empty when all are.
func (r Report) Refused() string {
	var all []string
	for i := 0; i < len(r); i++ {
		if r[i].On {
			continue
		}
		names := r[i].Name
		for i+1 < len(r) && !r[i+1].On && r[i+1].Reason == r[i].Reason {
			i++
			names += ", " + r[i].Name
		}
		all = append(all, names+": "+r[i].Reason)
	}
	return strings.Join(all, "; ")
}

// On reports whether a measure is in force.
func (r Report) On(name string) bool {
	for _, m := range r {
		if m.Name == name {
			return m.On
		}
	}
	return false
}

// Partly reports whether a measure is in force, at least in part.
func (r Report) Partly(name string) bool {
	for _, m := range r {
		if m.Name == name {
			return m.On || m.Partly
		}
	}
	return false
}

// spec is what the server tells the launcher first. Chromium's arguments come with
// a second message.
type spec struct {
	Path       string            `json:"path"`
	Env        []string          `json:"env"`
	Read       []string          `json:"read"`       // files and folders that Chromium may read and execute
	Write      []string          `json:"write"`      // folders that belong to it
	Keep       []string          `json:"keep"`       // folders around them that hide nothing
	Lent       []string          `json:"lent"`       // of Path and Read, what only the server reaches: their mounts come with the message
	Hide       []string          `json:"hide"`       // real paths of the server's own files and folders, sorted
	OwnUser    bool              `json:"ownUser"`    // whether its user is another than the server's
	Namespaces uintptr           `json:"namespaces"` // flags of the namespaces that the launcher stands in
	Listen     int               `json:"listen"`     // the port on which it makes the proxy's listener in its network namespace; 0 for none
	Connect    int               `json:"connect"`    // the only TCP port that may be connected to, without such a namespace; 0 for all
	Without    map[string]string `json:"without"`    // measures to leave out, with reasons
	Required   []string          `json:"required"`   // measures whose failure is an error
}

// ready is what the launcher tells the server when the confinement is set up. The
// listener comes with it as a descriptor.
type ready struct {
	Report Report `json:"report"`
	Error  string `json:"error,omitempty"`
}
