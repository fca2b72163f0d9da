// Package codegen writes what a person did in a browser as a script for Playwright, and as a
// recording for the Recorder of Chrome's DevTools.
package codegen

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind says what was done.
type Kind string

// The kinds of steps. Those up to Drag are on an element; the others are on the page.
const (
	Click    Kind = "click"
	DblClick Kind = "dblclick"
	Fill     Kind = "fill"
	Check    Kind = "check"
	Uncheck  Kind = "uncheck"
	Select   Kind = "select"
	Press    Kind = "press"
	Files    Kind = "files" // files were chosen, which a script does not have
	Drag     Kind = "drag"  // by x and y CSS pixels
	Goto     Kind = "goto"
	Back     Kind = "back"
	Forward  Kind = "forward"
	Reload   Kind = "reload"
	Open     Kind = "open" // a tab that was there before, with its address
)

var (
	onElement = []Kind{Click, DblClick, Fill, Check, Uncheck, Select, Press, Files, Drag}
	onPage    = []Kind{Goto, Back, Forward, Reload}
)

// Limits of steps. Further ones are left out, and the script says so.
const (
	MaxSteps = 300
	MaxBytes = 64 << 10 // of all steps
	maxKey   = 20       // bytes of a key's name
)

// PersonStep is one thing that a person did.
type PersonStep struct {
	Kind     Kind     `json:"kind" doc:"What was done: click, dblclick, fill, check, uncheck, select, press, files, drag, goto, back, forward or reload; or open, of a tab that was there before."`
	Tab      uint32   `json:"tab,omitempty" doc:"The tab's number."`
	Frames   []string `json:"frames,omitempty" doc:"Selectors of the frames that lead to the element, outermost first."`
	Selector string   `json:"selector,omitempty" doc:"Playwright's selector of the element."`
	Value    string   `json:"value,omitempty" doc:"What the field holds."`
	Values   []string `json:"values,omitempty" doc:"The chosen options, or the names of files."`
	Secret   string   `json:"secret,omitempty" doc:"The name of the secret that the field holds, which is not kept."`
	Origin   string   `json:"origin,omitempty" doc:"Of a secret: the origin of the document that has the field."`
	Key      string   `json:"key,omitempty" doc:"The pressed key."`
	URL      string   `json:"url,omitempty" doc:"The address that was entered."`
	X        float64  `json:"x,omitempty" doc:"Where the press was within the element, or how far it was dragged, in CSS pixels."`
	Y        float64  `json:"y,omitempty" doc:"Likewise, downwards."`
}

// errStep is returned for a report that is no step.
var errStep = errors.New("not a step of a person")

// Parse reads a report of a document. hide returns a text without the values of known secrets,
// and hideAll also without what looks like a secret. A value that it changes is one.
func Parse(report []byte, hide, hideAll func(string) string) (PersonStep, error) {
	var read struct {
		PersonStep
		Secret bool `json:"secret"`
	}
	if err := json.Unmarshal(report, &read); err != nil {
		return PersonStep{}, fmt.Errorf("%w: %w", errStep, err)
	}
	s := read.PersonStep
	if !slices.Contains(onElement, s.Kind) || s.Selector == "" || len(s.Key) > maxKey || len(s.Selector) > MaxBytes {
		return PersonStep{}, errStep
	}
	s.Tab, s.Frames, s.URL, s.Origin = 0, nil, "", "" // the document does not say these
	s.Selector = hide(s.Selector)
	if read.Secret || hideAll(s.Value) != s.Value {
		s.Value, s.Values, s.Secret = "", nil, secretName(s.Selector)
	}
	for i := range s.Values {
		s.Values[i] = hideAll(s.Values[i])
	}
	return s, nil
}

// OnPage returns a step that is on no element.
func OnPage(kind Kind, url string) (PersonStep, bool) {
	return PersonStep{Kind: kind, URL: url}, slices.Contains(onPage, kind)
}

// Steps are what a person did, in order. The zero value is ready.
type Steps struct {
	list  []PersonStep
	bytes int
	Cut   bool // there was no room for the rest
}

// Add adds a step. What it makes needless goes: the earlier contents of the same field, and
// the presses of a double click. It returns false if there is no room.
func (s *Steps) Add(one PersonStep) bool {
	kept := len(s.list)
	for kept > 0 && needless(s.list[kept-1], one) {
		kept--
	}
	if one.Secret != "" {
		one.Secret = s.free(one)
	}
	bytes := s.bytes + one.size()
	for _, gone := range s.list[kept:] {
		bytes -= gone.size()
	}
	if s.Cut || kept >= MaxSteps || bytes > MaxBytes {
		s.Cut = true
		return false
	}
	s.list, s.bytes = append(s.list[:kept], one), bytes
	return true
}

// size returns about how many bytes a step needs.
func (s *PersonStep) size() int {
	return len(s.Selector) + len(s.Value) + len(s.URL) + len(strings.Join(s.Frames, "")) + len(strings.Join(s.Values, "")) + 32
}

// AddLate adds a step that was made before the last use of the address bar of its tab.
func (s *Steps) AddLate(one PersonStep) bool {
	at := len(s.list) - 1
	for ; at >= 0; at-- {
		if s.list[at].Tab == one.Tab && slices.Contains(onPage, s.list[at].Kind) {
			break
		}
	}
	if at < 0 {
		return s.Add(one)
	}
	later := slices.Clone(s.list[at:])
	s.list = s.list[:at]
	added := s.Add(one)
	s.list = append(s.list, later...)
	return added
}

// free returns the name of a step's secret, with a number if another field has that name.
func (s *Steps) free(one PersonStep) string {
	name := one.Secret
	for n := 2; slices.ContainsFunc(s.list, func(other PersonStep) bool {
		return other.Secret == name && (other.Selector != one.Selector || !slices.Equal(other.Frames, one.Frames))
	}); n++ {
		name = one.Secret + strconv.Itoa(n)
	}
	return name
}

// Continues reports whether a step at once makes an earlier one needless, such as the next content
// of the same field.
func Continues(earlier, later PersonStep) bool { return needless(earlier, later) }

// needless reports whether a later step at once makes an earlier one needless.
func needless(earlier, later PersonStep) bool {
	same := earlier.Selector == later.Selector && earlier.Tab == later.Tab && slices.Equal(earlier.Frames, later.Frames)
	switch later.Kind {
	case Fill:
		return same && earlier.Kind == Fill
	case DblClick:
		return same && earlier.Kind == Click
	case Goto:
		return earlier.Kind == Goto && earlier.Tab == later.Tab
	case Click, Check, Uncheck, Select, Press, Files, Drag, Back, Forward, Reload, Open:
	}
	return false
}

// List returns the steps.
func (s *Steps) List() []PersonStep { return slices.Clone(s.list) }
