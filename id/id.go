// Package id makes ids that nobody can guess.
package id

import (
	"crypto/rand"
	"encoding/hex"
)

// New returns a random id of a kind: the kind, an underscore and 96 random bits
// in hex, such as "run_0f3c…".
func New(kind string) string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // crypto/rand never fails
	return kind + "_" + hex.EncodeToString(b)
}
