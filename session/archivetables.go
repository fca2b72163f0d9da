package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"takeover/store"
)

// The kinds of records, each a bucket.
const (
	kindSession  = "sessions"
	kindRun      = "runs"
	kindTakeover = "takeovers"
	kindLink     = "links"

	// longParts are those of runs, after which the bucket is named, and the logs of
	// sessions.
	longParts = "run-details"
)

var kinds = []string{kindSession, kindRun, kindTakeover, kindLink}

// maxRecord is the most bytes of one record: an external NATS takes messages up to
// 1 MiB by default. What is longer of a run is kept apart.
const maxRecord = 900_000

// StoreBytes is how much a store must have room for, beside events, so that so many
// bytes are kept of ended sessions; 0 for the default.
func StoreBytes(keep int64) int64 {
	return int64(len(kinds)+1)*2*cmp.Or(keep, DefaultKeepBytes) + store.DefaultBucketSize // the saved scripts
}

// archiveTables are where records are kept. A key begins with the server's own name:
// several may share one NATS, and each tells of its own sessions only.
type archiveTables struct {
	store   *store.Store
	server  string
	buckets map[string]*store.Bucket // by kind
	details *store.Blobs
}

// openTables opens the tables. Each takes twice the bytes that are kept in all of
// them: a new value stands beside the one that it replaces, and which session makes
// room for another is not for the table to say.
func openTables(ctx context.Context, s *store.Store, server string, bytes int64, age time.Duration) (*archiveTables, error) {
	t := &archiveTables{store: s, server: server, buckets: map[string]*store.Bucket{}}
	o := store.BucketOptions{Bytes: 2 * bytes, Age: age}
	var err error
	for _, kind := range kinds {
		if t.buckets[kind], err = s.Bucket(ctx, kind, o); err != nil {
			return nil, err
		}
	}
	if t.details, err = s.Blobs(ctx, longParts, o); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *archiveTables) name(key archiveKey) string {
	name := t.server + "." + key.session
	if key.id != "" {
		name += "." + key.id
	}
	return name
}

// set writes a record as JSON and returns its length.
func (t *archiveTables) set(ctx context.Context, key archiveKey, record any) (int, error) {
	value, err := json.Marshal(record)
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", key.kind, err)
	}
	return len(value), t.buckets[key.kind].Set(ctx, t.name(key), value)
}

// delete removes a record, and what is kept apart of it.
func (t *archiveTables) delete(ctx context.Context, key archiveKey) error {
	err := ignoreMissing(t.buckets[key.kind].Delete(ctx, t.name(key)))
	if key.kind == kindRun || key.kind == kindSession {
		err = errors.Join(err, ignoreMissing(t.details.Delete(ctx, t.name(key))))
	}
	return err
}

// each gives read every record of a kind that is this server's.
func (t *archiveTables) each(ctx context.Context, kind string, read func(key archiveKey, value []byte) error) error {
	entries, err := t.buckets[kind].Match(ctx, t.server+".>")
	if err != nil {
		return fmt.Errorf("read %s: %w", kind, err)
	}
	for _, e := range entries {
		parts := strings.Split(e.Key, ".")
		key := archiveKey{kind: kind, session: parts[1]}
		if len(parts) > 2 {
			key.id = parts[2]
		}
		if err := read(key, e.Value); err != nil {
			return fmt.Errorf("read %s of %s: %w", kind, key.session, err)
		}
	}
	return nil
}
