// Package profiles keeps the states of browsers under a name, encrypted, so that
// later sessions start with them.
package profiles

import (
	"cmp"
	"context"
	"crypto/rand"
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
	maxNamed    = 5   // profiles whose ids one error says
	idPrefix    = "profile_"
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
	// ErrExists is returned for a name that another profile has or may have.
	ErrExists = errors.New("another profile has this name")
	// ErrTooLarge is returned for a state or a folder above its limit.
	ErrTooLarge = errors.New("the profile is too large")
	// ErrNoFolder is returned for the user data directory of a profile without one.
	ErrNoFolder = errors.New("the profile has no user data directory")
)

// Profile describes a profile, without its contents.
type Profile struct {
	ID        string    `json:"id" doc:"The profile's id."`
	Name      string    `json:"name" doc:"Its name; empty if it is locked or damaged."`
	CreatedAt time.Time `json:"createdAt" doc:"When it was made."`
	UpdatedAt time.Time `json:"updatedAt" doc:"When it was last changed."`
	Version   int       `json:"version" doc:"Rises with each change. Whoever remembers it notices an older state that was put back."`
	Summary
	Bytes    int  `json:"bytes" doc:"Size of its contents, before encryption."`
	UserData bool `json:"userData" doc:"Whether it has a whole user data directory."`
	Locked   bool `json:"locked" doc:"No key of this server opens it: it can only be deleted."`
	Damaged  bool `json:"damaged" doc:"What is stored of it was changed, so that it can only be deleted."`
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

// record is a profile as it is stored: its row. It binds its contents: each value
// is written under a new name, once, and opens only under that name.
type record struct {
	Profile
	StateBytes  int    `json:"stateBytes"`
	FolderBytes int    `json:"folderBytes,omitempty"`
	StateBlob   string `json:"stateBlob,omitempty"` // name of its state; empty for one that an older server saved
	FolderBlob  string `json:"folderBlob,omitempty"`
}

// part is one of the contents of a profile.
type part string

const (
	statePart  part = "state"
	folderPart part = "folder"
)

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

// all returns all rows. What somebody put there that has no id of a profile is
// not one.
func (t tables) all(ctx context.Context) ([]store.Entry, error) {
	entries, err := t.rows.All(ctx)
	return slices.DeleteFunc(entries, func(e store.Entry) bool { return !strings.HasPrefix(e.Key, idPrefix) }), err
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
func rowPlace(id string) string        { return "profile " + id }
func newBlob(id string, p part) string { return id + "." + string(p) + "." + rand.Text() }
func blobPlace(blob string) string     { return "profile data " + blob }

// List returns all profiles, most recently changed first. Those that no key opens
// are Locked, and those whose row was changed are Damaged.
func (p *Profiles) List(ctx context.Context) ([]Profile, error) {
	t, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := t.all(ctx)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	list := make([]Profile, 0, len(entries))
	for _, e := range entries {
		r, err := p.read(e)
		if err != nil {
			list = append(list, Profile{ID: e.Key, CreatedAt: e.Changed, UpdatedAt: e.Changed, Summary: Summary{Origins: []string{}}, Locked: errors.Is(err, ErrWrongKey), Damaged: errors.Is(err, ErrDamaged)})
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
	all, err := t.all(ctx)
	if err != nil {
		return Profile{}, fmt.Errorf("create profile: %w", err)
	}
	if len(all) >= maxProfiles {
		return Profile{}, fmt.Errorf("%w: at most %d are kept", ErrTooMany, maxProfiles)
	}
	if err := p.free(all, name, ""); err != nil {
		return Profile{}, err
	}
	now := now()
	r := record{Profile: Profile{ID: id.New("profile"), Name: name, CreatedAt: now, UpdatedAt: now, Version: 1}}
	if err := p.writeState(ctx, t, &r, s); err != nil {
		return Profile{}, err
	}
	if err := p.put(ctx, t, r, 0); err != nil {
		return Profile{}, errors.Join(err, p.sweep(ctx, t, r.ID, r.blobs()))
	}
	return r.profile(), nil
}

// SetState replaces the state of a profile. Further errors: ErrNotFound,
// ErrTooLarge, ErrChanged.
func (p *Profiles) SetState(ctx context.Context, id string, s State) (Profile, error) {
	return p.change(ctx, id, func(t tables, r *record) error {
		return p.writeState(ctx, t, r, s)
	})
}

// SetFolder replaces the packed user data directory of a profile. Further errors:
// ErrNotFound, ErrTooLarge, ErrChanged.
func (p *Profiles) SetFolder(ctx context.Context, id string, packed []byte) (Profile, error) {
	return p.change(ctx, id, func(t tables, r *record) error {
		if len(packed) > MaxFolderBytes {
			return fmt.Errorf("%w: its packed user data directory may have %d bytes", ErrTooLarge, MaxFolderBytes)
		}
		return p.write(ctx, t, r, folderPart, packed)
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
		all, err := t.all(ctx)
		if err != nil {
			return fmt.Errorf("rename profile: %w", err)
		}
		if err := p.free(all, name, r.ID); err != nil {
			return err
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
	r, _, unread := p.find(ctx, t, idOrName)
	switch {
	case unread == nil:
		key = r.ID
	case !errors.Is(unread, ErrWrongKey) && !errors.Is(unread, ErrDamaged) && !errors.Is(unread, ErrNotFound):
		return unread
	}
	if err := t.rows.Delete(ctx, key); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return cmp.Or(unread, ErrNotFound)
		}
		return fmt.Errorf("delete profile: %w", err)
	}
	if err := t.data.DeleteUnder(ctx, key); err != nil {
		return fmt.Errorf("delete profile: %w", err)
	}
	r = record{Profile: Profile{ID: key}, FolderBytes: 1}
	return drop(ctx, t, r.blobs()) // what an older server saved
}

// State returns the storage state of a profile as JSON. Further errors:
// ErrNotFound.
func (p *Profiles) State(ctx context.Context, idOrName string) (json.RawMessage, error) {
	return p.contents(ctx, idOrName, statePart)
}

// Folder returns the packed user data directory of a profile. Further errors:
// ErrNotFound, ErrNoFolder.
func (p *Profiles) Folder(ctx context.Context, idOrName string) ([]byte, error) {
	return p.contents(ctx, idOrName, folderPart)
}

// damaged says what of a profile is damaged, and how.
func damaged(id, what, how string) error {
	return fmt.Errorf("%w: the %s of %s %s", ErrDamaged, what, id, how)
}

// Reencrypt encrypts everything with the first key that was encrypted with
// another one, and returns how many profiles it changed. Profiles that no key
// opens stay as they are.
func (p *Profiles) Reencrypt(ctx context.Context) (changed int, err error) {
	t, err := p.open(ctx)
	if err != nil {
		return 0, err
	}
	entries, err := t.all(ctx)
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
	_, err = p.change(ctx, id, func(t tables, r *record) error {
		for _, which := range []part{statePart, folderPart} {
			name := r.blob(which)
			if name == "" {
				continue
			}
			if sealed, err := t.data.Get(ctx, name); err == nil && p.keys.current(sealed) {
				continue
			}
			plain, err := p.readPart(ctx, t, *r, which)
			if err != nil {
				return err
			}
			if err := p.write(ctx, t, r, which, plain); err != nil {
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
		former := r.blobs()
		if err := with(t, &r); err != nil {
			return Profile{}, errors.Join(err, p.sweep(ctx, t, r.ID, without(r.blobs(), former)))
		}
		r.UpdatedAt = now()
		r.Version++
		err = p.put(ctx, t, r, revision)
		swept := p.sweep(ctx, t, r.ID, append(without(r.blobs(), former), without(former, r.blobs())...))
		switch {
		case err == nil:
			return r.profile(), nil // the profile has changed; contents that could not be removed go with it
		case !errors.Is(err, ErrChanged): // another server changed it
			return Profile{}, errors.Join(err, swept)
		}
	}
	return Profile{}, ErrChanged
}

// find returns the row with an id or a name, and its revision.
func (p *Profiles) find(ctx context.Context, t tables, idOrName string) (record, uint64, error) {
	if strings.HasPrefix(idOrName, idPrefix) { // no name begins so
		e, err := t.rows.Get(ctx, idOrName)
		if errors.Is(err, store.ErrNotFound) {
			return record{}, 0, fmt.Errorf("%w: %q", ErrNotFound, idOrName)
		}
		if err != nil {
			return record{}, 0, fmt.Errorf("find profile: %w", err)
		}
		r, err := p.read(e)
		return r, e.Revision, err
	}
	all, err := t.all(ctx)
	if err != nil {
		return record{}, 0, fmt.Errorf("find profile: %w", err)
	}
	found, locked, broken := p.named(all, idOrName)
	switch {
	case len(found) == 1:
		r, err := p.read(found[0])
		return r, found[0].Revision, err
	case len(found) > 1:
		return record{}, 0, fmt.Errorf("%w: %s are all called %q; say which by its id", ErrExists, ids(found), idOrName)
	case len(broken) > 0:
		return record{}, 0, fmt.Errorf("%w: the entries of %s were changed or swapped, and no other one is called %q", ErrDamaged, ids(broken), idOrName)
	case len(locked) > 0:
		return record{}, 0, fmt.Errorf("%w: none of those that the present key opens is called %q; %d need another key", ErrNotFound, idOrName, len(locked))
	}
	return record{}, 0, fmt.Errorf("%w: %q", ErrNotFound, idOrName)
}

// free returns ErrExists if another profile than id has a name, or may have it:
// the names of those that cannot be read are not known.
func (p *Profiles) free(all []store.Entry, name, id string) error {
	found, locked, broken := p.named(all, name)
	switch found = slices.DeleteFunc(found, func(e store.Entry) bool { return e.Key == id }); {
	case len(found) > 0:
		return fmt.Errorf("%w: %s", ErrExists, name)
	case len(locked) > 0:
		return fmt.Errorf("%w, or may have it: %s need another secret key, so that their names are not known. Give the server that key, or delete them", ErrExists, ids(locked))
	case len(broken) > 0:
		return fmt.Errorf("%w, or may have it: the entries of %s are damaged, so that their names are not known. Delete them", ErrExists, ids(broken))
	}
	return nil
}

// named returns the rows with a name, those that need another key, and those
// that are damaged.
func (p *Profiles) named(all []store.Entry, name string) (found, locked, broken []store.Entry) {
	for _, e := range all {
		r, err := p.read(e)
		switch {
		case err == nil && r.Name == name:
			found = append(found, e)
		case errors.Is(err, ErrWrongKey):
			locked = append(locked, e)
		case err != nil:
			broken = append(broken, e)
		}
	}
	return found, locked, broken
}

// ids names some rows in an error.
func ids(rows []store.Entry) string {
	var names []string
	for _, e := range rows[:min(len(rows), maxNamed)] {
		names = append(names, e.Key)
	}
	if more := len(rows) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// read opens a row.
func (p *Profiles) read(e store.Entry) (r record, err error) {
	plain, err := p.keys.Open(rowPlace(e.Key), e.Value)
	if err == nil {
		err = json.Unmarshal(plain, &r)
	}
	if err != nil && !errors.Is(err, ErrWrongKey) {
		return r, damaged(e.Key, "entry", "was changed, or belongs to another profile")
	}
	return r, err
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
	case strings.HasPrefix(name, idPrefix):
		return "", invalid.Field("name", "must not begin like an id")
	}
	return name, nil
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
