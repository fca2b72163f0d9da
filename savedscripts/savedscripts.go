// Package savedscripts stores scripts under a name, so that they can be run
// again.
package savedscripts

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

	"takeover/id"
	"takeover/invalid"
	"takeover/store"
)

const (
	maxScripts = 500
	// MaxName is the length of the longest name, in characters.
	MaxName = 100
	// maxSize is the maximum size of a saved script as JSON, in bytes. An
	// external NATS accepts messages up to 1 MiB by default.
	maxSize = 1_000_000
)

var (
	// ErrNotFound is returned for an id that no script has.
	ErrNotFound = errors.New("not found")
	// ErrNoRoom is returned while the disk is full.
	ErrNoRoom = store.ErrFull
	// ErrReserved is returned while the NATS server has too little storage for the
	// scripts.
	ErrReserved = store.ErrReserved
	// ErrNoStore is returned by all methods on a server without a store.
	ErrNoStore = errors.New("this server has no store")
	// ErrChanged is returned for a change to a script that somebody else has
	// changed meanwhile.
	ErrChanged = errors.New("somebody else changed it meanwhile")
	// ErrTooMany is returned when the server already has as many scripts as it
	// may keep.
	ErrTooMany = errors.New("too many")
)

// Script is a saved script.
type Script struct {
	ID        string          `json:"id" doc:"The script's id."`
	Name      string          `json:"name" doc:"Its name."`
	Code      string          `json:"code" doc:"The script."`
	Args      json.RawMessage `json:"args" doc:"Default args of its runs; null for none."`
	CreatedAt time.Time       `json:"createdAt" doc:"When it was saved."`
	UpdatedAt time.Time       `json:"updatedAt" doc:"When it was last changed."`
	Steps     json.RawMessage `json:"steps,omitempty" doc:"Of a script that was learned from a person: what they did. A change of the code removes it."`
}

