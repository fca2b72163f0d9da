package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// bucketPrefix begins the name of the stream behind a bucket.
const bucketPrefix = "KV_"

const (
	// checkPrefix begins the name of the stream that a check makes for a moment.
	checkPrefix = "takeover-check-"
	// checkAge is how old such a stream is when no check can use it any more.
	checkAge = 10 * time.Minute
	// deleteTimeout is how long the server may take to delete it.
	deleteTimeout = 5 * time.Second
)

// Version returns the version of the NATS server.
func (s *Store) Version() string { return s.conn.ConnectedServerVersion() }

// CheckStorage checks that the NATS server has so many bytes of storage for the
// stream of events and these tables together. It counts what those of them that
// exist have reserved, and tries to reserve the rest for a moment. It returns how
// many bytes they take now. The error may be ErrReserved.
func (s *Store) CheckStorage(ctx context.Context, tables []string, bytes int64) (used uint64, err error) {
	return s.checkStorage(ctx, tables, bytes, time.Now().Add(-checkAge))
}

// checkStorage is CheckStorage. Streams of checks that were made before a time are
// deleted: their checks were killed.
func (s *Store) checkStorage(ctx context.Context, tables []string, bytes int64, before time.Time) (used uint64, err error) {
	rest := bytes
	var left []string
	streams := s.js.ListStreams(ctx)
	for stream := range streams.Info() {
		name := stream.Config.Name
		if strings.HasPrefix(name, checkPrefix) && stream.Created.Before(before) {
			left = append(left, name)
		}
		if name != eventsStream && !slices.ContainsFunc(tables, func(table string) bool { return name == bucketPrefix+table }) {
			continue
		}
		used += stream.State.Bytes
		rest -= max(stream.Config.MaxBytes, 0)
	}
	if err := streams.Err(); err != nil {
		return 0, fmt.Errorf("list streams: %w", err)
	}
	for _, name := range left {
		if err := s.deleteStream(ctx, name); err != nil {
			return used, err
		}
	}
	if rest <= 0 {
		return used, nil
	}
	name := checkPrefix + rand.Text()
	_, err = s.js.CreateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{name}, Storage: jetstream.FileStorage, MaxBytes: rest})
	removed := s.deleteStream(ctx, name) // the server may have made it although no answer came
	if err != nil {
		return used, openError("a stream of this check", rest, err)
	}
	return used, removed
}

// deleteStream deletes a stream, even if ctx has ended. A stream that does not exist
// is no error.
func (s *Store) deleteStream(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	if err := s.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("delete stream %s: %w", name, err)
	}
	return nil
}
