package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"takeover/store"
)

// Kind is a kind of record. Its value names the bucket of the records.
type Kind string

// The kinds of records.
const (
	Sessions  Kind = "sessions"
	Runs      Kind = "runs"
	Takeovers Kind = "takeovers"
	Links     Kind = "links"
)

// pictureSuffix ends the key of a picture, which is stored beside the long part
// of the same record.
const pictureSuffix = ".picture"

// detailsBucket holds the long parts of runs, the logs of sessions, and the
// pictures of both. It is named after the first of these.
const detailsBucket = "run-details"

var kinds = []Kind{Sessions, Runs, Takeovers, Links}

// MaxRecord is the largest size of one record in bytes. An external NATS accepts
// messages up to 1 MiB by default.
const MaxRecord = 900_000

// StoreBytes returns how many bytes of storage an archive of the given size
// needs.
func StoreBytes(keep int64) int64 { return int64(len(kinds)+1) * 2 * keep }

// Tables returns the names of an archive's tables in the store.
func Tables() []string {
	names := []string{detailsBucket}
	for _, kind := range kinds {
		names = append(names, string(kind))
	}
	return names
}

// tables hold the records. Each key begins with the server's name, because several
// servers may share one NATS.
type tables struct {
	store   *store.Store
	self    string
	buckets map[Kind]*store.Bucket
	details *store.Blobs
}

// openTables opens the tables. Each may hold twice the bytes of the whole
// archive, because a new value exists beside the old one while it replaces it.
// The archive, not the table, decides which session makes room for another.
func openTables(ctx context.Context, s *store.Store, server string, bytes int64, age time.Duration) (*tables, error) {
	t := &tables{store: s, self: server, buckets: map[Kind]*store.Bucket{}}
	o := store.BucketOptions{Bytes: 2 * bytes, Age: age}
	var err error
	for _, kind := range kinds {
		if t.buckets[kind], err = s.Bucket(ctx, string(kind), o); err != nil {
			return nil, err
		}
	}
	if t.details, err = s.Blobs(ctx, detailsBucket, o); err != nil {
		return nil, err
	}
	return t, nil
}

// name returns the key of a record in its table.
func (t *tables) name(key Key) string {
	name := t.self + "." + key.Session
	if key.ID != "" {
		name += "." + key.ID
	}
	return name
}

// set writes a record as JSON and returns its length.
func (t *tables) set(ctx context.Context, key Key, record any) (int, error) {
	value, err := json.Marshal(record)
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", key.Kind, err)
	}
	return len(value), t.buckets[key.Kind].Set(ctx, t.name(key), value)
}

// delete removes a record with its long part and its picture.
func (t *tables) delete(ctx context.Context, key Key) error {
	err := ignoreMissing(t.buckets[key.Kind].Delete(ctx, t.name(key)))
	if key.Kind == Runs || key.Kind == Sessions {
		err = errors.Join(err, ignoreMissing(t.details.Delete(ctx, t.name(key))), ignoreMissing(t.details.Delete(ctx, t.name(key)+pictureSuffix)))
	}
	return err
}

// place returns the server that wrote the record of an id below a session, and the session, or
// empty.
func (t *tables) place(ctx context.Context, kind Kind, id string) (server, session string, err error) {
	if !plainID.MatchString(id) {
		return "", "", nil
	}
	found, err := t.buckets[kind].Match(ctx, "*.*."+id)
	if err != nil || len(found) == 0 {
		return "", "", err
	}
	server, rest, _ := strings.Cut(found[0].Key, ".")
	session, _, _ = strings.Cut(rest, ".")
	return server, session, nil
}

// plainID matches the ids of records, which have no dots and no wildcards.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// each calls read with every record of a kind that the server wrote, or only with those below
// a session that is not "".
func (t *tables) each(ctx context.Context, kind Kind, session string, read func(key Key, value []byte) error) error {
	pattern := t.self + ".>"
	if session != "" {
		pattern = t.self + "." + session + ".*"
	}
	entries, err := t.buckets[kind].Match(ctx, pattern)
	if err != nil {
		return fmt.Errorf("read %s: %w", kind, err)
	}
	for _, e := range entries {
		parts := strings.Split(e.Key, ".")
		key := Key{Kind: kind, Session: parts[1]}
		if len(parts) > 2 {
			key.ID = parts[2]
		}
		if err := read(key, e.Value); err != nil {
			return fmt.Errorf("read %s of %s: %w", kind, key.Session, err)
		}
	}
	return nil
}
