package profiles

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"takeover/invalid"
	"takeover/store"
)

func newSecret(t *testing.T) string {
	t.Helper()
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(secret)
}

func keysOf(t *testing.T, texts ...string) *Keys {
	t.Helper()
	keys, err := NewKeys(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestProfiles keeps, lists, renames, changes and deletes profiles.
func TestProfiles(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	defer closeStore(t, s)
	p := New(s, keysOf(t, newSecret(t)))
	state := State{JSON: json.RawMessage(`{"cookies":[{}],"origins":[]}`), Summary: Summary{Cookies: 1, Origins: []string{"https://a.example"}, Passkeys: 2}}
	first, err := p.Create(ctx, "  first ", state)
	if err != nil {
		t.Fatal(err)
	}
	if first.Name != "first" || first.Cookies != 1 || first.Passkeys != 2 || first.UserData || first.Bytes != len(state.JSON) {
		t.Errorf("created %+v", first)
	}
	if _, err := p.Create(ctx, "first", state); !errors.Is(err, ErrExists) {
		t.Errorf("the same name twice: %v", err)
	}
	second, err := p.Create(ctx, "second", State{JSON: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Rename(ctx, second.ID, "first"); !errors.Is(err, ErrExists) {
		t.Errorf("renamed to a name that is taken: %v", err)
	}
	if _, err := p.Rename(ctx, "second", "other"); err != nil {
		t.Error(err)
	}
	if _, err := p.Find(ctx, "second"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the former name: %v", err)
	}
	for _, name := range []string{first.ID, "first"} {
		if got, err := p.State(ctx, name); err != nil || !bytes.Equal(got, state.JSON) {
			t.Errorf("state of %s: %s, %v", name, got, err)
		}
	}
	if _, err := p.Folder(ctx, "first"); !errors.Is(err, ErrNoFolder) {
		t.Errorf("folder of a profile without one: %v", err)
	}
	folder := make([]byte, 2<<20) // several messages of the store
	if _, err := rand.Read(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := p.SetFolder(ctx, first.ID, folder); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Folder(ctx, "first"); err != nil || !bytes.Equal(got, folder) {
		t.Errorf("the folder came back with %d bytes: %v", len(got), err)
	}
	changed, err := p.SetState(ctx, first.ID, State{JSON: json.RawMessage(`{"cookies":[]}`)})
	if err != nil || !changed.UserData || changed.Cookies != 0 || changed.UpdatedAt.Before(first.UpdatedAt) {
		t.Errorf("changed %+v: %v", changed, err)
	}
	list, err := p.List(ctx)
	if err != nil || len(list) != 2 || list[0].ID != first.ID {
		t.Errorf("list %+v: %v", list, err)
	}
	if err := p.Delete(ctx, "first"); err != nil {
		t.Error(err)
	}
	if err := p.Delete(ctx, first.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	data, err := s.Bucket(ctx, "profiledata", store.BucketOptions{Bytes: dataBytes})
	if err != nil {
		t.Fatal(err)
	}
	left, err := data.All(ctx)
	if err != nil || slices.ContainsFunc(left, func(e store.Entry) bool { return strings.HasPrefix(e.Key, first.ID) }) {
		t.Errorf("contents of the deleted profile are left: %v", err)
	}
}

// TestRefusedProfiles tries names, sizes and numbers that are refused.
func TestRefusedProfiles(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	defer closeStore(t, s)
	p := New(s, keysOf(t, newSecret(t)))
	for _, name := range []string{"", " ", strings.Repeat("n", maxName+1), "a\nb", "profile_x", "\xff"} {
		if _, err := p.Create(ctx, name, State{}); !isInvalid(err) {
			t.Errorf("name %.20q: %v", name, err)
		}
	}
	one, err := p.Create(ctx, "one", State{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.SetState(ctx, one.ID, State{JSON: make([]byte, MaxStateBytes+1)}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("large state: %v", err)
	}
	if _, err := p.SetFolder(ctx, one.ID, make([]byte, MaxFolderBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("large folder: %v", err)
	}
	for _, call := range []func(*Profiles) error{
		func(p *Profiles) error { _, err := p.List(ctx); return err },
		func(p *Profiles) error { _, err := p.Create(ctx, "two", State{}); return err },
		func(p *Profiles) error { _, err := p.State(ctx, one.ID); return err },
		func(p *Profiles) error { return p.Delete(ctx, one.ID) },
	} {
		if err := call(New(s, nil)); !errors.Is(err, ErrNoKey) || !strings.Contains(err.Error(), "openssl rand") {
			t.Errorf("without a key: %v", err)
		}
		if err := call(New(nil, p.keys)); !errors.Is(err, ErrNoStore) {
			t.Errorf("without a store: %v", err)
		}
	}
	for i := range maxProfiles - 1 {
		if err := p.put(ctx, mustOpen(t, p), record{Profile: Profile{ID: "profile_" + hex.EncodeToString(binary.BigEndian.AppendUint32(nil, uint32(i)))}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Create(ctx, "one more", State{}); !errors.Is(err, ErrTooMany) {
		t.Errorf("too many: %v", err)
	}
}

func isInvalid(err error) bool {
	_, ok := errors.AsType[*invalid.Error](err)
	return ok
}

func mustOpen(t *testing.T, p *Profiles) tables {
	t.Helper()
	opened, err := p.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// TestSecretKeys reads secret keys in several encodings, and refuses weak ones
// without repeating them.
func TestSecretKeys(t *testing.T) {
	secret := bytes.Repeat([]byte{0xfb, 0xef, 1}, 11)
	var ids []string
	for _, text := range []string{
		hex.EncodeToString(secret), base64.StdEncoding.EncodeToString(secret), base64.RawURLEncoding.EncodeToString(secret), " " + hex.EncodeToString(secret) + "\n",
	} {
		ids = append(ids, string(keysOf(t, text).keys[0].id[:]))
	}
	if len(slices.Compact(ids)) != 1 {
		t.Errorf("one secret has several ids: %q", ids)
	}
	for _, text := range []string{"correct horse battery staple", base64.StdEncoding.EncodeToString(secret[:31]), "ä"} {
		if _, err := NewKeys(text); err == nil || strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "openssl rand") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if keys, err := NewKeys("", " "); keys != nil || err != nil {
		t.Errorf("without a text: %v, %v", keys, err)
	}
}

// TestKeyRotation replaces the key: the old one still reads, the new one writes,
// and after Reencrypt the old one is not needed.
func TestKeyRotation(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	defer closeStore(t, s)
	oldKey, newKey := newSecret(t), newSecret(t)
	state := State{JSON: json.RawMessage(`{"cookies":[]}`)}
	one, err := New(s, keysOf(t, oldKey)).Create(ctx, "one", state)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(s, keysOf(t, oldKey)).SetFolder(ctx, one.ID, []byte("packed")); err != nil {
		t.Fatal(err)
	}
	wrong := New(s, keysOf(t, newKey))
	if _, err := wrong.State(ctx, one.ID); !errors.Is(err, ErrWrongKey) || !strings.Contains(err.Error(), "TAKEOVER_SECRET_KEY") {
		t.Errorf("wrong key: %v", err)
	}
	if _, err := wrong.Find(ctx, "one"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "another key") {
		t.Errorf("by name with the wrong key: %v", err)
	}
	if list, err := wrong.List(ctx); err != nil || len(list) != 1 || !list[0].Locked || list[0].ID != one.ID || list[0].Name != "" {
		t.Errorf("list with the wrong key: %+v, %v", list, err)
	}
	if n, err := wrong.Reencrypt(ctx); n != 0 || err != nil {
		t.Errorf("reencrypted %d without the old key: %v", n, err)
	}
	if n, err := New(s, keysOf(t, newKey, oldKey)).Reencrypt(ctx); n != 1 || err != nil {
		t.Errorf("reencrypted %d: %v", n, err)
	}
	after := New(s, keysOf(t, newKey))
	if got, err := after.State(ctx, "one"); err != nil || !bytes.Equal(got, state.JSON) {
		t.Errorf("state after the rotation: %s, %v", got, err)
	}
	if got, err := after.Folder(ctx, "one"); err != nil || string(got) != "packed" {
		t.Errorf("folder after the rotation: %s, %v", got, err)
	}
	if err := New(s, keysOf(t, oldKey)).Delete(ctx, one.ID); err != nil {
		t.Errorf("delete without its key: %v", err)
	}
}

// TestDamagedProfiles changes stored bytes, and puts values in other places.
func TestDamagedProfiles(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	defer closeStore(t, s)
	p := New(s, keysOf(t, newSecret(t)))
	var ids []string
	for _, name := range []string{"a", "b"} {
		one, err := p.Create(ctx, name, State{JSON: json.RawMessage(`"` + name + `"`)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, one.ID)
	}
	opened := mustOpen(t, p)
	name := rowOf(t, p, ids[0]).StateBlob
	sealed, err := opened.data.Get(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.data.Set(ctx, rowOf(t, p, ids[1]).StateBlob, sealed); err != nil {
		t.Fatal(err)
	}
	got, err := p.State(ctx, "b")
	saysDamage(t, err, "the storage state of "+ids[1])
	if got != nil {
		t.Errorf("the state of another profile: %s", got)
	}
	for at := range sealed {
		broken := bytes.Clone(sealed)
		broken[at] ^= 1
		if plain, err := p.keys.Open(blobPlace(name), broken); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrWrongKey) {
			t.Errorf("byte %d changed: %q, %v", at, plain, err)
		}
		if plain, err := p.keys.Open(blobPlace(name), sealed[:at]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at %d: %q, %v", at, plain, err)
		}
	}
}

// rowOf returns the row of a profile.
func rowOf(t *testing.T, p *Profiles, id string) record {
	t.Helper()
	r, _, err := p.find(t.Context(), mustOpen(t, p), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// saysDamage checks that an error is ErrDamaged and names what is damaged.
func saysDamage(t *testing.T, err error, what string) {
	t.Helper()
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "another key") || errors.Is(err, ErrNotFound) || errors.Is(err, ErrNoFolder) {
		t.Errorf("%q is damaged, the error says: %v", what, err)
	}
}

// putAgain writes entries to a table as they were.
func putAgain(t *testing.T, b *store.Bucket, entries []store.Entry) {
	t.Helper()
	for _, e := range entries {
		if err := b.Set(t.Context(), e.Key, e.Value); err != nil {
			t.Fatal(err)
		}
	}
}

func entriesOf(t *testing.T, b *store.Bucket) []store.Entry {
	t.Helper()
	entries, err := b.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestOlderStateIsNotOpened plays somebody who can write to the store: they put
// earlier contents back, under the name that they had and under the present one,
// and an earlier row without its contents. No earlier content opens.
func TestOlderStateIsNotOpened(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	defer closeStore(t, s)
	p := New(s, keysOf(t, newSecret(t)))
	one, err := p.Create(ctx, "one", State{JSON: json.RawMessage(`"before"`)})
	if err != nil {
		t.Fatal(err)
	}
	opened := mustOpen(t, p)
	data, err := s.Bucket(ctx, dataTable, store.BucketOptions{Bytes: dataBytes})
	if err != nil {
		t.Fatal(err)
	}
	formerRows, formerData, formerBlob := entriesOf(t, opened.rows), entriesOf(t, data), rowOf(t, p, one.ID).StateBlob
	former, err := opened.data.Get(ctx, formerBlob)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := p.SetState(ctx, one.ID, State{JSON: json.RawMessage(`"after"`)})
	if err != nil || changed.Version != one.Version+1 {
		t.Fatalf("version %d after %d: %v", changed.Version, one.Version, err)
	}
	if left := entriesOf(t, data); len(left) != len(formerData) {
		t.Errorf("%d entries of contents, before the change %d", len(left), len(formerData))
	}
	presentRows := entriesOf(t, opened.rows)

	putAgain(t, data, formerData)
	if got, err := p.State(ctx, one.ID); err != nil || string(got) != `"after"` {
		t.Errorf("with the earlier contents back: %s, %v", got, err)
	}
	present := rowOf(t, p, one.ID).StateBlob
	if err := opened.data.Delete(ctx, formerBlob); err != nil {
		t.Fatal(err)
	}
	putAgain(t, opened.rows, formerRows)
	_, err = p.State(ctx, one.ID)
	saysDamage(t, err, "the storage state of "+one.ID+" is missing")
	putAgain(t, opened.rows, presentRows)
	if err := opened.data.Set(ctx, present, former); err != nil {
		t.Fatal(err)
	}
	_, err = p.State(ctx, one.ID)
	saysDamage(t, err, "the storage state of "+one.ID)
}

// TestDamageIsNamed damages everything that is stored of a profile: each error
// says what is damaged, of which profile, and each can be deleted.
func TestDamageIsNamed(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	defer closeStore(t, s)
	p := New(s, keysOf(t, newSecret(t)))
	opened := mustOpen(t, p)
	made := map[string]string{}
	for _, name := range []string{"a", "b", "head", "parts", "folder"} {
		one, err := p.Create(ctx, name, State{JSON: json.RawMessage(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.SetFolder(ctx, one.ID, []byte("packed")); err != nil {
			t.Fatal(err)
		}
		made[name] = one.ID
	}
	data, err := s.Bucket(ctx, dataTable, store.BucketOptions{Bytes: dataBytes})
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range []string{"no json", `{"version":"x","parts":3}`, `{"version":"x","parts":-1}`, `{"version":"x","parts":2000000000}`} {
		if err := data.Set(ctx, rowOf(t, p, made["head"]).StateBlob+".head", []byte(head)); err != nil {
			t.Fatal(err)
		}
		_, err := p.State(ctx, "head")
		saysDamage(t, err, "the storage state of "+made["head"])
	}
	for _, e := range entriesOf(t, data) {
		if strings.HasPrefix(e.Key, rowOf(t, p, made["parts"]).StateBlob) && !strings.HasSuffix(e.Key, ".head") {
			if err := data.Delete(ctx, e.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err = p.State(ctx, "parts")
	saysDamage(t, err, "the storage state of "+made["parts"])
	if err := opened.data.Delete(ctx, rowOf(t, p, made["folder"]).FolderBlob); err != nil {
		t.Fatal(err)
	}
	_, err = p.Folder(ctx, "folder")
	saysDamage(t, err, "the user data directory of "+made["folder"])

	a, errA := opened.rows.Get(ctx, made["a"])
	b, errB := opened.rows.Get(ctx, made["b"])
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	putAgain(t, opened.rows, []store.Entry{{Key: a.Key, Value: b.Value}, {Key: b.Key, Value: a.Value}, {Key: "parts", Value: []byte("junk")}})
	_, err = p.Find(ctx, made["a"])
	saysDamage(t, err, "the entry of "+made["a"])
	_, err = p.Find(ctx, "a")
	saysDamage(t, err, made["a"])
	if _, err := p.Create(ctx, "a", State{}); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), made["a"]) {
		t.Errorf("a name that a damaged profile may have: %v", err)
	}
	if one, err := p.Find(ctx, "parts"); err != nil || one.ID != made["parts"] {
		t.Errorf("a row with the key of another profile's name: %+v, %v", one, err)
	}
	list, err := p.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		if broken := one.ID == made["a"] || one.ID == made["b"]; one.Damaged != broken || one.Locked {
			t.Errorf("listed as %+v", one)
		}
		if err := p.Delete(ctx, one.ID); err != nil {
			t.Errorf("delete %s: %v", one.ID, err)
		}
	}
	if left := append(entriesOf(t, data), entriesOf(t, opened.rows)...); len(left) != 1 || left[0].Key != "parts" {
		t.Errorf("left: %v", left)
	}
}

// TestNamesAreUniqueWithoutTheKey makes a profile while the key of an earlier one
// is missing, and finds two of one name that earlier servers made.
func TestNamesAreUniqueWithoutTheKey(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	defer closeStore(t, s)
	oldKey, newKey := newSecret(t), newSecret(t)
	one, err := New(s, keysOf(t, oldKey)).Create(ctx, "one", State{})
	if err != nil {
		t.Fatal(err)
	}
	missing := New(s, keysOf(t, newKey))
	if _, err := missing.Create(ctx, "one", State{}); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), one.ID) {
		t.Errorf("a second profile of the name: %v", err)
	}
	second := record{Profile: Profile{ID: "profile_second", Name: "one"}}
	if err := missing.put(ctx, mustOpen(t, missing), second, 0); err != nil {
		t.Fatal(err)
	}
	both := New(s, keysOf(t, newKey, oldKey))
	if _, err := both.Find(ctx, "one"); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), one.ID) || !strings.Contains(err.Error(), second.ID) {
		t.Errorf("two of a name: %v", err)
	}
	if _, err := both.Rename(ctx, second.ID, "two"); err != nil {
		t.Error(err)
	}
	if found, err := both.Find(ctx, "one"); err != nil || found.ID != one.ID {
		t.Errorf("after the other one has another name: %+v, %v", found, err)
	}
}

// TestProfilesOfOlderServers opens, changes and deletes a profile whose row does
// not name its contents.
func TestProfilesOfOlderServers(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	defer closeStore(t, s)
	p := New(s, keysOf(t, newSecret(t)))
	opened := mustOpen(t, p)
	for _, id := range []string{"profile_old", "profile_older"} {
		for _, blob := range []string{id + "-state", id + "-folder"} {
			sealed, err := p.keys.Seal(blobPlace(blob), []byte(blob))
			if err == nil {
				err = opened.data.Set(ctx, blob, sealed)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := p.put(ctx, opened, record{Profile: Profile{ID: id, Name: id[8:]}, StateBytes: 1, FolderBytes: 1}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := p.State(ctx, "old"); err != nil || string(got) != "profile_old-state" {
		t.Errorf("state: %s, %v", got, err)
	}
	if _, err := p.SetState(ctx, "profile_old", State{JSON: json.RawMessage(`"new"`)}); err != nil {
		t.Fatal(err)
	}
	if got, err := p.State(ctx, "old"); err != nil || string(got) != `"new"` {
		t.Errorf("state after a change: %s, %v", got, err)
	}
	if _, err := opened.data.Get(ctx, "profile_old-state"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the former state is left: %v", err)
	}
	if got, err := p.Folder(ctx, "old"); err != nil || string(got) != "profile_old-folder" {
		t.Errorf("folder: %s, %v", got, err)
	}
	data, err := s.Bucket(ctx, dataTable, store.BucketOptions{Bytes: dataBytes})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "older"} {
		if err := p.Delete(ctx, name); err != nil {
			t.Error(err)
		}
	}
	if left := entriesOf(t, data); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
