package widget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
	"takeover/cdp"
	"takeover/text"
)

// Limits of a field's description. Longer texts are cut, and further options are
// omitted. The agent has the same limits.
const (
	MaxOptions = 1000
	maxLabel   = 200  // characters of a label or of a group's label
	maxValue   = 1000 // characters of a value, plus a few that make values unique
)

// ErrGone means that a field is gone or no longer shows a picker.
var ErrGone = errors.New("the field is gone")

// ErrChoice means that a value cannot be chosen.
var ErrChoice = errors.New("that cannot be chosen")

// Picker is an open picker of a field. Its methods may be called from any
// goroutine except the model's.
type Picker struct {
	world  *browser.World
	number int // number of the field within the world
}

// Description describes the picker to draw for a field.
type Description struct {
	Kind     string   `json:"kind"`     // one of PickerKinds
	Multiple bool     `json:"multiple"` // several options can be chosen
	Inline   bool     `json:"inline"`   // the page itself shows the field's choice, so that only touch screens need another one
	Value    string   `json:"value"`
	Options  []Option `json:"options"`
	Min      string   `json:"min"`
	Max      string   `json:"max"`
	Step     string   `json:"step"`
	Rect     Rect     `json:"rect"` // position of the field
}

// Option is an option of a list. The values of a list are unique.
type Option struct {
	Value    string `json:"value"`
	Label    string `json:"label"`
	Disabled bool   `json:"disabled"`
	Group    string `json:"group"`
	Selected bool   `json:"selected"`
}

// PickerKinds are the kinds of fields with pickers.
var PickerKinds = []string{"select", "datalist", "date", "time", "datetime-local", "month", "week", "color"}

// Page returns the page of the field.
func (k *Picker) Page() *browser.Page { return k.world.Page() }

// Same reports whether two pickers belong to the same field.
func (k *Picker) Same(o *Picker) bool { return k.world == o.world && k.number == o.number }

// Destroyed returns a channel that is closed when the field's document is gone.
func (k *Picker) Destroyed() <-chan struct{} { return k.world.Destroyed() }

// Take closes Chromium's own picker, unnoticed by the page, and returns a
// description of the picker to draw instead. The error is ErrGone if there is
// none to draw.
func (k *Picker) Take(ctx context.Context) (Description, error) {
	raw, err := k.call(ctx, "(number) => takeoverAgent.take(number)", k.number)
	if err != nil {
		return Description{}, err
	}
	var said *struct {
		Description
		Rect [4]float64 `json:"rect"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return Description{}, fmt.Errorf("describe a field: %w", errReport)
	}
	if said == nil {
		return Description{}, ErrGone
	}
	d := said.Description
	rect, ok := rectOf(said.Rect)
	if !ok || !slices.Contains(PickerKinds, d.Kind) {
		return Description{}, fmt.Errorf("describe a field: %w", errReport)
	}
	x, y, err := k.world.Frame().Place(ctx)
	if err != nil {
		return Description{}, fmt.Errorf("describe a field: %w", err)
	}
	d.Rect = rect.moved(x, y)
	d.bound()
	return d, nil
}

// bound limits a description, because a page determines it and all viewers get
// it.
func (d *Description) bound() {
	d.Options = slices.Clip(d.Options[:min(len(d.Options), MaxOptions)])
	if d.Options == nil {
		d.Options = []Option{}
	}
	for i := range d.Options {
		o := &d.Options[i]
		o.Value, o.Label, o.Group = text.ClipRunes(o.Value, maxValue+8), text.ClipRunes(o.Label, maxLabel), text.ClipRunes(o.Group, maxLabel)
	}
	for _, s := range []*string{&d.Value, &d.Min, &d.Max, &d.Step} {
		*s = text.ClipRunes(*s, maxValue)
	}
}

// Answer sets the field to values of its options, or to one value. If that
// changes the field, the page gets the same events as after a person's choice.
// nil leaves the field unchanged. The error is ErrChoice if the page's limits do
// not permit the value.
func (k *Picker) Answer(ctx context.Context, values []string) error {
	raw, err := k.call(ctx, "(number, values) => takeoverAgent.answer(number, values)", k.number, values)
	if err != nil {
		return err
	}
	if string(raw) != "true" {
		return ErrChoice
	}
	return nil
}

// call calls a function with values in the field's world.
func (k *Picker) call(ctx context.Context, function string, values ...any) ([]byte, error) {
	return call(ctx, k.world, true, function, values...)
}

// call runs a function of the agent in a document; gesture gives it user
// activation.
func call(ctx context.Context, w *browser.World, gesture bool, function string, values ...any) ([]byte, error) {
	args := make([]*runtime.CallArgument, len(values))
	for i, v := range values {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("ask a document: %w", err)
		}
		args[i] = &runtime.CallArgument{Value: raw}
	}
	res, err := w.Call(ctx, browser.CallOptions{Function: function, Args: args, ByValue: true, AwaitPromise: true, UserGesture: gesture})
	switch {
	case errors.Is(err, browser.ErrContextDestroyed):
		return nil, ErrGone
	case err != nil:
		return nil, fmt.Errorf("ask a document: %w", err)
	}
	if res.Value == nil {
		return []byte("null"), nil
	}
	return res.Value, nil
}

// Look makes the documents of a page report pickers that are already open.
func (t *Tracker) Look(p *browser.Page) {
	for _, f := range p.Frames() {
		if w := f.CurrentWorld(browser.WorldUtility); w != nil {
			_ = cdp.Send(w.Session(), runtime.Evaluate, runtime.EvaluateParams{ // fails when the document is gone
				Expression: "globalThis.takeoverAgent?.look()", UniqueContextID: w.UniqueID(),
			})
		}
	}
}
