package automation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// operation is a row of the table of operations. An operation that writes changes
// the page or sends it input, and waits for AwaitControl before it runs.
type operation struct {
	writes bool
	reads  func(params json.RawMessage) bool // whether these parameters of an operation that writes change nothing; nil for none
	do     func(ctx context.Context, c *Client, params json.RawMessage) (any, error)
}

// operations is the table: the operations of a client, by name.
//
// Parameters are a JSON object; an unknown field is an error that names it.
// timeout is in milliseconds, 0 or absent for none. Positions and sizes are in
// CSS pixels.
//
//   - A target is {frame, selector, strict}, or {handle} for an element handle,
//     or {handle, selector} for what is found below one. Each operation on a
//     target exists as frame.<name> and as handle.<name>; they are the same. In
//     the comments of the tables, … stands for the fields of a target.
//   - An arg is {value, handles}: a value tagged by automation/page/serialize.ts
//     and the ids of the handles that {h: index} stands for.
//   - A handle comes as {handle, preview, element}: id, text as JSHandle.toString
//     gives it, and whether it is an element.
//   - The result of an evaluation is {value}, tagged; a property of an
//     element is {value}, plain.
//
// Errors have a name (TimeoutError, TargetClosedError, Error) and Playwright's
// words without the API's prefix: "Timeout 30000ms exceeded.\nCall log:\n - …".
var operations = compose(
	apiOperations,
	bindingOperations,
	cdpOperations,
	clockOperations,
	consoleOperations,
	contextOperations,
	downloadOperations,
	elementOperations,
	emulationOperations,
	evaluationOperations,
	fileOperations,
	frameOperations,
	handleOperations,
	initOperations,
	inputOperations,
	listeningOperations,
	locatorOperations,
	netstateOperations,
	outlineOperations,
	overlayOperations,
	pageOperations,
	pdfOperations,
	performanceOperations,
	pointerOperations,
	recordingOperations,
	requestOperations,
	routeOperations,
	screenshotOperations,
	selectorOperations,
	vitalsOperations,
	websocketOperations,
	workerOperations,
	onTargets(compose(
		actionTargetOperations,
		ariaTargetOperations,
		elementTargetOperations,
		evaluationTargetOperations,
		expectationTargetOperations,
		locatorTargetOperations,
		pointerTargetOperations,
		screenshotTargetOperations,
	)),
)

// table maps names to operations.
type table map[string]operation

// compose merges tables. A name in two of them is a programming error.
func compose(tables ...table) table {
	whole := table{}
	for _, t := range tables {
		for name, o := range t {
			if _, twice := whole[name]; twice {
				panic("automation: operation " + name + " stands in two tables")
			}
			whole[name] = o
		}
	}
	return whole
}

// waits reports whether the operation waits for AwaitControl.
func (o operation) waits(params json.RawMessage) bool {
	return o.writes && (o.reads == nil || !o.reads(params))
}

// onTargets registers each operation on a target twice: for frames and for
// handles.
func onTargets(t table) table {
	both := table{}
	for name, o := range t {
		both["frame."+name], both["handle."+name] = o, o
	}
	return both
}

// op makes an operation from a function with typed parameters.
func op[P any](writes bool, do func(context.Context, *Client, *P) (any, error)) operation {
	return operation{writes: writes, do: func(ctx context.Context, c *Client, params json.RawMessage) (any, error) {
		var p P
		if err := decode(params, &p); err != nil {
			return nil, &Error{Name: "Error", Message: err.Error()}
		}
		return do(ctx, c, &p)
	}}
}

// decode decodes parameters strictly.
func decode(params json.RawMessage, into any) error {
	if len(bytes.TrimSpace(params)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
			return errors.New(mismatch(e))
		}
		return fmt.Errorf("bad parameters: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("bad parameters: more than one value")
	}
	return nil
}

// mismatch reports a parameter of the wrong type, in Playwright's words.
func mismatch(e *json.UnmarshalTypeError) string {
	var want string
	switch e.Type.Kind() {
	case reflect.Bool:
		want = "boolean"
	case reflect.String:
		want = "string"
	case reflect.Float32, reflect.Float64:
		want = "float"
	case reflect.Slice, reflect.Array:
		want = "array"
	case reflect.Map, reflect.Struct:
		want = "object"
	default:
		want = "integer"
	}
	got, _, _ := strings.Cut(e.Value, " ") // for a number, e.Value also contains the number
	if got == "bool" {
		got = "boolean"
	}
	return fmt.Sprintf("%s: expected %s, got %s", strings.TrimPrefix(e.Field, "target."), want, got)
}
