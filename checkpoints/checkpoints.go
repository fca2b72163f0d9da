// Package checkpoints keeps the state of tasks: the steps that are done and left, the
// open tabs and, where asked for, the state of the browser. Everything is encrypted
// with the keys of the profiles.
package checkpoints

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"takeover/id"
	"takeover/invalid"
	"takeover/profiles"
	"takeover/store"
)

// Version is the version of the form of checkpoints.
const Version = 1

// DefaultAge is how long a checkpoint is kept.
const DefaultAge = 30 * 24 * time.Hour

const (
	maxPerSession = 100
	maxText       = 4000      // runes of a description or a step
	maxSteps      = 200       // completed ones, and pending ones
	maxData       = 256 << 10 // bytes of the extracted data
	maxState      = 16 << 20  // bytes of a browser's state
	tableBytes    = 64 << 20
	stateBytes    = 256 << 20
)

var (
	// ErrNotFound is returned for an id that no checkpoint of the session has.
	ErrNotFound = errors.New("there is no such checkpoint")
	// ErrNoStore is returned by all methods on a server without a store.
	ErrNoStore = errors.New("this server has no store")
	// ErrTooMany is returned when a session has as many checkpoints as it may.
	ErrTooMany = errors.New("too many")
)

// Checkpoint is a checkpoint in the form of the API.
type Checkpoint struct {
	ID             string          `json:"id" doc:"The checkpoint's id."`
	Version        int             `json:"version" doc:"Of the form: 1."`
	SessionID      string          `json:"sessionId" doc:"The session in which it was made."`
	Timestamp      time.Time       `json:"timestamp" doc:"When it was made."`
	Task           string          `json:"taskDescription" doc:"What is to be done."`
	CompletedSteps []string        `json:"completedSteps" doc:"What is done."`
	PendingSteps   []string        `json:"pendingSteps" doc:"What is left."`
	CurrentURL     string          `json:"currentUrl" doc:"The address of the tab that people saw."`
	Tabs           []TabState      `json:"tabStates" doc:"The tabs."`
	ExtractedData  json.RawMessage `json:"extractedData,omitempty" doc:"Values of your own."`
	StorageState   json.RawMessage `json:"storageState,omitempty" doc:"Cookies and storage, if they were asked for; not in lists."`
}

// TabState is a tab of a checkpoint.
type TabState struct {
	TabID uint32 `json:"tabId" doc:"Its number."`
	URL   string `json:"url" doc:"Its address."`
	Title string `json:"title" doc:"Its title."`
}

// Tables are the names of the tables in the store.
func Tables() []string { return []string{rowTable, stateTable} }

const (
	rowTable   = "checkpoints"
	stateTable = "checkpoint-state"
)

// Checkpoints are the checkpoints of a server. All methods may be called from any
// goroutine. The errors are the package's, the store's, and those of the keys.
type Checkpoints struct {
	store *store.Store
	keys  *profiles.Keys
}

// New returns the checkpoints in a store. With a nil store, all methods return
// ErrNoStore.
func New(s *store.Store, keys *profiles.Keys) *Checkpoints { return &Checkpoints{s, keys} }

// tables opens the tables.
func (c *Checkpoints) tables(ctx context.Context) (rows *store.Bucket, states *store.Blobs, err error) {
	if c.store == nil {
		return nil, nil, ErrNoStore
	}
	if rows, err = c.store.Bucket(ctx, rowTable, store.BucketOptions{Bytes: tableBytes, Age: DefaultAge}); err == nil {
		states, err = c.store.Blobs(ctx, stateTable, store.BucketOptions{Bytes: stateBytes, Age: DefaultAge})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("checkpoints: %w", err)
	}
	return rows, states, nil
}

// check returns an error that names every invalid field.
func (c *Checkpoint) check() error {
	var bad []invalid.FieldError
	add := func(field, format string, args ...any) {
		bad = append(bad, invalid.FieldError{Field: field, Error: fmt.Sprintf(format, args...)})
	}
	if n := utf8.RuneCountInString(c.Task); n == 0 || n > maxText {
		add("taskDescription", "must have 1 to %d characters", maxText)
	}
	for field, steps := range map[string][]string{"completedSteps": c.CompletedSteps, "pendingSteps": c.PendingSteps} {
		if len(steps) > maxSteps {
			add(field, "must have at most %d entries", maxSteps)
		}
		for i, step := range steps {
			if utf8.RuneCountInString(step) > maxText {
				add(fmt.Sprintf("%s[%d]", field, i), "must have at most %d characters", maxText)
			}
		}
	}
	if len(c.ExtractedData) > maxData {
		add("extractedData", "must have at most %d bytes", maxData)
	}
	if len(c.StorageState) > maxState {
		add("includeStorage", "the browser's state has more than %d bytes", maxState)
	}
	if len(bad) > 0 {
		slices.SortFunc(bad, func(a, b invalid.FieldError) int { return strings.Compare(a.Field, b.Field) })
		return &invalid.Error{Fields: bad}
	}
	return nil
}

