package automation

import (
	"encoding/json"
)

// callParams are the parameters of an operation on elements, as the page side
// reads them (Request in page/layer.ts). Each operation uses some of the fields.
type callParams struct {
	search
	Task    int64   `json:"task"`             // number by which the operation can be aborted
	Timeout float64 `json:"timeout,omitzero"` // milliseconds, 0 for none
	Resumed *int    `json:"resumed,omitzero"` // the attempt that answered ready and now continues
	Quiet   bool    `json:"quiet,omitzero"`   // the log already says what the operation waits for

	Force    bool   `json:"force,omitzero"`    // skip the checks of an action
	Property string `json:"property,omitzero"` // the property to read
	Name     string `json:"name,omitzero"`     // an attribute's name, or a pointer action's name in the log
	State    string `json:"state,omitzero"`    // the state to wait for
	Keep     bool   `json:"keep,omitzero"`     // keep the element for a later call of the layer's take

	Value          *string           `json:"value,omitzero"`          // for fill
	ResetSelection bool              `json:"resetSelection,omitzero"` // for focus
	Options        []json.RawMessage `json:"options,omitzero"`        // for selectOption
	Type           string            `json:"type,omitzero"`           // for dispatch, with its argument
	Arg            json.RawMessage   `json:"arg,omitzero"`
	Count          int               `json:"count,omitzero"` // for fileInput
	Files          []file            `json:"files,omitzero"` // for setInputFiles and drop
	Data           map[string]string `json:"data,omitzero"`  // for drop

	aimOptions
	expectOptions

	Mode   string                     `json:"mode,omitzero"` // for ARIA snapshots
	Depth  int                        `json:"depth,omitzero"`
	Boxes  bool                       `json:"boxes,omitzero"`
	Hide   bool                       `json:"hide,omitzero"`
	Tree   json.RawMessage            `json:"tree,omitzero"`   // for ariaText and ariaJoin
	Frames map[string]json.RawMessage `json:"frames,omitzero"` // for ariaJoin, by the reference of the frame's element
}

// search selects the elements of an operation (Target in page/resolve.ts).
type search struct {
	Selector     string `json:"selector"`
	Strict       bool   `json:"strict,omitzero"`
	Chunk        *int   `json:"chunk,omitzero"`        // index of a part of the selector; default: the last
	FrameVisible *bool  `json:"frameVisible,omitzero"` // whether the frames that lead to the element are visible; default: true
}

// aimOptions are the options of aim (PointerOptions in page/pointer.ts).
type aimOptions struct {
	Kind           string `json:"kind,omitzero"`
	WaitForEnabled bool   `json:"waitForEnabled,omitzero"`
	Trial          bool   `json:"trial,omitzero"`
	Position       *point `json:"position,omitzero"`
	Scroll         string `json:"scroll,omitzero"`
	Checked        *bool  `json:"checked,omitzero"`
	Resume         *int   `json:"resume,omitzero"` // the earlier aim to resume
	Attempt        int    `json:"attempt,omitzero"`
}

// expectOptions are the options of expect (ExpectOptions in page/expect.ts).
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
