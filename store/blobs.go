package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Blobs is a table of large values by name: longer ones than one message holds,
// each replaced as a whole. Its methods may be called from any goroutine.
type Blobs struct{ objects jetstream.ObjectStore }

// Blobs opens such a table and makes it if there is none of the name, which is
// letters, digits, "-" and "_".
func (s *Store) Blobs(ctx context.Context, name string, o BucketOptions) (*Blobs, error) {
	objects, err := s.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: name, Storage: jetstream.FileStorage, MaxBytes: o.bytes(), TTL: o.Age, Compression: true,
	})
	if err != nil {
		return nil, fmt.Errorf("open blobs %s: %w", name, err)
	}
	return &Blobs{objects}, nil
}

// Get returns a value, or ErrNotFound.
func (b *Blobs) Get(ctx context.Context, name string) ([]byte, error) {
	value, err := b.objects.GetBytes(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return value, nil
}

// Set sets a value, whatever it was before. Until it is there as a whole the one
// before is.
func (b *Blobs) Set(ctx context.Context, name string, value []byte) error {
	if _, err := b.objects.PutBytes(ctx, name, value); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Delete removes a value that is there, or returns ErrNotFound.
func (b *Blobs) Delete(ctx context.Context, name string) error {
	_, err := b.objects.GetInfo(ctx, name) // deleting twice is no error to NATS
	if err == nil {
		err = b.objects.Delete(ctx, name)
	}
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}
