package input

import (
	"fmt"
	"math"
	"unicode/utf16"
	"unicode/utf8"

	"takeover/invalid"
)

const (
	// MaxTextBytes bounds a text that is entered at once, such as a paste.
	MaxTextBytes = 512 << 10

	// MaxComposeBytes bounds the text of an input method's composition.
	MaxComposeBytes = 4 << 10

	// MaxKeyBytes bounds the names and the text of one key.
	MaxKeyBytes = 64

	// MaxTouchPoints bounds the fingers that touch at the same time.
	MaxTouchPoints = 16

	maxCoordinate  = 1 << 20 // CSS pixels, in both directions
	maxClickCount  = 1000
	maxTouchRadius = 10_000
)

// Modifier bits, as in a viewer's message and in the Input domain.
const (
	ModAlt   = 1
	ModCtrl  = 2
	ModMeta  = 4
	ModShift = 8

	allModifiers = ModAlt | ModCtrl | ModMeta | ModShift
)

// Mouse is a mouse event. Buttons is the state after the event, as in the DOM's
// MouseEvent.buttons: 1 left, 2 right, 4 middle, 8 back, 16 forward.
type Mouse struct {
	Event      string  `json:"event"` // move down up wheel
	X          float64 `json:"x"`     // CSS pixels of the viewport
	Y          float64 `json:"y"`
	Button     string  `json:"button"` // none left middle right back forward; the one that changed
	Buttons    int     `json:"buttons"`
	ClickCount int     `json:"clickCount"` // for down and up: 2 for the second press of a double click
	Modifiers  int     `json:"modifiers"`
	DeltaX     float64 `json:"deltaX"` // CSS pixels, positive to the right
	DeltaY     float64 `json:"deltaY"` // CSS pixels, positive down
}

// Validate returns an *invalid.Error for the first field that is wrong.
func (m Mouse) Validate() error {
	switch m.Event {
	case "move", "down", "up", "wheel":
	default:
		return invalid.Field("event", "must be move, down, up or wheel")
	}
	if err := finite("x", m.X, maxCoordinate); err != nil {
		return err
	}
	if err := finite("y", m.Y, maxCoordinate); err != nil {
		return err
	}
	switch _, known := buttonBits[m.Button]; {
	case !known && m.Button != "" && m.Button != "none":
		return invalid.Field("button", "must be none, left, middle, right, back or forward")
	case !known && (m.Event == "down" || m.Event == "up"):
		return invalid.Field("button", "must name the button that went %s", m.Event)
	}
	if m.Buttons < 0 || m.Buttons > allButtons {
		return invalid.Field("buttons", "must be between 0 and %d", allButtons)
	}
	if m.ClickCount < 0 || m.ClickCount > maxClickCount {
		return invalid.Field("clickCount", "must be between 0 and %d", maxClickCount)
	}
	if err := validModifiers(m.Modifiers); err != nil {
		return err
	}
	if err := finite("deltaX", m.DeltaX, maxCoordinate); err != nil {
		return err
	}
	return finite("deltaY", m.DeltaY, maxCoordinate)
}

// Key is a key that went down or up. Key, Code, Location and Repeat are as in the
// DOM's KeyboardEvent. Text is what the press enters in the viewer's layout.
type Key struct {
	Event     string `json:"event"` // down up
	Key       string `json:"key"`
	Code      string `json:"code"`
	Location  int    `json:"location"` // 0 standard, 1 left, 2 right, 3 keypad
	Repeat    bool   `json:"repeat"`
	Modifiers int    `json:"modifiers"`
	Text      string `json:"text"`
}

// Validate returns an *invalid.Error for the first field that is wrong.
func (k Key) Validate() error {
	if k.Event != "down" && k.Event != "up" {
		return invalid.Field("event", "must be down or up")
	}
	if k.Key == "" && k.Code == "" {
		return invalid.Field("key", "must not be empty when code is")
	}
	for _, f := range []struct{ name, value string }{{"key", k.Key}, {"code", k.Code}, {"text", k.Text}} {
		if err := validText(f.name, f.value, MaxKeyBytes); err != nil {
			return err
		}
	}
	if k.Location < 0 || k.Location > 3 {
		return invalid.Field("location", "must be between 0 and 3")
	}
	return validModifiers(k.Modifiers)
}

