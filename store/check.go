package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// bucketPrefix begins the name of the stream behind a bucket.
const bucketPrefix = "KV_"

// Version returns the version of the NATS server.
func (s *Store) Version() string { return s.conn.ConnectedServerVersion() }

// CheckStorage checks that the NATS server has so many bytes of storage for the
// stream of events and these tables together. It counts what those of them that
// exist have reserved, and tries to reserve the rest for a moment. It returns how
// many bytes they take now. The error may be ErrReserved.
func (s *Store) CheckStorage(ctx context.Context, tables []string, bytes int64) (used uint64, err error) {
	rest := bytes
	streams := s.js.ListStreams(ctx)
	for stream := range streams.Info() {
		name := stream.Config.Name
		if name != eventsStream && !slices.ContainsFunc(tables, func(table string) bool { return name == bucketPrefix+table }) {
			continue
		}
		used += stream.State.Bytes
		rest -= max(stream.Config.MaxBytes, 0)
	}
	if err := streams.Err(); err != nil {
		return 0, fmt.Errorf("list streams: %w", err)
	}
	if rest <= 0 {
		return used, nil
	}
	name := "takeover-check-" + rand.Text()
	if _, err := s.js.CreateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{name}, Storage: jetstream.FileStorage, MaxBytes: rest}); err != nil {
		return used, openError("a stream of this check", rest, err)
	}
	if err := s.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return used, fmt.Errorf("delete stream %s: %w", name, err)
	}
	return used, nil
}
