package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Errors of a Bucket.
var (
	ErrNotFound = errors.New("no such key")
	ErrConflict = errors.New("somebody else changed it meanwhile")
)

// maxKey bounds a key, in bytes. NATS ends the whole connection of a client that names a
// much longer one.
const maxKey = 256

// askAgain is after how long without an answer a value is asked for again, maxAsks times in
// all.
const (
	askAgain = 250 * time.Millisecond
	maxAsks  = 16
)

// DefaultBucketSize bounds a bucket, in bytes.
const DefaultBucketSize = 256 << 20

// BucketOptions bounds a bucket. The zero value of each field is its default.
type BucketOptions struct {
	Bytes int64         // size of all values; more are refused; default DefaultBucketSize
	Age   time.Duration // values that have not changed for this long are removed; default: never
}

func (o BucketOptions) bytes() int64 { return cmp.Or(o.Bytes, DefaultBucketSize) }

// Entry is a value in a Bucket.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64 // rises with each change of the bucket
	Changed  time.Time
}

// Bucket is a table that keeps the newest value of each key. Keys consist of
// letters, digits, "-", "_", "=", "." and "/".
type Bucket struct {
	store *Store
	kv    jetstream.KeyValue
}

// Bucket opens the bucket of that name, and creates it if it does not exist.
// Names consist of letters, digits, "-" and "_".
func (s *Store) Bucket(ctx context.Context, name string, o BucketOptions) (*Bucket, error) {
	if full := s.room(); full != nil { // what is there can be read
		kv, err := s.js.KeyValue(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("open bucket %s: %w", name, errors.Join(full, err))
		}
		return &Bucket{s, kv}, nil
	}
	var kv jetstream.KeyValue
	err := s.keptBy(func(copies int) (err error) {
		kv, err = s.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: name, History: 1, Storage: jetstream.FileStorage, MaxBytes: o.bytes(), TTL: o.Age, Compression: true, Replicas: copies,
		})
		return err
	})
	if err != nil {
		return nil, openError("bucket "+name, o.bytes(), err)
	}
	return &Bucket{s, kv}, nil
}

// Get returns the value of a key, or ErrNotFound.
func (b *Bucket) Get(ctx context.Context, key string) (Entry, error) {
	if len(key) > maxKey {
		return Entry{}, ErrNotFound
	}
	e, err := b.ask(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return Entry{}, ErrNotFound
	}
	if err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", key, err)
	}
	return entryOf(e), nil
}

// Newest does the same as Get, and asks the leader of a NATS cluster, who has every change. A
// Get is answered by any server, and one behind a slow link may not have a new key yet.
func (b *Bucket) Newest(ctx context.Context, key string) (Entry, error) {
	if len(key) > maxKey || !plainKey.MatchString(key) {
		return Entry{}, ErrNotFound
	}
	question, err := json.Marshal(map[string]string{"last_by_subj": "$KV." + b.kv.Bucket() + "." + key}) // as ADR-8 of NATS names a key's messages
	if err != nil {
		return Entry{}, err // never happens for a map of strings
	}
	said, err := b.store.conn.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET.KV_"+b.kv.Bucket(), question)
	if err != nil {
		return Entry{}, fmt.Errorf("ask the leader for %s: %w", key, err)
	}
	var answer struct {
		Error   *jetstream.APIError
		Message struct {
			Seq  uint64
			Hdrs []byte
			Data []byte
			Time time.Time
		}
	}
	if err := json.Unmarshal(said.Data, &answer); err != nil {
		return Entry{}, fmt.Errorf("ask the leader for %s: %w", key, err)
	}
	m := answer.Message
	switch deleted := bytes.Contains(m.Hdrs, []byte("KV-Operation:")); {
	case deleted, answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return Entry{}, ErrNotFound
	case answer.Error != nil:
		return Entry{}, fmt.Errorf("ask the leader for %s: %w", key, answer.Error)
	}
	return Entry{Key: key, Value: m.Data, Revision: m.Seq, Changed: m.Time}, nil
}

// plainKey matches keys without the wildcards of NATS.
var plainKey = regexp.MustCompile(`^[-/_=.a-zA-Z0-9]+$`)

