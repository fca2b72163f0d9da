package widget

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
)

// maxReport bounds one report of an agent in bytes.
const maxReport = 4 << 10

// maxCoordinate bounds positions that a page reports, in CSS pixels.
const maxCoordinate = 1 << 20

// Rect is a rectangle in CSS pixels of the main frame's viewport.
type Rect struct {
	X      float64 `json:"x" doc:"CSS pixels from the left edge of the viewport."`
	Y      float64 `json:"y" doc:"CSS pixels from the top edge of the viewport."`
	Width  float64 `json:"width" doc:"In CSS pixels."`
	Height float64 `json:"height" doc:"In CSS pixels."`
}

// contains reports whether a point is in the rectangle.
func (r Rect) contains(x, y float64) bool {
	return x >= r.X && x <= r.X+r.Width && y >= r.Y && y <= r.Y+r.Height
}

// moved returns the rectangle in a viewport in which its own one begins at x, y.
func (r Rect) moved(x, y float64) Rect {
	return Rect{math.Round((r.X+x)*10) / 10, math.Round((r.Y+y)*10) / 10, r.Width, r.Height}
}

// maxAround bounds the boxes around a field that a page reports.
const maxAround = 6

// Focus is a place where typed text goes. The zero value means none.
type Focus struct {
	Kind    string // one of Kinds
	Rect    Rect   // the caret, or the whole field when no caret was found
	Element Rect   // the field
	// Around are boxes around the field, such as its form, from the inside: each
	// is wider than the one before. Zero values follow the last one.
	Around [maxAround]Rect
	Text   float64 // size of the field's text in CSS pixels
	// Field is a number that no other field with the focus has, also of other pages
	// and of the trackers that share Options.Fields. It changes with the focused field,
	// also to none, and with the document.
	Field uint64
}

// moved returns the focus in a viewport in which its own one begins at x, y.
func (f Focus) moved(x, y float64) Focus {
	f.Rect, f.Element = f.Rect.moved(x, y), f.Element.moved(x, y)
	for i, r := range f.Around {
		if r != (Rect{}) {
			f.Around[i] = r.moved(x, y)
		}
	}
	return f
}

// Boxes returns the boxes around the field, without the zero values.
func (f Focus) Boxes() []Rect {
	n := slices.Index(f.Around[:], Rect{})
	if n < 0 {
		n = maxAround
	}
	return slices.Clone(f.Around[:n])
}

// Editable reports whether typed text goes into a field.
func (f Focus) Editable() bool { return f.Kind != "" }

// Kinds are the kinds of text in a field: secret kinds, kinds of on-screen
// keyboards, and none for fields without a keyboard.
var Kinds = []string{"text", "multiline", "password", "otp", "card", "email", "tel", "number", "numeric", "url", "search", "none"}

// Cursors are the shapes of the pointer: CSS keywords (Basic User Interface,
// 5.1.1), without auto.
var Cursors = []string{
	"default", "none", "context-menu", "help", "pointer", "progress", "wait", "cell", "crosshair", "text", "vertical-text",
	"alias", "copy", "move", "no-drop", "not-allowed", "grab", "grabbing", "all-scroll", "col-resize", "row-resize",
	"n-resize", "e-resize", "s-resize", "w-resize", "ne-resize", "nw-resize", "se-resize", "sw-resize",
	"ew-resize", "ns-resize", "nesw-resize", "nwse-resize", "zoom-in", "zoom-out",
}

// Permissions are the permissions that a document may be refused without a
// question, by their names in the Permissions API.
var Permissions = []string{"geolocation", "notifications", "clipboard-read", "camera", "microphone", "local-fonts", "window-management", "idle-detection"}

// Menu describes the place where somebody opened the context menu.
type Menu struct {
	Link     string `json:"link"`     // a web address, or empty
	Image    string `json:"image"`    // a web address, or empty
	Selected bool   `json:"selected"` // there is selected text to copy
	Editable bool   `json:"editable"`
}

