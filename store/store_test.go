package store_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"takeover/store"
	"takeover/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func bucket(t *testing.T, s *store.Store) *store.Bucket {
	t.Helper()
	b, err := s.Bucket(t.Context(), "things", store.BucketOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// external starts a separate NATS server on a loopback port.
func external(t *testing.T) string { return externalOf(t, 0) }

// externalOf starts a separate NATS server with so many bytes of storage, or as
// many as NATS chooses.
func externalOf(t *testing.T, bytes int64) string {
	t.Helper()
	return storetest.NATS(t, server.Options{JetStream: true, JetStreamMaxStore: bytes})
}

func TestBucket(t *testing.T) {
	for name, options := range map[string]func(*testing.T) store.Options{
		"embedded": func(t *testing.T) store.Options { return store.Options{Dir: t.TempDir()} },
		"external": func(t *testing.T) store.Options { return store.Options{URL: external(t)} },
	} {
		t.Run(name, func(t *testing.T) { testBucket(t, bucket(t, open(t, options(t)))) })
	}
}

func testBucket(t *testing.T, b *store.Bucket) {
	ctx := t.Context()
	if all, err := b.All(ctx); err != nil || len(all) != 0 {
		t.Fatalf("an empty bucket lists %v, %v", all, err)
	}
	if _, err := b.Get(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("get of nothing: %v", err)
	}
	for _, key := range []string{"a", "not a key", "*", ">", ""} {
		_, err := b.Get(ctx, key)
		_, leaders := b.Newest(ctx, key)
		if !errors.Is(err, store.ErrNotFound) || !errors.Is(leaders, store.ErrNotFound) {
			t.Errorf("get of %q, which is no key: %v, %v", key, err, leaders)
		}
	}
	first, err := b.Put(ctx, "a", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(ctx, "a", []byte("2"), 0); !errors.Is(err, store.ErrConflict) {
		t.Errorf("made twice: %v", err)
	}
	second, err := b.Put(ctx, "a", []byte("2"), first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(ctx, "a", []byte("3"), first); !errors.Is(err, store.ErrConflict) {
		t.Errorf("changed from an old revision: %v", err)
	}
	if e, err := b.Get(ctx, "a"); err != nil || string(e.Value) != "2" || e.Revision != second || e.Key != "a" || time.Since(e.Changed) > time.Minute {
		t.Errorf("got %+v, %v", e, err)
	}
	known, err := b.Get(ctx, "a")
	if e, leaders := b.Newest(ctx, "a"); err != nil || leaders != nil || string(e.Value) != string(known.Value) || e.Key != "a" || e.Revision != known.Revision || !e.Changed.Equal(known.Changed) {
		t.Errorf("the leader has %+v, %v, and Get %+v, %v", e, leaders, known, err)
	}
	long := strings.Repeat("x", 10_000)
	if _, err := b.Get(ctx, long); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("get of a long key: %v", err)
	}
	if _, err := b.Put(ctx, long, nil, 0); err == nil || b.Set(ctx, long, nil) == nil || !errors.Is(b.Delete(ctx, long), store.ErrNotFound) {
		t.Error("a long key was written")
	}
	if _, err := b.Put(ctx, "b", []byte(strings.Repeat("x", 900_000)), 0); err != nil {
		t.Errorf("a large value: %v", err)
	}
	if err := b.Delete(ctx, "a"); err != nil {
		t.Error(err)
	}
	if e, err := b.Newest(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the leader has the deleted %+v, %v", e, err)
	}
	if err := b.Delete(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	all, err := b.All(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if keys := slices.Collect(maps.Keys(byKey(all))); !slices.Equal(keys, []string{"b"}) {
		t.Errorf("keys are %v", keys)
	}
	if _, err := b.Put(ctx, "a", []byte("again"), 0); err != nil {
		t.Errorf("made again after it was deleted: %v", err)
	}
}

func byKey(entries []store.Entry) map[string]store.Entry {
	m := map[string]store.Entry{}
	for _, e := range entries {
		m[e.Key] = e
	}
	return m
}

func TestKeptOverARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	if _, err := bucket(t, s).Put(t.Context(), "kept", []byte("value"), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err := bucket(t, open(t, store.Options{Dir: dir})).Get(t.Context(), "kept"); err != nil || string(e.Value) != "value" {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := store.Open(t.Context(), store.Options{}); err == nil {
		t.Error("opened without a folder")
	}
	if _, err := store.Open(t.Context(), store.Options{URL: "nats://127.0.0.1:1"}); err == nil {
		t.Error("opened without a server")
	}
}

// TestSmallerLimits starts the embedded server again with smaller limits than those
// of its tables, and opens them with these.
func TestSmallerLimits(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	if _, err := s.Events(t.Context(), store.EventsOptions{Bytes: 5 << 30}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Blobs(t.Context(), "large", store.BucketOptions{Bytes: 5 << 30}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, store.Options{Dir: dir})
	if _, err := s.Events(t.Context(), store.EventsOptions{Bytes: 64 << 20}); err != nil {
		t.Error(err)
	}
	if _, err := s.Blobs(t.Context(), "large", store.BucketOptions{Bytes: 64 << 20}); err != nil {
		t.Error(err)
	}
	bucket(t, s)
}

// TestReserved opens tables on an external server with too little storage.
func TestReserved(t *testing.T) {
	s := open(t, store.Options{URL: externalOf(t, 128<<20)})
	if _, err := s.Events(t.Context(), store.EventsOptions{}); !errors.Is(err, store.ErrReserved) || !strings.Contains(err.Error(), "2048 MiB") {
		t.Errorf("events: %v", err)
	}
	if _, err := s.Bucket(t.Context(), "things", store.BucketOptions{}); !errors.Is(err, store.ErrReserved) || !strings.Contains(err.Error(), "256 MiB") {
		t.Errorf("a table: %v", err)
	}
	if _, err := s.Events(t.Context(), store.EventsOptions{Bytes: 64 << 20}); err != nil {
		t.Error(err)
	}
}

func TestBlobs(t *testing.T) {
	for name, options := range map[string]func(*testing.T) store.Options{
		"embedded": func(t *testing.T) store.Options { return store.Options{Dir: t.TempDir()} },
		"external": func(t *testing.T) store.Options { return store.Options{URL: external(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			b, err := open(t, options(t)).Blobs(ctx, "large", store.BucketOptions{Bytes: 64 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Get(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("get of nothing: %v", err)
			}
			for _, size := range []int{0, 1, 10 << 20, 3 << 20} { // a value larger than a message, and then a shorter one
				want := strings.Repeat("x", size)
				if err := b.Set(ctx, "a.b", []byte(want)); err != nil {
					t.Fatal(err)
				}
				if got, err := b.Get(ctx, "a.b"); err != nil || string(got) != want {
					t.Errorf("of %d bytes came %d, %v", size, len(got), err)
				}
			}
			if err := b.Delete(ctx, "a.b"); err != nil {
				t.Error(err)
			}
			if err := b.Delete(ctx, "a.b"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("deleted twice: %v", err)
			}
		})
	}
}

func TestBucketMatch(t *testing.T) {
	ctx := t.Context()
	b := bucket(t, open(t, store.Options{Dir: t.TempDir()}))
	for _, key := range []string{"one.a", "one.a.b", "two.a"} {
		for _, value := range []string{"before", "after"} {
			if err := b.Set(ctx, key, []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for pattern, want := range map[string][]string{"one.>": {"one.a", "one.a.b"}, "*.a": {"one.a", "two.a"}, "three.>": nil} {
		entries, err := b.Match(ctx, pattern)
		if err != nil {
			t.Fatal(err)
		}
		if keys := slices.Sorted(maps.Keys(byKey(entries))); !slices.Equal(keys, want) {
			t.Errorf("%s matches %v, want %v", pattern, keys, want)
		}
		for _, e := range entries {
			if string(e.Value) != "after" {
				t.Errorf("%s is %s", e.Key, e.Value)
			}
		}
	}
}