// ask reads a key. Any server of a NATS cluster may answer, and for half a minute the others
// also ask one that is gone: who gets no answer soon asks again, and takes the first answer.
func (b *Bucket) ask(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	type answer struct {
		jetstream.KeyValueEntry
		err error
	}
	answers := make(chan answer)
	var asked sync.WaitGroup
	defer asked.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	again := time.NewTicker(askAgain)
	defer again.Stop()
	for n := 0; ; {
		if n < maxAsks {
			n++
			asked.Go(func() {
				e, err := b.kv.Get(ctx, key)
				select {
				case answers <- answer{e, err}:
				case <-ctx.Done():
				}
			})
		}
		select {
		case a := <-answers:
			return a.KeyValueEntry, a.err
		case <-again.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Put sets a key and returns its new revision. The current revision must be the
// given one, from an earlier Get or Put, or 0 for a key that does not exist yet.
// Otherwise the error is ErrConflict. While NATS has no leader, it is ErrLeaderless.
func (b *Bucket) Put(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := errors.Join(b.store.room(), checkKey(key)); err != nil {
		return 0, fmt.Errorf("write %.300s: %w", key, err)
	}
	var next uint64
	var err error
	if revision == 0 {
		next, err = b.kv.Create(ctx, key, value)
	} else {
		next, err = b.kv.Update(ctx, key, value, revision)
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); errors.Is(err, jetstream.ErrKeyExists) || ok && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return 0, ErrConflict
	}
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		err = ErrLeaderless
	}
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", key, err)
	}
	return next, nil
}

// Set sets a key, whatever its revision.
func (b *Bucket) Set(ctx context.Context, key string, value []byte) error {
	if err := errors.Join(b.store.room(), checkKey(key)); err != nil {
		return fmt.Errorf("write %.300s: %w", key, err)
	}
	if _, err := b.kv.Put(ctx, key, value); err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	return nil
}

// checkKey refuses a key that is too long.
func checkKey(key string) error {
	if len(key) > maxKey {
		return fmt.Errorf("the key has %d bytes, at most %d are allowed", len(key), maxKey)
	}
	return nil
}

// Delete removes a key, or returns ErrNotFound.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if _, err := b.Get(ctx, key); err != nil {
		return err
	}
	if err := b.kv.Purge(ctx, key); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// purge removes every key that matches a pattern as in Match, also damaged ones.
func (b *Bucket) purge(ctx context.Context, pattern string) error {
	stream, err := b.store.js.Stream(ctx, "KV_"+b.kv.Bucket())
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject("$KV."+b.kv.Bucket()+"."+pattern))
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", pattern, err)
	}
	return nil
}

// All returns every entry, in no particular order.
func (b *Bucket) All(ctx context.Context) ([]Entry, error) { return b.Match(ctx, ">") }

// Match returns every entry whose key matches, in no particular order. In a
// pattern, "*" stands for any text between two dots, and ">" for any text at the
// end.
func (b *Bucket) Match(ctx context.Context, pattern string) (entries []Entry, err error) {
	w, err := b.kv.Watch(ctx, pattern, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("list bucket: %w", err)
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	for {
		select {
		case e := <-w.Updates():
			if e == nil { // the watch has sent all entries that existed at its start
				return entries, nil
			}
			entries = append(entries, entryOf(e))
		case <-ctx.Done():
			return nil, fmt.Errorf("list bucket: %w", context.Cause(ctx))
		}
	}
}

func entryOf(e jetstream.KeyValueEntry) Entry {
	return Entry{Key: e.Key(), Value: e.Value(), Revision: e.Revision(), Changed: e.Created().UTC()}
}

// Watch calls changed with each entry whose key matches, as in Match, first with those that
// exist and then with each change, in order, until ctx ends. An entry that was removed has
// no Value. current is called once, after those that existed. Entries that the bucket
// removes because of their age are not told.
func (b *Bucket) Watch(ctx context.Context, pattern string, changed func(Entry), current func()) error {
	w, err := b.kv.Watch(ctx, pattern)
	if err != nil {
		return fmt.Errorf("watch bucket: %w", err)
	}
	defer w.Stop() //nolint:errcheck // it fails only if the connection is gone
	for {
		select {
		case e, open := <-w.Updates():
			switch {
			case !open:
				return fmt.Errorf("watch bucket: %w", ErrAway)
			case e == nil:
				current()
			case e.Operation() != jetstream.KeyValuePut:
				changed(Entry{Key: e.Key(), Revision: e.Revision(), Changed: e.Created().UTC()})
			default:
				changed(entryOf(e))
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
