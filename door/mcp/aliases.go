package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Models have learned the tools of playwright-mcp, and name arguments as it does. Those
// names count here, too; descriptions tell of ours alone, so that they stay small.

// aliases are the other names of arguments, by tool and name.
var aliases = map[string]map[string]string{
	"browser_drag":            {"startTarget": "target", "startRef": "target", "endTarget": "to", "endRef": "to"},
	"browser_file_upload":     {"paths": "files"},
	"browser_handle_dialog":   {"promptText": "text"},
	"browser_take_screenshot": {"type": "format"},
}

// targetAlias is the former name of a target, in all tools that take one.
const targetAlias = "ref"

// ignored are arguments that describe, for people, what other arguments say.
var ignored = []string{"element", "startElement", "endElement"}

// ignoredInFields are such members of the fields of browser_fill_form.
var ignoredInFields = append([]string{"name", "type"}, ignored...)

// translate gives the arguments of calls the names that they have here.
func translate(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		called, ok := req.(*sdk.CallToolRequest)
		if !ok {
			return next(ctx, method, req)
		}
		translated, err := translated(called.Params.Name, called.Params.Arguments)
		if err != nil {
			refused := &sdk.CallToolResult{}
			refused.SetError(fmt.Errorf("Error: %w", err)) //nolint:staticcheck // as other errors of tools begin
			return refused, nil                            // a model reads it
		}
		called.Params.Arguments = translated
		return next(ctx, method, req)
	}
}

// errNoObject says that a call's arguments are a list, a text or a number.
var errNoObject = errors.New("arguments: must be an object")

// translated returns a call's arguments under the names that they have here. The error
// names an argument that is given under both, or says that they are none.
func translated(tool string, raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return raw, nil
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		return nil, errNoObject
	}
	if !strings.HasPrefix(tool, "browser_") {
		return raw, nil
	}
	changed, err := rename(in, "", ignored, aliases[tool])
	if err != nil {
		return nil, err
	}
	var fields []map[string]json.RawMessage
	if given := in["fields"]; given != nil && json.Unmarshal(given, &fields) == nil {
		for i, field := range fields {
			if _, err := rename(field, fmt.Sprintf("fields[%d].", i), ignoredInFields, nil); err != nil {
				return nil, err
			}
		}
		if in["fields"], err = json.Marshal(fields); err != nil {
			return nil, err
		}
		changed = true
	}
	if !changed {
		return raw, nil
	}
	return json.Marshal(in)
}

// rename drops and renames members. prefix begins their names in an error.
func rename(in map[string]json.RawMessage, prefix string, drop []string, names map[string]string) (changed bool, err error) {
	for theirs, value := range in {
		ours := names[theirs]
		switch {
		case slices.Contains(drop, theirs):
			delete(in, theirs)
			changed = true
			continue
		case theirs == targetAlias:
			ours = "target"
		case ours == "":
			continue
		}
		if _, both := in[ours]; both {
			return false, fmt.Errorf("%s%s: is the same as %s: pass one of them", prefix, theirs, ours)
		}
		delete(in, theirs)
		in[ours] = value
		changed = true
	}
	return changed, nil
}
