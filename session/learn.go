package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"takeover/codegen"
	"takeover/invalid"
	"takeover/savedscripts"
)

// learning is the part of a request for a person that a script makes to learn from them.
type learning struct {
	Name string `json:"learn"`   // of the saved script; "" for none
	Done int    `json:"learned"` // how many of its steps the run has just made again
}

func (l learning) check() error {
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

// learn keeps what a person did in a takeover as a saved script: after the steps of an earlier
// one that the run made by itself.
func learn(ctx context.Context, s *Session, l learning, info *TakeoverInfo) error {
	name, scripts := strings.TrimSpace(l.Name), s.services.settings.scripts
	r := info.Recording()
	if l.Done > 0 {
		earlier, err := scripts.Learned(ctx, name)
		if err != nil {
			return err
		}
		var before codegen.Recording
		if err := json.Unmarshal(earlier.Steps, &before); err != nil {
			return fmt.Errorf("read what was learned: %w", err)
		}
		before.Steps = append(before.Steps[:min(l.Done, len(before.Steps))], r.Steps...)
		before.End = r.End
		r = before
	}
	r.Title = name
	steps, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return scripts.Learn(ctx, name, r.Script(), steps)
}
