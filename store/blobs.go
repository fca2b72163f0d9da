package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// ErrNotWhole is returned for a value of Blobs whose parts are not all there. It
// is ErrNotFound, too, if a part is missing: the value may just have been removed.
var ErrNotWhole = errors.New("the stored value is not whole")

// blobPart is the largest part of a value in one message, in bytes: by default,
// an external NATS accepts messages of up to 1 MiB.
const blobPart = 900_000

// Blobs is a table of large values by name. A value may be larger than a message,
// and is replaced as a whole. Methods may be called from any goroutine, but no
// two may change the same value at the same time.
//
// It uses a Bucket and not JetStream's object store, because the client of the
// object store may leave a goroutine behind for each written value.
type Blobs struct{ bucket *Bucket }

// blobHead says where the parts of a value are.
type blobHead struct {
	Version string `json:"version"` // differs for each write, so that the previous value stays whole
	Parts   int    `json:"parts"`
}

func headKey(name string) string { return name + ".head" }

func (h blobHead) partKey(name string, i int) string {
	return name + "." + h.Version + "." + strconv.Itoa(i)
}

// Blobs opens the table of that name, and creates it if it does not exist. Names
// consist of letters, digits, "-", "_" and dots. If writing a value was interrupted,
// its parts are kept for o.Age.
func (s *Store) Blobs(ctx context.Context, name string, o BucketOptions) (*Blobs, error) {
	bucket, err := s.Bucket(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return &Blobs{bucket}, nil
}

// head returns the head of a value and its revision, or ErrNotFound.
func (b *Blobs) head(ctx context.Context, name string) (h blobHead, revision uint64, err error) {
	entry, err := b.bucket.Get(ctx, headKey(name))
	if err != nil {
		return h, 0, err
	}
	if err := json.Unmarshal(entry.Value, &h); err != nil {
		return h, entry.Revision, fmt.Errorf("read %s: %w: %w", name, ErrNotWhole, err)
	}
	return h, entry.Revision, nil
}

// Get returns a value, or ErrNotFound or ErrNotWhole.
func (b *Blobs) Get(ctx context.Context, name string) ([]byte, error) {
	h, _, err := b.head(ctx, name)
	if err != nil {
		return nil, err
	}
	value := []byte{}
	for i := range h.Parts {
		part, err := b.bucket.Get(ctx, h.partKey(name, i))
		if errors.Is(err, ErrNotFound) {
			return nil, fmt.Errorf("read %s: %w: part %d: %w", name, ErrNotWhole, i, err)
		}
		if err != nil {
			return nil, err
		}
		value = append(value, part.Value...)
	}
	return value, nil
}

// Set sets a value. Readers get the previous value until the new one is complete.
func (b *Blobs) Set(ctx context.Context, name string, value []byte) error {
	old, revision, err := b.head(ctx, name)
	if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrNotWhole) {
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

// Delete removes a value, or returns ErrNotFound.
func (b *Blobs) Delete(ctx context.Context, name string) error {
	h, _, err := b.head(ctx, name)
	if err != nil && !errors.Is(err, ErrNotWhole) {
		return err
	}
	return errors.Join(b.bucket.Delete(ctx, headKey(name)), b.drop(ctx, name, h))
}

// DeleteUnder removes all values whose names begin with a name and a dot.
func (b *Blobs) DeleteUnder(ctx context.Context, name string) error {
	return b.bucket.purge(ctx, name+".>")
}

// drop removes the parts that h names. The stored head must name other parts,
// or must be gone.
func (b *Blobs) drop(ctx context.Context, name string, h blobHead) error {
	var errs []error
	for i := range h.Parts {
		if err := b.bucket.Delete(ctx, h.partKey(name, i)); !errors.Is(err, ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
