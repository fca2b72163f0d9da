package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
)

var allSets = []string{setCore, setInput, setCode, setNetwork, setTakeover, setDiagnose, setRecord}

// setsOf parses ?tools=, a list with commas or repeated, in the order of allSets.
// Nothing stands for all sets.
func setsOf(values []string) ([]string, error) {
	var wanted []string
	for word := range strings.SplitSeq(strings.Join(values, ","), ",") {
		word = strings.TrimSpace(word)
		switch {
		case word == "":
		case !slices.Contains(allSets, word):
			return nil, fmt.Errorf("tools: there is no set %.40q; the sets are %s", word, strings.Join(allSets, ", "))
		default:
			wanted = append(wanted, word)
		}
	}
	if len(wanted) == 0 {
		return allSets, nil
	}
	return slices.DeleteFunc(slices.Clone(allSets), func(set string) bool { return !slices.Contains(wanted, set) }), nil
}

// tool is a row of the table of tools.
type tool struct {
	name, set string
	meta      sdk.Meta // for hosts; mostly nil
	add       func(d *Door, s *sdk.Server, meta sdk.Meta)
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
	return tool{name: name, set: set, add: func(d *Door, s *sdk.Server, meta sdk.Meta) {
		open := true
		t := &sdk.Tool{
			Name: name, Description: description + "\nExample: " + example, Meta: meta,
			Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: does == reads, IdempotentHint: does == repeats, OpenWorldHint: &open},
		}
		sdk.AddTool(s, t, func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
			c, done := d.begin(ctx, req)
			defer done()
			c.acts = does != reads
			a, err := do(c, in)
			c.recorded(a, err)
			if err != nil {
				return c.failed(err), nil, nil
			}
			return c.result(a), nil, nil
		})
	}}
}

// tools is the table of all tools.
var tools = slices.Concat(sessionTools, pageTools, actionTools, recordTools, inputTools, codeTools, observationTools, takeoverTools, diagnoseTools)
