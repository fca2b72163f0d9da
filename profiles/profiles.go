// Package profiles keeps the states of browsers under a name, encrypted, so that
// later sessions start with them.
package profiles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"takeover/id"
	"takeover/invalid"
	"takeover/store"
)

const (
	maxProfiles = 500
	maxName     = 100 // runes
	// MaxStateBytes bounds the storage state of a profile as JSON.
	MaxStateBytes = 16 << 20
	// MaxFolderBytes bounds the packed user data directory of a profile.
	MaxFolderBytes = 128 << 20
	// dataBytes bounds what all profiles take in the store.
	dataBytes = 1 << 30
	// StoreBytes is how many bytes of storage the profiles need.
	StoreBytes = dataBytes + store.DefaultBucketSize

	// attempts is how often a change is tried again that somebody else's change
	// crossed.
	attempts = 5
)

var (
	// ErrNotFound is returned for an id or a name that no profile has.
	ErrNotFound = errors.New("no such profile")
	// ErrNoStore is returned by all methods on a server without a store.
	ErrNoStore = errors.New("this server has no store for profiles")
	// ErrChanged is returned for a change that others' changes crossed repeatedly.
	ErrChanged = errors.New("somebody else changed the profile meanwhile")
	// ErrTooMany is returned when the server has as many profiles as it may keep.
	ErrTooMany = errors.New("too many profiles")
	// ErrExists is returned for a name that another profile has.
	ErrExists = errors.New("another profile has this name")
	// ErrTooLarge is returned for a state or a folder above its limit.
	ErrTooLarge = errors.New("the profile is too large")
	// ErrNoFolder is returned for the user data directory of a profile without one.
	ErrNoFolder = errors.New("the profile has no user data directory")
)

// Profile describes a profile, without its contents.
type Profile struct {
	ID        string    `json:"id" doc:"The profile's id."`
	Name      string    `json:"name" doc:"Its name; empty if it is locked."`
	CreatedAt time.Time `json:"createdAt" doc:"When it was made."`
	UpdatedAt time.Time `json:"updatedAt" doc:"When it was last changed."`
	Summary
	Bytes    int  `json:"bytes" doc:"Size of its contents, before encryption."`
	UserData bool `json:"userData" doc:"Whether it has a whole user data directory."`
	Locked   bool `json:"locked" doc:"No key of this server opens it: it can only be deleted."`
}

// Summary says what a state has.
type Summary struct {
	Cookies  int      `json:"cookies" doc:"Number of cookies."`
	Origins  []string `json:"origins" doc:"Sites with storage."`
	Passkeys int      `json:"passkeys" doc:"Number of passkeys."`
}

// State is the storage state of a profile as JSON, and what is in it.
type State struct {
	JSON json.RawMessage
	Summary
}

// record is a profile as it is stored.
type record struct {
	Profile
	StateBytes  int `json:"stateBytes"`
	FolderBytes int `json:"folderBytes,omitempty"`
}

func (r record) profile() Profile {
	p := r.Profile
	p.Bytes, p.UserData = r.StateBytes+r.FolderBytes, r.FolderBytes > 0
	if p.Origins == nil {
		p.Origins = []string{}
	}
	return p
}

// Profiles are the profiles of a server. All methods may be called from any
// goroutine. The error of each may be ErrNoStore, ErrNoKey, ErrWrongKey,
// ErrDamaged, or one of the store.
type Profiles struct {
	store *store.Store
	keys  *Keys

	mu sync.Mutex // held while a profile is changed, so that names stay unique and blobs have one writer; across I/O, because every change is I/O
}

// New returns the profiles in a store. Without a store or without keys, all methods
// return an error.
func New(s *store.Store, keys *Keys) *Profiles { return &Profiles{store: s, keys: keys} }

// Ready returns ErrNoStore or ErrNoKey if profiles cannot be used.
func (p *Profiles) Ready() error {
	if p == nil || p.store == nil {
		return ErrNoStore
	}
	if p.keys == nil {
		return ErrNoKey
	}
	return nil
}

