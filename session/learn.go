package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"takeover/codegen"
	"takeover/invalid"
	"takeover/savedscripts"
)

// learning is the part of a request for a person that a script makes to learn from them.
type learning struct {
	Name string            `json:"learn"`   // of the saved script; "" for none
	Done codegen.Recording `json:"learned"` // what the run has just made again by itself
}

func (l *learning) check() error {
	if n := utf8.RuneCountInString(l.Name); n > savedscripts.MaxName {
		return invalid.Field("learn", "must be at most %d characters", savedscripts.MaxName)
	}
	return nil
}

// learnedOperation carries out the operation learned of a script: {name} → what a person did
// when they were asked under that name, or null.
func learnedOperation(ctx context.Context, s *Session, params json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("bad options: %w", err)
	}
	one, err := s.services.settings.scripts.Learned(ctx, strings.TrimSpace(p.Name))
	switch {
	case errors.Is(err, savedscripts.ErrNotFound):
		return json.RawMessage("null"), nil
	case err != nil:
		return nil, err
	}
	return one.Steps, nil
}

// maxUntil bounds how long the operation until waits.
const maxUntil = time.Minute

// untilOperation carries out the operation until of a script: {until, timeout} → whether the
// condition is met within timeout (ms).
func untilOperation(ctx context.Context, s *Session, params json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Until   string  `json:"until"`
		Timeout float64 `json:"timeout"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("bad options: %w", err)
	}
	c, err := s.readCondition(p.Until)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, min(maxUntil, time.Duration(p.Timeout*float64(time.Millisecond))))
	defer cancel()
	return json.Marshal(map[string]bool{"holds": awaitCondition(ctx, s, c)})
}

// learn keeps what a person did in a takeover as a saved script: after the steps that the run
// made by itself. If they did nothing, what was learned before stays.
func learn(ctx context.Context, s *Session, l *learning, info *TakeoverInfo) error {
	r := info.Recording()
	if len(r.Steps) == 0 {
		return nil
	}
	name := strings.TrimSpace(l.Name)
	if len(l.Done.Steps) > 0 {
		r = joined(l.Done, r)
	}
	r.Title = name
	steps, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.services.settings.scripts.Learn(ctx, name, r.Script(), steps)
}

// joined returns the steps of two recordings as one. Tabs have other numbers in each session: the
// second begins in the tab in which the first one ended.
func joined(first, second codegen.Recording) codegen.Recording {
	last := first.Tab
	highest := first.Tab
	for _, step := range first.Steps {
		last, highest = step.Tab, max(highest, step.Tab)
	}
	tabs := map[uint32]uint32{second.Tab: last}
	var all codegen.Steps
	for _, step := range first.Steps {
		all.Add(step)
	}
	for _, step := range second.Steps {
		to, known := tabs[step.Tab]
		if !known {
			highest++
			to, tabs[step.Tab] = highest, highest
		}
		step.Tab, step.Frames = to, slices.Clone(step.Frames)
		all.Add(step)
	}
	return codegen.Recording{Start: first.Start, End: second.End, Tab: first.Tab, Steps: all.List(), Cut: second.Cut || all.Cut}
}