// Save keeps a checkpoint and sets its id, version and time.
func (c *Checkpoints) Save(ctx context.Context, p Checkpoint) (Checkpoint, error) {
	if err := p.check(); err != nil {
		return p, err
	}
	rows, states, err := c.tables(ctx)
	if err != nil {
		return p, err
	}
	all, err := rows.Match(ctx, p.SessionID+".*")
	if err != nil {
		return p, fmt.Errorf("save checkpoint: %w", err)
	}
	if len(all) >= maxPerSession {
		return p, fmt.Errorf("%w: a session has at most %d checkpoints", ErrTooMany, maxPerSession)
	}
	p.ID, p.Version, p.Timestamp = id.New("cp"), Version, time.Now().UTC().Truncate(time.Millisecond)
	p.CompletedSteps, p.PendingSteps, p.Tabs = orEmpty(p.CompletedSteps), orEmpty(p.PendingSteps), orEmpty(p.Tabs)
	if len(p.StorageState) > 0 {
		sealed, err := c.keys.Seal(statePlace(p.ID), p.StorageState)
		if err == nil {
			err = states.Set(ctx, p.ID, sealed)
		}
		if err != nil {
			return p, fmt.Errorf("save checkpoint: %w", err)
		}
	}
	row := p
	row.StorageState = nil
	raw, err := json.Marshal(row)
	if err == nil {
		raw, err = c.keys.Seal(rowPlace(p.ID), raw)
	}
	if err == nil {
		_, err = rows.Put(ctx, p.SessionID+"."+p.ID, raw, 0)
	}
	if err != nil {
		return p, fmt.Errorf("save checkpoint: %w", err)
	}
	return p, nil
}

func rowPlace(id string) string   { return "checkpoint " + id }
func statePlace(id string) string { return "checkpoint state " + id }

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// List returns the checkpoints of a session, newest first, without the browser's
// state.
func (c *Checkpoints) List(ctx context.Context, session string) ([]Checkpoint, error) {
	rows, _, err := c.tables(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := rows.Match(ctx, session+".*")
	if err != nil {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	list := make([]Checkpoint, 0, len(entries))
	for _, e := range entries {
		p, err := c.read(e)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Checkpoint) int { return b.Timestamp.Compare(a.Timestamp) })
	return list, nil
}

// Get returns a checkpoint with the browser's state. An empty session stands for any.
func (c *Checkpoints) Get(ctx context.Context, session, id string) (Checkpoint, error) {
	rows, states, err := c.tables(ctx)
	if err != nil {
		return Checkpoint{}, err
	}
	e, err := find(ctx, rows, session, id)
	if err != nil {
		return Checkpoint{}, err
	}
	p, err := c.read(e)
	if err != nil {
		return Checkpoint{}, err
	}
	sealed, err := states.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return p, nil
	}
	if err == nil {
		p.StorageState, err = c.keys.Open(statePlace(id), sealed)
	}
	if err != nil {
		return p, fmt.Errorf("read checkpoint: %w", err)
	}
	return p, nil
}

// Delete removes a checkpoint.
func (c *Checkpoints) Delete(ctx context.Context, session, id string) error {
	rows, states, err := c.tables(ctx)
	if err != nil {
		return err
	}
	e, err := find(ctx, rows, session, id)
	if err != nil {
		return err
	}
	if err := rows.Delete(ctx, e.Key); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("delete checkpoint: %w", err)
	}
	if err := states.Delete(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("delete checkpoint: %w", err)
	}
	return nil
}

// find returns the row of a checkpoint.
func find(ctx context.Context, rows *store.Bucket, session, id string) (store.Entry, error) {
	if id == "" || strings.ContainsAny(id+session, ".*> ") { // they mean something in a pattern
		return store.Entry{}, ErrNotFound
	}
	if session == "" {
		session = "*"
	}
	found, err := rows.Match(ctx, session+"."+id)
	switch {
	case err != nil:
		return store.Entry{}, fmt.Errorf("checkpoints: %w", err)
	case len(found) == 0:
		return store.Entry{}, ErrNotFound
	}
	return found[0], nil
}

func (c *Checkpoints) read(e store.Entry) (p Checkpoint, err error) {
	_, id, _ := strings.Cut(e.Key, ".")
	raw, err := c.keys.Open(rowPlace(id), e.Value)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read checkpoint %s: %w", id, err)
	}
	return p, nil
}
