package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// blobPart is the most bytes of a value that one message holds: an external NATS
// takes messages up to 1 MiB by default.
const blobPart = 900_000

// Blobs is a table of large values by name: longer ones than one message holds,
// each replaced as a whole. Its methods may be called from any goroutine, but one
// value may be changed by one at a time only.
//
// It is made of a Bucket, and not of JetStream's object store, whose client may
// leave a goroutine behind for each value that is written.
type Blobs struct{ bucket *Bucket }

// blobHead says where the parts of a value are.
type blobHead struct {
	Version string `json:"version"` // of each writing, so that the one before stays whole
	Parts   int    `json:"parts"`
}

func headKey(name string) string { return name + ".head" }

func (h blobHead) partKey(name string, i int) string {
	return name + "." + h.Version + "." + strconv.Itoa(i)
}

// Blobs opens such a table and makes it if there is none of the name, which is
// letters, digits, "-" and "_". Parts of a value that was never written to its end
// stay until o.Age is over.
func (s *Store) Blobs(ctx context.Context, name string, o BucketOptions) (*Blobs, error) {
	bucket, err := s.Bucket(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return &Blobs{bucket}, nil
}

// head returns where a value is, and the revision of that, or ErrNotFound.
func (b *Blobs) head(ctx context.Context, name string) (h blobHead, revision uint64, err error) {
	entry, err := b.bucket.Get(ctx, headKey(name))
	if err != nil {
		return h, 0, err
	}
	if err := json.Unmarshal(entry.Value, &h); err != nil {
		return h, 0, fmt.Errorf("read %s: %w", name, err)
	}
	return h, entry.Revision, nil
}

// Get returns a value, or ErrNotFound.
func (b *Blobs) Get(ctx context.Context, name string) ([]byte, error) {
	h, _, err := b.head(ctx, name)
	if err != nil {
		return nil, err
	}
	value := []byte{}
	for i := range h.Parts {
		part, err := b.bucket.Get(ctx, h.partKey(name, i))
		if err != nil {
			return nil, err
		}
		value = append(value, part.Value...)
	}
	return value, nil
}

// Set sets a value, whatever it was before. Until it is there as a whole the one
// before is.
func (b *Blobs) Set(ctx context.Context, name string, value []byte) error {
	old, revision, err := b.head(ctx, name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	h := blobHead{Version: rand.Text()}
	for ; len(value) > 0; h.Parts++ {
		part := value[:min(blobPart, len(value))]
		if _, err := b.bucket.Put(ctx, h.partKey(name, h.Parts), part, 0); err != nil {
			return errors.Join(err, b.drop(ctx, name, h))
		}
		value = value[len(part):]
	}
	raw, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := b.bucket.Put(ctx, headKey(name), raw, revision); err != nil {
		return errors.Join(err, b.drop(ctx, name, h))
	}
	return b.drop(ctx, name, old)
}

// Delete removes a value that is there, or returns ErrNotFound.
func (b *Blobs) Delete(ctx context.Context, name string) error {
	h, _, err := b.head(ctx, name)
	if err != nil {
		return err
	}
	return errors.Join(b.bucket.Delete(ctx, headKey(name)), b.drop(ctx, name, h))
}

// drop removes the parts of a value that nothing points to.
func (b *Blobs) drop(ctx context.Context, name string, h blobHead) error {
	var errs []error
	for i := range h.Parts {
		if err := b.bucket.Delete(ctx, h.partKey(name, i)); !errors.Is(err, ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
