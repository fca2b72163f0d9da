package codegen

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// recorderStep is a step of the Recorder of Chrome's DevTools.
type recorderStep struct {
	Type      string     `json:"type"`
	URL       string     `json:"url,omitempty"`
	Width     int        `json:"width,omitempty"`
	Height    int        `json:"height,omitempty"`
	Scale     int        `json:"deviceScaleFactor,omitempty"`
	Mobile    *bool      `json:"isMobile,omitempty"`
	Touch     *bool      `json:"hasTouch,omitempty"`
	Landscape *bool      `json:"isLandscape,omitempty"`
	Target    string     `json:"target,omitempty"`
	Selectors [][]string `json:"selectors,omitempty"`
	Value     *string    `json:"value,omitempty"`
	Key       string     `json:"key,omitempty"`
	X         *float64   `json:"offsetX,omitempty"`
	Y         *float64   `json:"offsetY,omitempty"`
}

// Recorder returns the recording in the format that DevTools import. width and height are
// those of the page in CSS pixels. Left out is what the Recorder does not do, or finds in another way: drags, the choice of
// files, what is in frames and in other tabs, and elements within others.
func (r Recording) Recorder(width, height int) ([]byte, error) {
	steps := []recorderStep{{Type: "setViewport", Width: width, Height: height, Scale: 1, Mobile: new(false), Touch: new(false), Landscape: new(width > height)}}
	if r.Start != "" && r.Start != "about:blank" {
		steps = append(steps, recorderStep{Type: "navigate", URL: r.Start})
	}
	for _, s := range r.Steps {
		if len(s.Frames) > 0 || s.Tab != r.Tab || strings.Contains(s.Selector, " >> ") {
			continue
		}
		on := recorderStep{Target: "main", Selectors: recorderSelectors(s)}
		switch s.Kind {
		case Click, DblClick, Check, Uncheck:
			on.Type, on.X, on.Y = "click", new(max(1, s.X)), new(max(1, s.Y))
			if s.Kind == DblClick {
				on.Type = "doubleClick"
			}
		case Fill:
			on.Type, on.Value = "change", new(s.Value)
		case Select:
			on.Type, on.Value = "change", new(s.Value)
		case Press:
			steps = append(steps, recorderStep{Type: "keyDown", Target: "main", Key: s.Key})
			on = recorderStep{Type: "keyUp", Target: "main", Key: s.Key}
		case Goto:
			on = recorderStep{Type: "navigate", URL: s.URL}
		case Files, Drag, Back, Forward, Reload, Open:
			continue
		}
		steps = append(steps, on)
	}
	return json.MarshalIndent(map[string]any{"title": r.Title, "steps": steps}, "", "  ")
}

// roleName and attributeValue take a selector of Playwright apart.
var (
	roleName       = regexp.MustCompile(`^internal:role=([\w-]+)\[name=("(?:[^"\\]|\\.)*")[is]\]$`)
	textValue      = regexp.MustCompile(`^internal:(label|text)=("(?:[^"\\]|\\.)*")[is]$`)
	attributeValue = regexp.MustCompile(`^internal:(?:attr|testid)=\[([\w-]+)=("(?:[^"\\]|\\.)*")[is]\]$`)
)

// recorderSelectors returns a step's element as the Recorder finds it: by its name, its text
// or an attribute, and else by CSS.
func recorderSelectors(s PersonStep) [][]string {
	plain := func(quoted string) string {
		if text, err := strconv.Unquote(quoted); err == nil {
			return text
		}
		return strings.Trim(quoted, `"`)
	}
	last := s.Selector
	if m := roleName.FindStringSubmatch(last); m != nil {
		return [][]string{{"aria/" + plain(m[2]) + `[role="` + m[1] + `"]`}, {"aria/" + plain(m[2])}}
	}
	if m := textValue.FindStringSubmatch(last); m != nil && m[1] == "label" {
		return [][]string{{"aria/" + plain(m[2])}}
	} else if m != nil {
		return [][]string{{"text/" + plain(m[2])}}
	}
	if m := attributeValue.FindStringSubmatch(last); m != nil {
		return [][]string{{"[" + m[1] + "=" + m[2] + "]"}}
	}
	return [][]string{{strings.TrimPrefix(last, "css=")}}
}
