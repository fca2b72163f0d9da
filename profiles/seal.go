package profiles

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	// MinSecret is the least length of a secret key, in bytes.
	MinSecret = 32
	// maxSecrets bounds the secret keys of a server.
	maxSecrets = 16

	sealVersion = "TKP1" // begins everything that is sealed
	keyIDSize   = 8
)

// howToMakeKey says how to make a secret key.
const howToMakeKey = "make one with `openssl rand -base64 32`, set it as TAKEOVER_SECRET_KEY or write it to the file that --secret-key-file names, and keep a copy: without it, the profiles are lost"

var (
	// ErrNoKey is returned by everything that needs a secret key on a server
	// without one.
	ErrNoKey = errors.New("profiles need a secret key, with which they are encrypted: " + howToMakeKey)
	// ErrWrongKey is returned for a profile that no key of the server opens.
	ErrWrongKey = errors.New("no secret key of this server opens the profile")
	// ErrDamaged is returned for a profile whose stored bytes were changed.
	ErrDamaged = errors.New("the stored profile is damaged")
)

// Keys encrypt profiles. The first key encrypts, and every key decrypts, so that a
// key can be replaced. A nil *Keys has no key.
type Keys struct{ keys []key }

type key struct {
	id   [keyIDSize]byte
	aead cipher.AEAD
}

// NewSecret returns a new secret key, as NewKeys reads it.
func NewSecret() string {
	var b [MinSecret]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.StdEncoding.EncodeToString(b[:])
}

// NewKeys reads secret keys. Each is at least 32 random bytes in base64 or as
// hexadecimal digits. Without a text it returns nil.
func NewKeys(texts ...string) (*Keys, error) {
	k := &Keys{}
	for _, text := range texts {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		secret, err := readSecret(text)
		if err != nil {
			return nil, err
		}
		one, err := newKey(secret)
		if err != nil {
			return nil, err
		}
		k.keys = append(k.keys, one)
	}
	switch {
	case len(k.keys) > maxSecrets:
		return nil, fmt.Errorf("at most %d secret keys", maxSecrets)
	case len(k.keys) == 0:
		return nil, nil //nolint:nilnil // documented
	}
	return k, nil
}

// readSecret decodes a secret key. Its error does not contain the text.
func readSecret(text string) ([]byte, error) {
	secret, err := hex.DecodeString(text)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if err == nil {
			break
		}
		secret, err = encoding.DecodeString(text)
	}
	if err != nil || len(secret) < MinSecret {
		return nil, fmt.Errorf("a secret key must be at least %d random bytes in base64 or hexadecimal: %s", MinSecret, howToMakeKey)
	}
	return secret, nil
}

// newKey derives an AES-256 key and its public id from a secret.
func newKey(secret []byte) (k key, err error) {
	derived, err := hkdf.Key(sha256.New, secret, nil, "takeover profiles: AES-256-GCM", 32)
	if err != nil {
		return k, err
	}
	id, err := hkdf.Key(sha256.New, secret, nil, "takeover profiles: key id", keyIDSize)
	if err != nil {
		return k, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return k, err
	}
	k.id = [keyIDSize]byte(id)
	k.aead, err = cipher.NewGCM(block)
	return k, err
}

// Seal encrypts a value with the first key. what names the place where the value
// is stored: a value that was moved elsewhere does not open.
//
// The result is the version, the key's id, a random nonce, and the output of
// AES-256-GCM, which also authenticates everything before it.
func (k *Keys) Seal(what string, plain []byte) ([]byte, error) {
	if k == nil {
		return nil, ErrNoKey
	}
	first := k.keys[0]
	sealed := make([]byte, 0, len(sealVersion)+keyIDSize+first.aead.NonceSize()+len(plain)+first.aead.Overhead())
	sealed = append(append(sealed, sealVersion...), first.id[:]...)
	head := len(sealed)
	nonce := make([]byte, first.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	sealed = append(sealed, nonce...)
	return first.aead.Seal(sealed, nonce, plain, append([]byte(what), sealed[:head]...)), nil
}

// Open decrypts a sealed value. The error is ErrNoKey, ErrWrongKey or ErrDamaged.
func (k *Keys) Open(what string, sealed []byte) ([]byte, error) {
	if k == nil {
		return nil, ErrNoKey
	}
	head := len(sealVersion) + keyIDSize
	if len(sealed) < head || string(sealed[:len(sealVersion)]) != sealVersion {
		return nil, ErrDamaged
	}
	id := sealed[len(sealVersion):head]
	for _, one := range k.keys {
		if !bytes.Equal(one.id[:], id) {
			continue
		}
		size := one.aead.NonceSize()
		if len(sealed) < head+size {
			return nil, ErrDamaged
		}
		plain, err := one.aead.Open(nil, sealed[head:head+size], sealed[head+size:], append([]byte(what), sealed[:head]...))
		if err != nil {
			return nil, ErrDamaged
		}
		return plain, nil
	}
	return nil, fmt.Errorf("%w: it was encrypted with the key %x. Add that key to TAKEOVER_SECRET_KEY, after the present one and a comma", ErrWrongKey, id)
}

// current reports whether a value is sealed with the first key.
func (k *Keys) current(sealed []byte) bool {
	head := len(sealVersion)
	return k != nil && len(sealed) >= head+keyIDSize && bytes.Equal(sealed[head:head+keyIDSize], k.keys[0].id[:])
}
