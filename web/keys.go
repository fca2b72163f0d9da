package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
)

// The names of generated files in the data directory.
const (
	keyFile     = "api-key"
	linkKeyFile = "link-key"
)

// minKey is the least length (bytes) of a key for a server that others can reach.
// Shorter keys can be guessed.
const minKey = 16

// ErrShortKey says that a server that others can reach has a key that is too short.
var ErrShortKey = fmt.Errorf("an API key must have at least %d characters: make one with openssl rand -hex 32", minKey)

// ErrNoKey is returned for a server without any key.
var ErrNoKey = errors.New("no API key")

// ErrPublicWithoutKey is returned by CheckAddr.
var ErrPublicWithoutKey = errors.New("refusing a public address without a key of your own: set TAKEOVER_API_KEY")

// Keys is the set of API keys. It keeps only their hashes. It is safe for use
// from any goroutine.
type Keys struct {
	entries []keyEntry
	short   bool // one of them is shorter than minKey
}

type keyEntry struct {
	hash [sha256.Size]byte
	mac  [sha256.Size]byte // key that signs cookies, so that they become invalid with their API key
	id   string            // identifies the key in cookies and logs
}

// NewKeys returns a set of the given keys without empty ones, or ErrNoKey if none
// is left.
func NewKeys(keys ...string) (*Keys, error) {
	set := &Keys{}
	for _, key := range keys {
		key = strings.TrimSpace(key)
		if key == "" {
			continue
		}
		set.short = set.short || len(key) < minKey
		e := keyEntry{hash: sha256.Sum256([]byte(key))}
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte("takeover cookie"))
		mac.Sum(e.mac[:0])
		id := sha256.Sum256(e.mac[:])
		e.id = hex.EncodeToString(id[:4])
		set.entries = append(set.entries, e)
	}
	if len(set.entries) == 0 {
		return nil, ErrNoKey
	}
	return set, nil
}

// Short reports whether a key is so short that it can be guessed. Only a server that
// nobody else can reach may have one.
func (k *Keys) Short() bool { return k.short }

// match returns the entry of a key. It compares the key with every entry, so that
// the duration reveals nothing.
func (k *Keys) match(key string) *keyEntry {
	hash := sha256.Sum256([]byte(key))
	var found *keyEntry
	for i := range k.entries {
		if subtle.ConstantTimeCompare(hash[:], k.entries[i].hash[:]) == 1 {
			found = &k.entries[i]
		}
	}
	return found
}

// byID returns the entry that a cookie names. The name is not secret.
func (k *Keys) byID(id string) *keyEntry {
	for i := range k.entries {
		if k.entries[i].id == id {
			return &k.entries[i]
		}
	}
	return nil
}

// LoadKey reads the key in the data directory, or creates one (256 random bits)
// if there is none.
func LoadKey(dir string) (string, error) { return LoadSecret(dir, keyFile, newSecret) }

// LoadLinkKey does the same as LoadKey, for the key that signs the cookies of
// share links.
func LoadLinkKey(dir string) (string, error) { return LoadSecret(dir, linkKeyFile, newSecret) }

// LoadSecret reads the secret in a file of the data directory, or creates one
// (file mode 0600) if there is none.
func LoadSecret(dir, file string, create func() string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("open data directory: %w", err)
	}
	defer root.Close()
	raw, err := root.ReadFile(file)
	if err == nil && len(strings.TrimSpace(string(raw))) > 0 {
		return strings.TrimSpace(string(raw)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	secret := create()
	if err := root.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep %s: %w", file, err)
	}
	return secret, nil
}

// newSecret returns 256 random bits in a form for URLs.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// CheckAddr refuses an address that others can reach unless the operator has set
// a key. A host name other than localhost counts as public.
func CheckAddr(addr string, keySet bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen address: %w", err)
	}
	ip := net.ParseIP(host)
	if keySet || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return ErrPublicWithoutKey
}