// Text is text without key presses: committed by an input method, or pasted.
type Text struct {
	Text string `json:"text"`
}

// Validate returns an *invalid.Error if the text is invalid.
func (t Text) Validate() error {
	if t.Text == "" {
		return invalid.Field("text", "must not be empty")
	}
	return validText("text", t.Text, MaxTextBytes)
}

// Compose is the unfinished text of an input method, with the selection in it. An
// empty text cancels the composition.
type Compose struct {
	Text  string `json:"text"`
	Start int    `json:"start"` // UTF-16 units
	End   int    `json:"end"`   // UTF-16 units
}

// Validate returns an *invalid.Error for the first field that is wrong.
func (c Compose) Validate() error {
	if err := validText("text", c.Text, MaxComposeBytes); err != nil {
		return err
	}
	units := len(utf16.Encode([]rune(c.Text)))
	if c.Start < 0 || c.Start > units {
		return invalid.Field("start", "must be between 0 and the text's length, %d", units)
	}
	if c.End < c.Start || c.End > units {
		return invalid.Field("end", "must be between start and the text's length, %d", units)
	}
	return nil
}

// Touch is a change of fingers. Points are the changed ones, as in the DOM's
// TouchEvent.changedTouches. Points that did not change are permitted. A cancel
// cancels all fingers.
type Touch struct {
	Event     string       `json:"event"` // start move end cancel
	Points    []TouchPoint `json:"points"`
	Modifiers int          `json:"modifiers"`
}

// TouchPoint is one finger.
type TouchPoint struct {
	ID      int64   `json:"id"` // the viewer's id, which stays the same while the finger is down
	X       float64 `json:"x"`  // CSS pixels of the viewport
	Y       float64 `json:"y"`
	RadiusX float64 `json:"radiusX"` // CSS pixels
	RadiusY float64 `json:"radiusY"`
	Force   float64 `json:"force"` // 0 to 1
}

// Validate returns an *invalid.Error for the first field that is wrong.
func (t Touch) Validate() error {
	switch t.Event {
	case "start", "move", "end", "cancel":
	default:
		return invalid.Field("event", "must be start, move, end or cancel")
	}
	if len(t.Points) == 0 && t.Event != "cancel" {
		return invalid.Field("points", "must not be empty")
	}
	if len(t.Points) > MaxTouchPoints {
		return invalid.Field("points", "must be at most %d", MaxTouchPoints)
	}
	ids := map[int64]bool{}
	for i, p := range t.Points {
		if ids[p.ID] {
			return invalid.Field(fmt.Sprintf("points[%d].id", i), "must be different from the others'")
		}
		ids[p.ID] = true
		for _, f := range []struct {
			name       string
			value, max float64
			signed     bool
		}{{"x", p.X, maxCoordinate, true}, {"y", p.Y, maxCoordinate, true}, {"radiusX", p.RadiusX, maxTouchRadius, false}, {"radiusY", p.RadiusY, maxTouchRadius, false}, {"force", p.Force, 1, false}} {
			name := fmt.Sprintf("points[%d].%s", i, f.name)
			if err := finite(name, f.value, f.max); err != nil {
				return err
			}
			if !f.signed && f.value < 0 {
				return invalid.Field(name, "must not be negative")
			}
		}
	}
	return validModifiers(t.Modifiers)
}

func finite(field string, v, limit float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return invalid.Field(field, "must be a finite number")
	}
	if math.Abs(v) > limit {
		return invalid.Field(field, "must be at most %g", limit)
	}
	return nil
}

func validModifiers(m int) error {
	if m < 0 || m > allModifiers {
		return invalid.Field("modifiers", "must be between 0 and %d", allModifiers)
	}
	return nil
}

func validText(field, s string, limit int) error {
	if len(s) > limit {
		return invalid.Field(field, "must be at most %d bytes", limit)
	}
	if !utf8.ValidString(s) {
		return invalid.Field(field, "must be valid UTF-8")
	}
	return nil
}