func (Menu) ofWeb(address string) bool {
	return address == "" || strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// Secret reports whether the field's text is secret.
func (f Focus) Secret() bool { return f.Kind == "password" || f.Kind == "otp" || f.Kind == "card" }

// report is a report of an agent. Only one of its fields is set.
type report struct {
	Focus   *Focus
	Element int  // number of the field with the focus in its document, from 1
	Blur    bool // no field has the focus any more
	Cursor  string
	Drag    bool    // with Cursor: a press there begins a drag
	At      float64 // when the pointer was at that place, in ms on a clock that all documents share
	Moved   bool    // the frame with the focus may have moved
	Secret  string  // content of a secret field that somebody has just changed
	Open    int     // number of a field that opened a picker, from 1
	Gone    int     // number of a field that lost the focus
	Printed bool    // the page is being printed
	Menu    *Menu
	Refused string // one of Permissions that was just refused to the page
}

var errReport = errors.New("not a report")

// parseReport parses an agent's report. Unknown cursor shapes become the default.
func parseReport(payload string) (report, error) {
	if len(payload) > maxReport {
		return report{}, errReport
	}
	var raw struct {
		Focus json.RawMessage `json:"focus"`
		report
	}
	if err := json.Unmarshal([]byte(payload), &raw); err != nil {
		return report{}, errReport
	}
	r := report{Cursor: raw.Cursor, Drag: raw.Drag, At: raw.At, Moved: raw.Moved, Secret: raw.Secret, Open: raw.Open, Gone: raw.Gone, Refused: raw.Refused, Printed: raw.Printed, Menu: raw.Menu}
	if r.Menu != nil && !(r.Menu.ofWeb(r.Menu.Link) && r.Menu.ofWeb(r.Menu.Image)) {
		return report{}, errReport
	}
	if r.Refused != "" && !slices.Contains(Permissions, r.Refused) {
		return report{}, errReport
	}
	if r.Cursor != "" && !slices.Contains(Cursors, r.Cursor) {
		r.Cursor = "default"
	}
	if raw.Focus == nil {
		return r, nil
	}
	var err error
	r.Focus, r.Element, err = parseField(raw.Focus)
	r.Blur = r.Focus == nil
	return r, err
}

// parseField parses an agent's description of a field, and its number in the
// document. It returns nil for null.
func parseField(raw []byte) (f *Focus, number int, err error) {
	var said *struct {
		Kind    string       `json:"kind"`
		Rect    [4]float64   `json:"rect"`
		Element [4]float64   `json:"element"`
		Around  [][4]float64 `json:"around"`
		Text    float64      `json:"text"`
		Field   int          `json:"field"`
	}
	switch err := json.Unmarshal(raw, &said); {
	case err != nil:
		return nil, 0, errReport
	case said == nil:
		return nil, 0, nil
	}
	if len(said.Around) > maxAround || !slices.Contains(Kinds, said.Kind) || !(said.Text >= 0 && said.Text <= maxCoordinate) {
		return nil, 0, errReport
	}
	f = &Focus{Kind: said.Kind, Text: said.Text}
	var rects [2 + maxAround]Rect
	for i, v := range append([][4]float64{said.Rect, said.Element}, said.Around...) {
		rect, ok := rectOf(v)
		if !ok {
			return nil, 0, errReport
		}
		rects[i] = rect
	}
	f.Rect, f.Element = rects[0], rects[1]
	copy(f.Around[:], rects[2:])
	return f, said.Field, nil
}

// rectOf returns a rectangle from x, y, width and height, if they are valid.
func rectOf(v [4]float64) (Rect, bool) {
	for i, n := range v {
		if !(math.Abs(n) <= maxCoordinate) || i > 1 && n < 0 {
			return Rect{}, false
		}
	}
	return Rect{v[0], v[1], v[2], v[3]}, true
}