// Filename returns the script's name as error positions show it.
func (s Script) Filename() string {
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

// Change says what to change in a script. A nil field leaves that part
// unchanged.
type Change struct {
	Name *string
	Code *string
	Args json.RawMessage

	Steps json.RawMessage // of a script that is learned, with its code
}

func (c Change) apply(s *Script) error {
	if c.Name != nil {
		s.Name = strings.TrimSpace(*c.Name)
	}
	if c.Code != nil {
		if *c.Code != s.Code {
			s.Steps = nil // they are no longer what the script does
		}
		s.Code = *c.Code
	}
	if c.Steps != nil {
		s.Steps = c.Steps
	}
	if c.Args != nil {
		s.Args = c.Args
	}
	var bad []invalid.FieldError
	if n := utf8.RuneCountInString(s.Name); n == 0 {
		bad = append(bad, invalid.FieldError{Field: "name", Error: "is required"})
	} else if n > MaxName {
		bad = append(bad, invalid.FieldError{Field: "name", Error: fmt.Sprintf("must be at most %d characters", MaxName)})
	}
	if s.Code == "" {
		bad = append(bad, invalid.FieldError{Field: "code", Error: "is required"})
	}
	if len(bad) > 0 {
		return &invalid.Error{Fields: bad}
	}
	return nil
}

// StoreBytes is how many bytes of storage the scripts need.
const StoreBytes = store.DefaultBucketSize

// Table is the name of the scripts' table in the store.
const Table = "scripts"

// Scripts are the saved scripts of a server. All methods may be called from any
// goroutine.
type Scripts struct{ store *store.Store }

// New returns the scripts in a store. With a nil store, all methods return
// ErrNoStore.
func New(s *store.Store) *Scripts { return &Scripts{s} }

// bucket opens the scripts' bucket.
func (l *Scripts) bucket(ctx context.Context) (*store.Bucket, error) {
	if l.store == nil {
		return nil, ErrNoStore
	}
	b, err := l.store.Bucket(ctx, Table, store.BucketOptions{})
	if err != nil {
		return nil, fmt.Errorf("saved scripts: %w", err)
	}
	return b, nil
}

// List returns all scripts, most recently changed first. The error is ErrNoStore, or
// the store's.
func (l *Scripts) List(ctx context.Context) ([]Script, error) {
	b, err := l.bucket(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := b.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("saved scripts: %w", err)
	}
	list := make([]Script, 0, len(entries))
	for _, e := range entries {
		s, err := readScript(e)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Script) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return list, nil
}

// Get returns one script. The error is ErrNotFound, ErrNoStore, or the store's.
func (l *Scripts) Get(ctx context.Context, id string) (Script, error) {
	b, err := l.bucket(ctx)
	if err != nil {
		return Script{}, err
	}
	s, _, err := getScript(ctx, b, id)
	return s, err
}

// Save keeps a new script. The error is an *invalid.Error, ErrTooMany,
// ErrNoStore, or the store's.
func (l *Scripts) Save(ctx context.Context, c Change) (Script, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	s := Script{ID: id.New("script"), Args: json.RawMessage("null"), CreatedAt: now, UpdatedAt: now}
	if err := c.apply(&s); err != nil {
		return s, err
	}
	b, err := l.bucket(ctx)
	if err != nil {
		return s, err
	}
	all, err := b.All(ctx)
	if err != nil {
		return s, fmt.Errorf("save script: %w", err)
	}
	if len(all) >= maxScripts {
		return s, fmt.Errorf("%w: at most %d scripts are kept", ErrTooMany, maxScripts)
	}
	return s, putScript(ctx, b, s, 0)
}

// Change renames a script, or changes its code or arguments. The
// error is an *invalid.Error, ErrNotFound, ErrChanged, ErrNoStore, or the store's.
func (l *Scripts) Change(ctx context.Context, id string, c Change) (Script, error) {
	b, err := l.bucket(ctx)
	if err != nil {
		return Script{}, err
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

// Learned returns the script that was learned under a name. The error is ErrNotFound,
// ErrNoStore, or the store's.
func (l *Scripts) Learned(ctx context.Context, name string) (Script, error) {
	all, err := l.List(ctx)
	if err != nil {
		return Script{}, err
	}
	for _, s := range all {
		if s.Name == name && len(s.Steps) > 0 {
			return s, nil
		}
	}
	return Script{}, ErrNotFound
}

// Learn keeps what a person did under a name: as a new script, or in place of what was learned
// under that name. The errors are those of Save and Change.
func (l *Scripts) Learn(ctx context.Context, name, code string, steps json.RawMessage) error {
	known, err := l.Learned(ctx, name)
	if errors.Is(err, ErrNotFound) {
		_, err := l.Save(ctx, Change{Name: &name, Code: &code, Steps: steps})
		return err
	}
	if err != nil {
		return err
	}
	_, err = l.Change(ctx, known.ID, Change{Code: &code, Steps: steps})
	return err
}

// Delete deletes a script. The error is ErrNotFound, ErrNoStore, or the store's.
func (l *Scripts) Delete(ctx context.Context, id string) error {
	b, err := l.bucket(ctx)
	if err != nil {
		return err
	}
	err = b.Delete(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return ErrNotFound
	}
	return err
}

func getScript(ctx context.Context, b *store.Bucket, id string) (Script, uint64, error) {
	e, err := b.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return Script{}, 0, ErrNotFound
	}
	if err != nil {
		return Script{}, 0, fmt.Errorf("saved script: %w", err)
	}
	s, err := readScript(e)
	return s, e.Revision, err
}

func readScript(e store.Entry) (s Script, err error) {
	if err := json.Unmarshal(e.Value, &s); err != nil {
		return s, fmt.Errorf("saved script %s: %w", e.Key, err)
	}
	return s, nil
}

func putScript(ctx context.Context, b *store.Bucket, s Script, revision uint64) error {
	value, err := json.Marshal(s)
	if err != nil {
		return invalid.Field("args", "is not JSON")
	}
	if len(value) > maxSize {
		return invalid.Field("code", "a saved script may have at most %d bytes as JSON", maxSize)
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
