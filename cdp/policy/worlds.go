package policy

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/runtime"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// errNoWorld is Chromium's error for a world that is not there, which is also what a
// program learns of one of the server's worlds.
var errNoWorld = &RefusedError{Code: CodeServer, Message: "Cannot find context with specified id"}

// checkWorlds refuses a command that names one of the server's worlds, a world that the
// program cannot know, or an object in one of them. It looks at all parameters,
// however deep, because objects stand in arguments, too. found reports whether one of some
// names is that of a parameter itself, not of something in it.
func (s *Scope) checkWorlds(method string, params []byte, names []string) (found bool, err error) {
	if len(params) == 0 {
		return false, nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(params), jsontext.AllowInvalidUTF8(true))
	name := ""
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return false, wrongParams(err)
		}
		depth := d.StackDepth()
		if kind, n := d.StackIndex(depth); kind == '{' && n%2 == 1 {
			name = token.String()
			found = found || depth == 1 && slices.Contains(names, name)
			continue
		}
		if err := s.checkMember(method, name, token); err != nil {
			return false, err
		}
		name = "" // the items of a list have no name
	}
}

// checkMember checks one parameter.
func (s *Scope) checkMember(method, name string, value jsontext.Token) error {
	switch value.Kind() {
	case '0':
		if name == "contextId" || name == "executionContextId" {
			id, ok := integer(value.Float())
			if !ok {
				return &RefusedError{Code: CodeParams, Message: "Invalid parameters: " + name + ": integer value expected"}
			}
			if _, ok := s.world(id); !ok {
				return errNoWorld
			}
		}
	case '"':
		switch {
		case name == "worldName" || name == "executionContextName":
			if ReservedName(value.String()) {
				return Refuse(method, "the name is the server's own")
			}
		case name == "uniqueContextId":
			if w, ok := s.host.World(s.target, 0, value.String()); ok && w.Ours {
				return errNoWorld
			}
		case name == "objectId" || strings.HasSuffix(name, "ObjectId"):
			if id, ok := contextOf(value.String()); ok {
				if _, ok := s.world(id); !ok {
					return errNoWorld
				}
			}
		}
	}
	return nil
}

// integer returns the integer that Chromium reads from a number.
func integer(n float64) (int64, bool) {
	return int64(n), n == math.Trunc(n) && math.Abs(n) <= math.MaxInt32
}

// contextOf returns the execution context of an object or a call frame: its id is made
// of the numbers of the isolate, of the context and of the object or frame. An id that
// is not written as Chromium writes it belongs to no context, 0. ok is false for an id
// of another form, in which Chromium finds no context.
func contextOf(id string) (context int64, ok bool) {
	parts := strings.SplitN(id, ".", 3)
	if len(parts) < 3 {
		return 0, false
	}
	context, err := strconv.ParseInt(parts[1], 10, 32)
	if err != nil || strconv.FormatInt(context, 10) != parts[1] {
		return 0, true
	}
	return context, true
}

// inWorld names the world of a command by its unique id. Its number might be given to
// another world before the command arrives, in a process that begins to count anew.
func inWorld(member string) ruled {
	return ruled{members: []string{member, commandLine}, check: func(s *Scope, cmd *Command, o Object) (bool, error) {
		changed := o.remove(commandLine) // see withoutCommandLine
		w, err := s.named(o, member)
		if err != nil || w.Unique == "" || o["uniqueContextId"] != nil {
			return changed, err
		}
		delete(o, member)
		cmd.byUnique = true
		return true, o.Put("uniqueContextId", w.Unique)
	}}
}

// named returns the world whose number is a member of an object, or the zero World if
// there is no number or the target has no worlds of the server.
func (s *Scope) named(o Object, member string) (World, error) {
	var id int64
	if string(o[member]) == "null" || !decode(o[member], &id) {
		return World{}, nil // Chromium refuses what is not a number
	}
	w, ok := s.world(id)
	if !ok {
		return World{}, errNoWorld
	}
	return w, nil
}

