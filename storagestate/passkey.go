package storagestate

import (
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// maxUserHandle bounds the handle of a passkey's user, in bytes (WebAuthn, 5.4.3).
const maxUserHandle = 64

// Encode writes a binary value of a passkey.
func Encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// Decode reads a binary value of a passkey: base64url or base64, with or without
// padding.
func Decode(text string) ([]byte, error) {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	return base64.RawURLEncoding.DecodeString(text)
}

// complete checks a passkey, and adds its public key.
func (p *Passkey) complete() error {
	if p.RPID == "" {
		return errors.New("rpId is required")
	}
	if id, err := Decode(p.ID); err != nil || len(id) == 0 {
		return errors.New("id must be base64url")
	}
	if handle, err := Decode(p.UserHandle); err != nil || len(handle) > maxUserHandle {
		return errors.New("userHandle must be base64url of at most 64 bytes")
	}
	if _, err := Decode(p.LargeBlob); err != nil {
		return errors.New("largeBlob must be base64url")
	}
	if p.SignCount < -1 {
		return errors.New("signCount must be -1 or more")
	}
	der, err := Decode(p.PrivateKey)
	if err != nil {
		return errors.New("privateKey must be base64url")
	}
	public, err := PublicKey(der)
	if err != nil {
		return errors.New("privateKey must be a key in PKCS #8")
	}
	p.PublicKey = public
	return nil
}

// CheckPasskeys checks passkeys, and adds their public keys.
func CheckPasskeys(list []Passkey) error {
	if len(list) > maxPasskeys {
		return fmt.Errorf("more than %d credentials", maxPasskeys)
	}
	for i := range list {
		if err := list[i].complete(); err != nil {
			return fmt.Errorf("credentials[%d]: %w", i, err)
		}
	}
	return nil
}

// PublicKey returns the public part of a private key in PKCS #8, encoded.
func PublicKey(der []byte) (string, error) {
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return "", err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return "", errors.New("the key cannot sign")
	}
	public, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return "", err
	}
	return Encode(public), nil
}
