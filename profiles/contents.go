package profiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"takeover/store"
	"time"
)

func (p part) String() string {
	if p == folderPart {
		return "user data directory"
	}
	return "storage state"
}

// blob returns the name under which a part is stored; empty if the profile has none.
func (r record) blob(p part) string {
	switch {
	case p == statePart:
		return cmp.Or(r.StateBlob, r.ID+"-state")
	case r.FolderBytes > 0:
		return cmp.Or(r.FolderBlob, r.ID+"-folder")
	}
	return ""
}

// blobs returns the names of its contents.
func (r record) blobs() (names []string) {
	for _, p := range []part{statePart, folderPart} {
		if name := r.blob(p); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (p *Profiles) contents(ctx context.Context, idOrName string, which part) ([]byte, error) {
	t, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	var failed error
	var seen uint64
	for range attempts {
		r, revision, err := p.find(ctx, t, idOrName)
		if err != nil {
			return nil, err
		}
		if failed != nil && revision == seen {
			return nil, failed
		}
		var plain []byte
		if plain, failed = p.readPart(ctx, t, r, which); !errors.Is(failed, ErrDamaged) {
			return plain, failed
		}
		seen = revision // a change may have removed what the row named: then the row is another one now
	}
	return nil, failed
}

// readPart returns one of the contents that a row names.
func (p *Profiles) readPart(ctx context.Context, t tables, r record, which part) ([]byte, error) {
	name := r.blob(which)
	if name == "" {
		return nil, ErrNoFolder
	}
	sealed, err := t.data.Get(ctx, name)
	switch {
	case errors.Is(err, store.ErrNotWhole):
		return nil, damaged(r.ID, which.String(), "is not whole")
	case errors.Is(err, store.ErrNotFound):
		return nil, damaged(r.ID, which.String(), "is missing")
	case err != nil:
		return nil, fmt.Errorf("read profile: %w", err)
	}
	plain, err := p.keys.Open(blobPlace(name), sealed)
	if errors.Is(err, ErrDamaged) {
		return nil, damaged(r.ID, which.String(), "was changed, or belongs to another profile or version")
	}
	return plain, err
}

func (p *Profiles) writeState(ctx context.Context, t tables, r *record, state State) error {
	if len(state.JSON) > MaxStateBytes {
		return fmt.Errorf("%w: its storage state may have %d bytes as JSON", ErrTooLarge, MaxStateBytes)
	}
	r.Summary = state.Summary
	return p.write(ctx, t, r, statePart, state.JSON)
}

// write stores one of the contents under a new name and names it in the row. What
// the stored row names stays, until the row is written.
func (p *Profiles) write(ctx context.Context, t tables, r *record, which part, plain []byte) error {
	name := newBlob(r.ID, which)
	sealed, err := p.keys.Seal(blobPlace(name), plain)
	if err != nil {
		return err
	}
	if err := t.data.Set(ctx, name, sealed); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	if which == statePart {
		r.StateBlob, r.StateBytes = name, len(plain)
	} else {
		r.FolderBlob, r.FolderBytes = name, len(plain)
	}
	return nil
}

// sweep removes contents that the row of a profile does not name, also after ctx has
// ended. It reads the row, which may have been written although that failed.
func (p *Profiles) sweep(ctx context.Context, t tables, id string, contents []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepTime)
	defer cancel()
	e, err := t.rows.Get(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return drop(ctx, t, contents)
	case err != nil:
		return fmt.Errorf("remove contents of a profile: %w", err)
	}
	r, err := p.read(e)
	if err != nil {
		return err
	}
	return drop(ctx, t, without(contents, r.blobs()))
}

// drop removes contents that no row names.
func drop(ctx context.Context, t tables, names []string) error {
	var errs []error
	for _, name := range names {
		if err := t.data.Delete(ctx, name); err != nil && !errors.Is(err, store.ErrNotFound) {
			errs = append(errs, fmt.Errorf("remove contents of a profile: %w", err))
		}
	}
	return errors.Join(errs...)
}

func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// sweepTime bounds sweep.
const sweepTime = 5 * time.Second
