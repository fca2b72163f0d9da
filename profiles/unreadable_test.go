package profiles

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"takeover/store"
)

// TestNothingReadable searches the data directory for everything that a profile
// contains, in every encoding in which it could stand there. A value that is
// stored without encryption shows that the search finds it.
func TestNothingReadable(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := openStore(t, dir)
	secret := newSecret(t)
	p := New(s, keysOf(t, secret))
	name, cookie, origin, packed, plain := "n4me-quince", "c00kie-medlar", "origin-loquat.example", "f0lder-damson", "pl4in-sorb"
	state, err := json.Marshal(map[string]string{"cookie": cookie, "origin": "https://" + origin})
	if err != nil {
		t.Fatal(err)
	}
	one, err := p.Create(ctx, name, State{JSON: state, Summary: Summary{Origins: []string{"https://" + origin}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.SetFolder(ctx, one.ID, bytes.Repeat([]byte(packed), 10)); err != nil {
		t.Fatal(err)
	}
	control, err := s.Bucket(ctx, "control", store.BucketOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := control.Set(ctx, "plain", []byte(plain)); err != nil {
		t.Fatal(err)
	}
	stored := storedValues(ctx, t, s)
	closeStore(t, s)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		stored = append(append(stored, raw...), path...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !readable(stored, plain) {
		t.Error("the search does not find what is stored as it is")
	}
	raw, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{name, cookie, origin, packed, secret, string(raw)} {
		if readable(stored, word) {
			t.Errorf("%q can be read in the data directory", word)
		}
	}
	for _, as := range []string{hex.EncodeToString([]byte(plain)), base64.StdEncoding.EncodeToString([]byte("x" + plain)), utf16Of(plain, binary.LittleEndian), url.QueryEscape(plain)} {
		if !readable([]byte("…"+as+"…"), plain) {
			t.Errorf("the search does not find %q", as)
		}
	}
}

// storedValues returns every value in the buckets of profiles, as they are stored.
func storedValues(ctx context.Context, t *testing.T, s *store.Store) (all []byte) {
	t.Helper()
	for _, name := range []string{"profiles", "profiledata"} {
		b, err := s.Bucket(ctx, name, store.BucketOptions{})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := b.All(ctx)
		if err != nil || len(entries) == 0 {
			t.Fatalf("bucket %s: %d entries, %v", name, len(entries), err)
		}
		for _, e := range entries {
			all = append(append(all, e.Key...), e.Value...)
		}
	}
	return all
}

// readable reports whether a text stands in data, in any usual encoding.
func readable(data []byte, text string) bool {
	forms := []string{text, url.QueryEscape(text), hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))), utf16Of(text, binary.LittleEndian), utf16Of(text, binary.BigEndian)}
	for offset := range 3 { // where the text begins in a group of three bytes
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			padded := encoding.EncodeToString(append(make([]byte, offset), text...))
			forms = append(forms, padded[(offset*8+5)/6:len(padded)-1]) // without the letters that depend on its neighbours
		}
	}
	return slices.ContainsFunc(forms, func(form string) bool { return bytes.Contains(data, []byte(form)) })
}

func utf16Of(text string, order binary.ByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, 0, 0)
		order.PutUint16(out[len(out)-2:], unit)
	}
	return string(out)
}
