package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The sets of tools that a client may choose with ?tools=.
const (
	setCore     = "core"     // sessions, reading pages, and the usual actions
	setInput    = "input"    // rarer actions
	setCode     = "code"     // JavaScript in the page, and scripts
	setNetwork  = "network"  // console, requests, events
	setTakeover = "takeover" // people
	setDiagnose = "diagnose" // what is wrong with pages
	setRecord   = "record"   // evidence
	setSessions = "sessions" // their time, and sign-ins that are kept

	// The following are offered only to clients that ask for them, because few tasks
	// need them.
	setEmulate     = "emulate"     // what the page runs on
	setMouse       = "mouse"       // positions
	setStorage     = "storage"     // cookies and storage
	setRoutes      = "routes"      // answers in place of servers
	setVerify      = "verify"      // checks, and locators
	setPerformance = "performance" // traces and memory
	setHold        = "hold"        // what programs do, one by one
)

var (
	defaultSets = []string{setCore, setInput, setCode, setNetwork, setTakeover, setDiagnose, setRecord, setSessions}
	allSets     = append(slices.Clone(defaultSets), setEmulate, setMouse, setStorage, setRoutes, setVerify, setPerformance, setHold)
)

// setsOf parses ?tools=, a list with commas or repeated, in the order of allSets.
// Nothing stands for defaultSets, "default" too, and "all" for all of them.
func setsOf(values []string) ([]string, error) {
	var wanted []string
	for word := range strings.SplitSeq(strings.Join(values, ","), ",") {
		word = strings.TrimSpace(word)
		switch {
		case word == "":
		case word == "default":
			wanted = append(wanted, defaultSets...)
		case word == "all":
			wanted = append(wanted, allSets...)
		case !slices.Contains(allSets, word):
			return nil, fmt.Errorf("tools: there is no set %.40q; the sets are %s, default and all", word, strings.Join(allSets, ", "))
		default:
			wanted = append(wanted, word)
		}
	}
	if len(wanted) == 0 {
		return defaultSets, nil
	}
	return slices.DeleteFunc(slices.Clone(allSets), func(set string) bool { return !slices.Contains(wanted, set) }), nil
}

// tool is a row of the table of tools.
type tool struct {
	name, set string
	meta      sdk.Meta          // for hosts; mostly nil
	schema    func(d *Door) any // of its arguments; nil for that of their struct
	add       func(d *Door, s *sdk.Server, of tool)
}

// withSchema returns a tool with another schema of its arguments.
func withSchema(t tool, schema func(d *Door) any) tool {
	t.schema = schema
	return t
}

// effect says what a tool does to the page, for the hints that hosts show.
type effect int

const (
	reads   effect = iota
	acts           // changes the page, perhaps for good
	repeats        // changes the page, and doing it twice is the same as once
)

// row makes a row from a function with typed arguments. The arguments' schema comes
// from the struct; example is a call as a model writes it.
func row[In any](name, set, title string, does effect, description, example string, do func(*call, In) (*answer, error)) tool {
	return tool{name: name, set: set, add: func(d *Door, s *sdk.Server, of tool) {
		open := true
		t := &sdk.Tool{
			Name: name, Description: description + "\nExample: " + example, Meta: of.meta,
			Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: does == reads, IdempotentHint: does == repeats, OpenWorldHint: &open},
			InputSchema: schemaOf[In](),
		}
		if of.schema != nil {
			t.InputSchema = of.schema(d)
		}
		sdk.AddTool(s, t, func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
			c, done := d.begin(ctx, req)
			defer done()
			c.acts = does != reads
			var a *answer
			err := c.attempt(func() (err error) {
				a, err = do(c, in)
				return err
			})
			c.recorded(a, err)
			if err != nil {
				return c.failed(err), nil, nil
			}
			return c.result(a), nil, nil
		})
	}}
}

// schemaOf returns the schema of a struct. Each property has one type, because some
// dialects, such as Gemini's, have no types that are also null.
func schemaOf[In any]() *jsonschema.Schema {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // the table of tools is wrong, and no test can run
	}
	var single func(s *jsonschema.Schema)
	single = func(s *jsonschema.Schema) {
		if s == nil {
			return
		}
		if types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }); len(types) == 1 {
			s.Type, s.Types = types[0], nil
		}
		single(s.Items)
		for _, p := range s.Properties {
			single(p)
		}
	}
	single(schema)
	return schema
}

// tools is the table of all tools.
var tools = slices.Concat(sessionTools, fileTools, pageTools, actionTools, recordTools, inputTools, codeTools, observationTools, takeoverTools, diagnoseTools,
	emulationTools, mouseTools, storageTools, routeTools, verifyTools, performanceTools)
