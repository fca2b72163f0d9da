package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"takeover/invalid"
	"takeover/store"
)

const (
	maxSavedScripts = 500
	maxScriptName   = 100 // runes
	// maxSavedSize is the most bytes a saved script may take as JSON: an external
	// NATS takes messages up to 1 MiB by default.
	maxSavedSize = 1_000_000
)

var (
	// ErrNoStore is the error of what needs a store on a server that has none.
	ErrNoStore = errors.New("this server keeps nothing")
	// ErrChanged is the error of a change to what somebody else changed meanwhile.
	ErrChanged = errors.New("somebody else changed it meanwhile")
)

// SavedScript is a script kept under a name, to be run again.
type SavedScript struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Code      string          `json:"code"`
	Args      json.RawMessage `json:"args"` // what the script sees as args unless a run brings its own; null for nothing
	CreatedAt time.Time       `json:"createdAt"`
	UpdatedAt time.Time       `json:"updatedAt"`
}

// Filename is the script's name as a run gives it in positions.
func (s SavedScript) Filename() string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, s.Name)
	if strings.HasSuffix(name, ".ts") || strings.HasSuffix(name, ".js") {
		return name
	}
	return name + ".ts"
}

// ScriptChange says what to change in a saved script; nil leaves a field as it is.
type ScriptChange struct {
	Name *string
	Code *string
	Args json.RawMessage
}

func (c ScriptChange) apply(s *SavedScript) error {
	if c.Name != nil {
		s.Name = strings.TrimSpace(*c.Name)
	}
	if c.Code != nil {
		s.Code = *c.Code
	}
	if c.Args != nil {
		s.Args = c.Args
	}
	var bad []invalid.FieldError
	if n := utf8.RuneCountInString(s.Name); n == 0 {
		bad = append(bad, invalid.FieldError{Field: "name", Error: "is required"})
	} else if n > maxScriptName {
		bad = append(bad, invalid.FieldError{Field: "name", Error: fmt.Sprintf("must be at most %d characters", maxScriptName)})
	}
	if s.Code == "" {
		bad = append(bad, invalid.FieldError{Field: "code", Error: "is required"})
	}
	if len(bad) > 0 {
		return &invalid.Error{Fields: bad}
	}
	return nil
}

// savedScripts is the bucket that scripts are kept in.
func (m *Manager) savedScripts(ctx context.Context) (*store.Bucket, error) {
	if m.opts.Store == nil {
		return nil, ErrNoStore
	}
	b, err := m.opts.Store.Bucket(ctx, "scripts", store.BucketOptions{})
	if err != nil {
		return nil, fmt.Errorf("saved scripts: %w", err)
	}
	return b, nil
}

// SavedScripts lists what was saved, the newest change first. The error is
// ErrNoStore, or the store's.
func (m *Manager) SavedScripts(ctx context.Context) ([]SavedScript, error) {
	b, err := m.savedScripts(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := b.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("saved scripts: %w", err)
	}
	list := make([]SavedScript, 0, len(entries))
	for _, e := range entries {
		s, err := readScript(e)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b SavedScript) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return list, nil
}

// SavedScript returns one saved script, or ErrNotFound.
func (m *Manager) SavedScript(ctx context.Context, id string) (SavedScript, error) {
	b, err := m.savedScripts(ctx)
	if err != nil {
		return SavedScript{}, err
	}
	s, _, err := getScript(ctx, b, id)
	return s, err
}

// SaveScript keeps a new script. The error is an *invalid.Error, ErrTooMany,
// ErrNoStore, or the store's.
func (m *Manager) SaveScript(ctx context.Context, c ScriptChange) (SavedScript, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	s := SavedScript{ID: newID("script"), Args: json.RawMessage("null"), CreatedAt: now, UpdatedAt: now}
	if err := c.apply(&s); err != nil {
		return s, err
	}
	b, err := m.savedScripts(ctx)
	if err != nil {
		return s, err
	}
	all, err := b.All(ctx)
	if err != nil {
		return s, fmt.Errorf("save script: %w", err)
	}
	if len(all) >= maxSavedScripts {
		return s, fmt.Errorf("%w: at most %d scripts are kept", ErrTooMany, maxSavedScripts)
	}
	return s, putScript(ctx, b, s, 0)
}

// ChangeScript renames a saved script, or changes its code or arguments. The
// error is an *invalid.Error, ErrNotFound, ErrChanged, ErrNoStore, or the store's.
func (m *Manager) ChangeScript(ctx context.Context, id string, c ScriptChange) (SavedScript, error) {
	b, err := m.savedScripts(ctx)
	if err != nil {
		return SavedScript{}, err
	}
	s, revision, err := getScript(ctx, b, id)
	if err != nil {
		return s, err
	}
	if err := c.apply(&s); err != nil {
		return s, err
	}
	s.UpdatedAt = time.Now().UTC().Truncate(time.Millisecond)
	return s, putScript(ctx, b, s, revision)
}

// DeleteScript forgets a saved script; ErrNotFound when there is none.
func (m *Manager) DeleteScript(ctx context.Context, id string) error {
	b, err := m.savedScripts(ctx)
	if err != nil {
		return err
	}
	err = b.Delete(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return ErrNotFound
	}
	return err
}

func getScript(ctx context.Context, b *store.Bucket, id string) (SavedScript, uint64, error) {
	e, err := b.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return SavedScript{}, 0, ErrNotFound
	}
	if err != nil {
		return SavedScript{}, 0, fmt.Errorf("saved script: %w", err)
	}
	s, err := readScript(e)
	return s, e.Revision, err
}

func readScript(e store.Entry) (s SavedScript, err error) {
	if err := json.Unmarshal(e.Value, &s); err != nil {
		return s, fmt.Errorf("saved script %s: %w", e.Key, err)
	}
	return s, nil
}

func putScript(ctx context.Context, b *store.Bucket, s SavedScript, revision uint64) error {
	value, err := json.Marshal(s)
	if err != nil {
		return invalid.Field("args", "is not JSON")
	}
	if len(value) > maxSavedSize {
		return invalid.Field("code", "a saved script may have at most %d bytes as JSON", maxSavedSize)
	}
	_, err = b.Put(ctx, s.ID, value, revision)
	if errors.Is(err, store.ErrConflict) {
		return ErrChanged
	}
	if err != nil {
		return fmt.Errorf("save script: %w", err)
	}
	return nil
}
