package store

import (
	"context"
	"time"
)

// SetFree changes how many bytes of the disk the embedded server leaves free.
func (s *Store) SetFree(bytes uint64) { s.disk.free.Store(bytes) }

// CheckStorageAfter is CheckStorage, which deletes the streams of checks that were
// made before a time.
func (s *Store) CheckStorageAfter(ctx context.Context, bytes int64, before time.Time) error {
	_, err := s.checkStorage(ctx, nil, bytes, before)
	return err
}
