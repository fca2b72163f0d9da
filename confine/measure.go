package confine

import "strings"

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
	Shm       = "own /dev/shm"
	Files     = "Landlock"
	Calls     = "system call filter"
	Limits    = "resource limits"
	Cgroup    = "cgroup"
)

// A Measure says whether a protection is in force.
type Measure struct {
	Name   string `json:"name"`
	On     bool   `json:"on"`
	Reason string `json:"reason,omitempty"` // why it is not, or what is missing of it
}

// Report lists all measures of one start.
type Report []Measure

// add adds the outcome of one measure.
func (r *Report) add(name string, err error) {
	m := Measure{Name: name, On: err == nil}
	if err != nil {
		m.Reason = err.Error()
	}
	*r = append(*r, m)
}

// Refused lists the measures that are not in force, for a log or a person. It is
// empty when all are.
func (r Report) Refused() string {
	var all []string
	for _, m := range r {
		if !m.On {
			all = append(all, m.Name+": "+m.Reason)
		}
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

// spec is what the server tells the launcher.
type spec struct {
	Path  string   `json:"path"`
	Args  []string `json:"args"`
	Env   []string `json:"env"`
	Read  []string `json:"read"`  // further files and folders that Chromium may read and execute
	Write []string `json:"write"` // folders that belong to it
	Port  int      `json:"port"`  // where the proxy listens in the network namespace; 0 for none
	Rooms uintptr  `json:"rooms"` // flags of the namespaces that the launcher stands in
}

// ready is what the launcher tells the server before it starts Chromium. The
// listener comes with it as a descriptor.
type ready struct {
	Report Report `json:"report"`
	Error  string `json:"error,omitempty"`
}
