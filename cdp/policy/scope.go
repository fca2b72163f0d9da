package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/runtime"

	"takeover/text"
)

// reservedNames begin the names of the server's isolated worlds, and of the functions
// in them that report to it.
var reservedNames = []string{"takeover-", "__takeover", "takeoverReport"}

// ReservedName reports whether an isolated world or a binding of this name is the
// server's own.
func ReservedName(name string) bool {
	return slices.ContainsFunc(reservedNames, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Program is the kind of a program.
type Program uint8

// The kinds.
const (
	Script Program = iota // with a session of its own with a page
	Client                // of the CDP endpoint
)

// World is an execution context of a page's or a frame's target.
type World struct {
	Unique string // its unique id
	Name   string // empty for that of the page's own scripts
	Ours   bool   // it is one of the server's isolated worlds, in which no program may run anything
}

// Host is what a Scope asks about its session. All methods may be called from any
// goroutine, and must not wait.
type Host interface {
	// Address checks an address that a program opens, and returns it as Chromium
	// reads it.
	Address(text string) (string, error)

	// World finds an execution context by its id or, if that is 0, by its unique
	// id. ok is false while the server knows of none.
	World(target string, id int64, unique string) (w World, ok bool)

	// Veiled reports whether pictures of a target are held back, because a person is
	// in a secret field.
	Veiled(target string) bool

	// Failure returns the error of a request as a Chromium without a proxy has it,
	// given what Chromium said.
	Failure(address, text string) string
}

// maxNames bounds the worlds and the bindings that a Scope remembers, by name. A binding
// that was forgotten is not added to worlds that the program makes later.
const maxNames = 100

// Scope decides what a program may say in one of its CDP sessions, and what it is
// told there. All methods may be called from any goroutine.
type Scope struct {
	host    Host
	program Program
	target  string
	open    bool // the target has no isolated worlds: a worker, or the browser

	pause    pause
	holding  holding
	requests requests

	mu       sync.Mutex      // guards what follows
	told     map[int64]World // the worlds that the program was told of, while they live
	worlds   []string        // names of worlds that the program makes
	bindings []string        // what the program adds to all worlds
}

// withoutWorlds are the types of targets that have no isolated worlds.
var withoutWorlds = []string{"browser", "tab", "worker", "shared_worker", "service_worker", "worklet", "shared_storage_worklet", "auction_worklet"}

// NewScope returns the Scope of a program's session with a target of the given type,
// such as "page".
func NewScope(host Host, program Program, target, kind string) *Scope {
	return &Scope{host: host, program: program, target: target, open: slices.Contains(withoutWorlds, kind), told: map[int64]World{}}
}

// Command is a command that a program may send.
type Command struct {
	Method Method
	Params json.RawMessage // as they go to Chromium
	Before []Call          // what the session must be sent before

	byUnique bool // a world's number was replaced by its unique id
}

// Call is a command of the server's own.
type Call struct {
	Method string
	Params json.RawMessage
}

// Check checks a command that is about to be sent. The error is a *RefusedError, or the one
// of Host.Address.
func (s *Scope) Check(method string, params json.RawMessage) (Command, error) {
	m, known := Find(method)
	switch {
	case !known:
		return Command{}, &RefusedError{Code: CodeMethod, Message: "'" + text.Clip(method, 100) + "' wasn't found"}
	case s.program == Script && !m.Script:
		return Command{}, Refuse(method, m.ScriptReason)
	case s.program == Client && m.Client == Refused:
		return Command{}, Refuse(method, m.Reason)
	}
	switch {
	case string(params) == "null":
		params = nil
	case len(params) > 0 && params[0] != '{':
		return Command{}, &RefusedError{Code: CodeParams, Message: "params: object expected"}
	}
	cmd := Command{Method: m, Params: params}
	rule := rules[method]
	found, err := s.checkWorlds(method, params, rule.members)
	if err != nil {
		return Command{}, err
	}
	if method == runtime.Disable.Method {
		s.worldsGone() // the program will not be told of their end
	}
	if rule.check == nil || rule.members != nil && !found {
		return cmd, nil
	}
	o, err := ReadObject(params)
	if err != nil {
		return Command{}, err
	}
	changed, err := rule.check(s, &cmd, o)
	if err == nil && changed {
		cmd.Params, err = o.Encode()
	}
	return cmd, err
}

// Begin must be called just before a command is sent that has passed Check. The error
// says that a debugger's command does not fit the present pause of the page.
func (s *Scope) Begin(method string, params []byte) error {
	debugs := strings.HasPrefix(method, "Debugger.")
	if debugs || strings.HasPrefix(method, "Fetch.") {
		s.holding.follow(method, params)
	}
	if !debugs {
		return nil
	}
	var p pauseParams
	if err := Decode(params, &p); err != nil {
		return err
	}
	if reason := s.pause.check(method, p); reason != "" {
		return Refuse(method, reason)
	}
	return nil
}

// Answered must be called with Chromium's answer to a command that has passed Check: err
// is nil or the error. It returns the error that the program gets.
func (s *Scope) Answered(cmd Command, err error) error {
	switch {
	case err != nil && cmd.byUnique && strings.Contains(err.Error(), "uniqueContextId not found"):
		return errNoWorld
	case err != nil:
		s.pause.failed(cmd.Method.Name)
	case cmd.Method.Name == runtime.Disable.Method:
		s.worldsGone() // also those that it was told of meanwhile
	}
	return err
}

// world returns a world in which the program may run something: one that it was told of,
// or one that the server knows not to be its own. A world that the server does not know
// yet is closed, so guessing its number is of no use.
func (s *Scope) world(id int64) (w World, ok bool) {
	if s.open {
		return World{}, true
	}
	s.mu.Lock()
	w, ok = s.told[id]
	s.mu.Unlock()
	if ok {
		return w, true
	}
	w, ok = s.host.World(s.target, id, "")
	return w, ok && !w.Ours
}

// hides reports whether an event of Runtime in a world is hidden. A program that gets
// these events was told of all worlds that it may see.
func (s *Scope) hides(id int64) bool {
	if s.open || id == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, told := s.told[id]
	return !told
}

// remember adds a name to a list, and forgets the oldest if there are too many.
func remember(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	if len(list) == maxNames {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, name)
}

// without returns a list without a name.
func without(list []string, name string) []string {
	return slices.DeleteFunc(list, func(other string) bool { return other == name })
}