// The names of the tables in the store.
const rowTable, dataTable = "profiles", "profiledata"

// Tables returns the names of the profiles' tables in the store.
func Tables() []string { return []string{rowTable, dataTable} }

// tables are the opened tables of profiles.
type tables struct {
	rows *store.Bucket
	data *store.Blobs
}

func (p *Profiles) open(ctx context.Context) (t tables, err error) {
	if err := p.Ready(); err != nil {
		return t, err
	}
	if t.rows, err = p.store.Bucket(ctx, rowTable, store.BucketOptions{}); err != nil {
		return t, fmt.Errorf("profiles: %w", err)
	}
	if t.data, err = p.store.Blobs(ctx, dataTable, store.BucketOptions{Bytes: dataBytes}); err != nil {
		return t, fmt.Errorf("profiles: %w", err)
	}
	return t, nil
}

// The names of what is stored, which also bind the encrypted values to their
// places.
func rowPlace(id string) string    { return "profile " + id }
func stateBlob(id string) string   { return id + "-state" }
func folderBlob(id string) string  { return id + "-folder" }
func blobPlace(blob string) string { return "profile data " + blob }

// List returns all profiles, most recently changed first. Those that no key opens
// are Locked.
func (p *Profiles) List(ctx context.Context) ([]Profile, error) {
	t, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := t.rows.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	list := make([]Profile, 0, len(entries))
	for _, e := range entries {
		r, err := p.read(e)
		if err != nil {
			list = append(list, Profile{ID: e.Key, CreatedAt: e.Changed, UpdatedAt: e.Changed, Summary: Summary{Origins: []string{}}, Locked: true})
			continue
		}
		list = append(list, r.profile())
	}
	slices.SortFunc(list, func(a, b Profile) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return list, nil
}

// Find returns the profile with an id or a name. Further errors: ErrNotFound.
func (p *Profiles) Find(ctx context.Context, idOrName string) (Profile, error) {
	t, err := p.open(ctx)
	if err != nil {
		return Profile{}, err
	}
	r, _, err := p.find(ctx, t, idOrName)
	return r.profile(), err
}

// Create keeps a state under a new name. Further errors: *invalid.Error,
// ErrExists, ErrTooMany, ErrTooLarge.
func (p *Profiles) Create(ctx context.Context, name string, s State) (Profile, error) {
	name, err := checkName(name)
	if err != nil {
		return Profile{}, err
	}
	t, err := p.open(ctx)
	if err != nil {
		return Profile{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all, err := t.rows.All(ctx)
	if err != nil {
		return Profile{}, fmt.Errorf("create profile: %w", err)
	}
	if len(all) >= maxProfiles {
		return Profile{}, fmt.Errorf("%w: at most %d are kept", ErrTooMany, maxProfiles)
	}
	if p.taken(all, name, "") {
		return Profile{}, fmt.Errorf("%w: %s", ErrExists, name)
	}
	now := now()
	r := record{Profile: Profile{ID: id.New("profile"), Name: name, CreatedAt: now, UpdatedAt: now, Summary: s.Summary}, StateBytes: len(s.JSON)}
	if err := p.writeState(ctx, t, r.ID, s.JSON); err != nil {
		return Profile{}, err
	}
	if err := p.put(ctx, t, r, 0); err != nil {
		return Profile{}, errors.Join(err, ignoreMissing(t.data.Delete(ctx, stateBlob(r.ID))))
	}
	return r.profile(), nil
}

// SetState replaces the state of a profile. Further errors: ErrNotFound,
// ErrTooLarge, ErrChanged.
func (p *Profiles) SetState(ctx context.Context, id string, s State) (Profile, error) {
	return p.change(ctx, id, func(t tables, r *record) error {
		r.Summary, r.StateBytes = s.Summary, len(s.JSON)
		return p.writeState(ctx, t, r.ID, s.JSON)
	})
}

// SetFolder replaces the packed user data directory of a profile. Further errors:
// ErrNotFound, ErrTooLarge, ErrChanged.
func (p *Profiles) SetFolder(ctx context.Context, id string, packed []byte) (Profile, error) {
	return p.change(ctx, id, func(t tables, r *record) error {
		if len(packed) > MaxFolderBytes {
			return fmt.Errorf("%w: its packed user data directory may have %d bytes", ErrTooLarge, MaxFolderBytes)
		}
		r.FolderBytes = len(packed)
		return p.writeBlob(ctx, t, folderBlob(r.ID), packed)
	})
}

// Rename gives a profile another name. Further errors: *invalid.Error,
// ErrNotFound, ErrExists, ErrChanged.
func (p *Profiles) Rename(ctx context.Context, idOrName, name string) (Profile, error) {
	name, err := checkName(name)
	if err != nil {
		return Profile{}, err
	}
	return p.change(ctx, idOrName, func(t tables, r *record) error {
		all, err := t.rows.All(ctx)
		if err != nil {
			return fmt.Errorf("rename profile: %w", err)
		}
		if p.taken(all, name, r.ID) {
			return fmt.Errorf("%w: %s", ErrExists, name)
		}
		r.Name = name
		return nil
	})
}

// Delete forgets a profile, also one that no key opens. Further errors:
// ErrNotFound.
func (p *Profiles) Delete(ctx context.Context, idOrName string) error {
	t, err := p.open(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := idOrName
	if r, _, err := p.find(ctx, t, idOrName); err == nil {
		key = r.ID
	} else if !errors.Is(err, ErrWrongKey) && !errors.Is(err, ErrDamaged) {
		return err
	}
	if err := t.rows.Delete(ctx, key); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return ErrNotFound
		}
		return fmt.Errorf("delete profile: %w", err)
	}
	return errors.Join(ignoreMissing(t.data.Delete(ctx, stateBlob(key))), ignoreMissing(t.data.Delete(ctx, folderBlob(key))))
}

// State returns the storage state of a profile as JSON. Further errors:
// ErrNotFound.
func (p *Profiles) State(ctx context.Context, idOrName string) (json.RawMessage, error) {
	return p.contents(ctx, idOrName, stateBlob)
}

// Folder returns the packed user data directory of a profile. Further errors:
// ErrNotFound, ErrNoFolder.
func (p *Profiles) Folder(ctx context.Context, idOrName string) ([]byte, error) {
	return p.contents(ctx, idOrName, folderBlob)
}

func (p *Profiles) contents(ctx context.Context, idOrName string, blob func(string) string) ([]byte, error) {
	t, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	r, _, err := p.find(ctx, t, idOrName)
	if err != nil {
		return nil, err
	}
	name := blob(r.ID)
	sealed, err := t.data.Get(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNoFolder
	}
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	return p.keys.Open(blobPlace(name), sealed)
}

// Reencrypt encrypts everything with the first key that was encrypted with
// another one, and returns how many profiles it changed. Profiles that no key
// opens stay as they are.
func (p *Profiles) Reencrypt(ctx context.Context) (changed int, err error) {
	t, err := p.open(ctx)
	if err != nil {
		return 0, err
	}
	entries, err := t.rows.All(ctx)
	if err != nil {
		return 0, fmt.Errorf("reencrypt profiles: %w", err)
	}
	for _, e := range entries {
		done, err := p.reencryptOne(ctx, e.Key)
		if err != nil {
			return changed, err
		}
		if done {
			changed++
		}
	}
	return changed, nil
}

// reencryptOne does what Reencrypt does for one profile.
func (p *Profiles) reencryptOne(ctx context.Context, id string) (changed bool, err error) {
	_, err = p.change(ctx, id, func(t tables, _ *record) error {
		for _, name := range []string{stateBlob(id), folderBlob(id)} {
			sealed, err := t.data.Get(ctx, name)
			if errors.Is(err, store.ErrNotFound) || err == nil && p.keys.current(sealed) {
				continue
			}
			if err != nil {
				return fmt.Errorf("reencrypt profile: %w", err)
			}
			plain, err := p.keys.Open(blobPlace(name), sealed)
			if err != nil {
				return err
			}
			if err := p.writeBlob(ctx, t, name, plain); err != nil {
				return err
			}
			changed = true
		}
		return nil
	})
	if errors.Is(err, ErrWrongKey) || errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return changed, err
}

// change changes a profile, and writes its row after that.
func (p *Profiles) change(ctx context.Context, idOrName string, with func(tables, *record) error) (Profile, error) {
	t, err := p.open(ctx)
	if err != nil {
		return Profile{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for range attempts {
		r, revision, err := p.find(ctx, t, idOrName)
		if err != nil {
			return Profile{}, err
		}
		if err := with(t, &r); err != nil {
			return Profile{}, err
		}
		r.UpdatedAt = now()
		err = p.put(ctx, t, r, revision)
		if !errors.Is(err, ErrChanged) { // another server may have changed it
			return r.profile(), err
		}
	}
	return Profile{}, ErrChanged
}

// find returns the row with an id or a name, and its revision.
func (p *Profiles) find(ctx context.Context, t tables, idOrName string) (record, uint64, error) {
	e, err := t.rows.Get(ctx, idOrName)
	if err == nil {
		r, err := p.read(e)
		return r, e.Revision, err
	}
	if !errors.Is(err, store.ErrNotFound) {
		return record{}, 0, fmt.Errorf("find profile: %w", err)
	}
	all, err := t.rows.All(ctx)
	if err != nil {
		return record{}, 0, fmt.Errorf("find profile: %w", err)
	}
	locked := 0
	for _, e := range all {
		r, err := p.read(e)
		if err != nil {
			locked++
		} else if r.Name == idOrName {
			return r, e.Revision, nil
		}
	}
	if locked > 0 {
		return record{}, 0, fmt.Errorf("%w: none of those that the present key opens is called %q; %d need another key", ErrNotFound, idOrName, locked)
	}
	return record{}, 0, fmt.Errorf("%w: %q", ErrNotFound, idOrName)
}

// taken reports whether another profile than id has a name.
func (p *Profiles) taken(all []store.Entry, name, id string) bool {
	return slices.ContainsFunc(all, func(e store.Entry) bool {
		r, err := p.read(e)
		return err == nil && r.Name == name && r.ID != id
	})
}

func (p *Profiles) read(e store.Entry) (r record, err error) {
	plain, err := p.keys.Open(rowPlace(e.Key), e.Value)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(plain, &r); err != nil {
		return r, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return r, nil
}

func (p *Profiles) put(ctx context.Context, t tables, r record, revision uint64) error {
	plain, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	sealed, err := p.keys.Seal(rowPlace(r.ID), plain)
	if err != nil {
		return err
	}
	_, err = t.rows.Put(ctx, r.ID, sealed, revision)
	if errors.Is(err, store.ErrConflict) {
		return ErrChanged
	}
	if err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}

func (p *Profiles) writeState(ctx context.Context, t tables, id string, state []byte) error {
	if len(state) > MaxStateBytes {
		return fmt.Errorf("%w: its storage state may have %d bytes as JSON", ErrTooLarge, MaxStateBytes)
	}
	return p.writeBlob(ctx, t, stateBlob(id), state)
}

func (p *Profiles) writeBlob(ctx context.Context, t tables, name string, plain []byte) error {
	sealed, err := p.keys.Seal(blobPlace(name), plain)
	if err != nil {
		return err
	}
	if err := t.data.Set(ctx, name, sealed); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}

// checkName returns the name without spaces around it.
func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return "", invalid.Field("name", "is required")
	case n > maxName:
		return "", invalid.Field("name", "must be at most %d characters", maxName)
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return "", invalid.Field("name", "must not have control characters")
	case strings.HasPrefix(name, "profile_"):
		return "", invalid.Field("name", "must not begin like an id")
	}
	return name, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