// makeWorld remembers the name of a world that the program makes, and gives it the
// program's bindings.
func makeWorld(s *Scope, cmd *Command, o Object) (bool, error) {
	for _, name := range []string{"grantUniveralAccess", "grantUniversalAccess"} { // the first is Chromium's spelling
		if s.program == Script && string(o[name]) == "true" { // clients reach every page anyway
			return false, Refuse(cmd.Method.Name, "a world with universal access reads what pages of other sites hold")
		}
	}
	name, _ := o.Text("worldName")
	if name == "" {
		return false, nil
	}
	s.mu.Lock()
	s.worlds = remember(s.worlds, name)
	bindings := append([]string(nil), s.bindings...)
	s.mu.Unlock()
	for _, binding := range bindings {
		if err := cmd.bindBefore(binding, name); err != nil {
			return false, err
		}
	}
	return false, nil
}

// addBinding adds a binding without a world to those of the pages and to those that the
// program makes. To Chromium it would mean all worlds, and replace what the server's
// use.
func addBinding(s *Scope, cmd *Command, o Object) (bool, error) {
	name, err := ownBinding(cmd, o)
	if err != nil || s.open || len(o["executionContextName"]) > 0 {
		return false, err
	}
	if w, err := s.named(o, "executionContextId"); err != nil || w.Unique != "" {
		delete(o, "executionContextId")
		return true, cmp.Or(err, o.Put("executionContextName", w.Name))
	}
	s.mu.Lock()
	s.bindings = remember(s.bindings, name)
	worlds := append([]string(nil), s.worlds...)
	s.mu.Unlock()
	for _, world := range worlds {
		if err := cmd.bindBefore(name, world); err != nil {
			return false, err
		}
	}
	return true, o.Put("executionContextName", "")
}

// removeBinding forgets a binding.
func removeBinding(s *Scope, cmd *Command, o Object) (bool, error) {
	name, err := ownBinding(cmd, o)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bindings = without(s.bindings, name)
	return false, nil
}

// ownBinding returns the name of a binding, which must not be one of the server's.
func ownBinding(cmd *Command, o Object) (string, error) {
	name, _ := o.Text("name")
	if ReservedName(name) {
		return "", Refuse(cmd.Method.Name, "the name is the server's own")
	}
	return name, nil
}

// bindBefore has a binding added to a world before the command.
func (c *Command) bindBefore(binding, world string) error {
	raw, err := jsonv2.Marshal(runtime.AddBindingParams{Name: binding, ExecutionContextName: world})
	c.Before = append(c.Before, Call{runtime.AddBinding.Method, raw})
	return err
}

// isOurs reports whether the server knows that a world is its own.
func (s *Scope) isOurs(id int64) bool {
	if s.open {
		return false
	}
	w, ok := s.host.World(s.target, id, "")
	return ok && w.Ours
}

// worldMade handles Runtime.executionContextCreated, and reports whether the program
// sees it.
func (s *Scope) worldMade(params []byte) bool {
	var e struct {
		Context struct {
			ID     int64  `json:"id"`
			Name   string `json:"name"`
			Unique string `json:"uniqueId"`
		} `json:"context"`
	}
	if !decode(params, &e) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ReservedName(e.Context.Name) && !s.open {
		delete(s.told, e.Context.ID) // in an earlier process
		return false
	}
	s.told[e.Context.ID] = World{Unique: e.Context.Unique, Name: e.Context.Name}
	return true
}

// worldGone handles Runtime.executionContextDestroyed, and reports whether the program
// sees it.
func (s *Scope) worldGone(params []byte) bool {
	var e struct {
		ID int64 `json:"executionContextId"`
	}
	if !decode(params, &e) || s.hides(e.ID) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.told, e.ID)
	return true
}

// worldsGone handles the end of all worlds.
func (s *Scope) worldsGone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.told)
}

// showsBinding reports whether the program sees Runtime.bindingCalled, which comes also to
// a program that does not get the other events of Runtime.
func (s *Scope) showsBinding(params []byte) bool {
	var e struct {
		ID   int64  `json:"executionContextId"`
		Name string `json:"name"`
	}
	if !decode(params, &e) || ReservedName(e.Name) {
		return false
	}
	_, ok := s.world(e.ID)
	return ok
}

// showsWorld reports whether the program sees an event of Runtime that is about a world.
func (s *Scope) showsWorld(params []byte) bool {
	var e struct {
		ID      int64 `json:"executionContextId"`
		Details struct {
			ID        int64 `json:"executionContextId"`
			Exception struct {
				ObjectID string `json:"objectId"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if !decode(params, &e) {
		return false
	}
	object, _ := contextOf(e.Details.Exception.ObjectID)
	return !s.hides(e.ID) && !s.hides(e.Details.ID) && !s.hides(object)
}
