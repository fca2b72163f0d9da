package automation

import (
	"encoding/json"
)

// callParams are the parameters of an operation on elements for the page side:
// Request of page/layer.ts. Each operation uses the fields that it knows.
type callParams struct {
	search
	Task    int64   `json:"task"`             // number by which the operation can be aborted
	Timeout float64 `json:"timeout,omitzero"` // milliseconds, 0 for none
	Resumed *int    `json:"resumed,omitzero"` // the number of the attempt that answered ready and now continues
	Quiet   bool    `json:"quiet,omitzero"`   // the log already says what the operation waits for

	Force    bool   `json:"force,omitzero"`    // without the checks of an action
	Property string `json:"property,omitzero"` // to read
	Name     string `json:"name,omitzero"`     // of an attribute; of a pointer action, in the log
	State    string `json:"state,omitzero"`    // to wait for
	Keep     bool   `json:"keep,omitzero"`     // the element, for take

	Value          *string           `json:"value,omitzero"`          // of fill
	ResetSelection bool              `json:"resetSelection,omitzero"` // of focus
	Options        []json.RawMessage `json:"options,omitzero"`        // of selectOption
	Type           string            `json:"type,omitzero"`           // of dispatch, with its argument
	Arg            json.RawMessage   `json:"arg,omitzero"`
	Count          int               `json:"count,omitzero"` // of fileInput
	Files          []file            `json:"files,omitzero"` // of setInputFiles and drop
	Data           map[string]string `json:"data,omitzero"`  // of drop

	aimOptions
	expectOptions

	Mode   string                     `json:"mode,omitzero"` // of ARIA snapshots
	Depth  int                        `json:"depth,omitzero"`
	Boxes  bool                       `json:"boxes,omitzero"`
	Tree   json.RawMessage            `json:"tree,omitzero"`   // of ariaText and ariaJoin
	Frames map[string]json.RawMessage `json:"frames,omitzero"` // by reference, of ariaJoin
}

// search says which elements an operation is about: Target of page/resolve.ts.
type search struct {
	Selector     string `json:"selector"`
	Strict       bool   `json:"strict,omitzero"`
	Chunk        *int   `json:"chunk,omitzero"`        // which part of the selector; default: the last
	FrameVisible *bool  `json:"frameVisible,omitzero"` // whether the frames on the way are; default: they are
}

// aimOptions are the options of aim: PointerOptions of page/pointer.ts.
type aimOptions struct {
	Kind           string `json:"kind,omitzero"`
	WaitForEnabled bool   `json:"waitForEnabled,omitzero"`
	Trial          bool   `json:"trial,omitzero"`
	Position       *point `json:"position,omitzero"`
	Scroll         string `json:"scroll,omitzero"`
	Checked        *bool  `json:"checked,omitzero"`
	Resume         *int   `json:"resume,omitzero"` // the aim to try again
	Attempt        int    `json:"attempt,omitzero"`
}

// expectOptions are the options of expect: ExpectOptions of page/expect.ts.
type expectOptions struct {
	Expression     string            `json:"expression,omitzero"`
	ExpressionArg  json.RawMessage   `json:"expressionArg,omitzero"`
	ExpectedText   []json.RawMessage `json:"expectedText,omitzero"`
	ExpectedNumber *float64          `json:"expectedNumber,omitzero"`
	ExpectedValue  json.RawMessage   `json:"expectedValue,omitzero"`
	UseInnerText   bool              `json:"useInnerText,omitzero"`
	Pseudo         string            `json:"pseudo,omitzero"`
	IsNot          bool              `json:"isNot,omitzero"`
}
