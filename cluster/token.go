package cluster

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"takeover/store"
)

const (
	// tokenLife is how long a token is accepted, before and after the time in it: clocks
	// of nodes may differ by half a minute.
	tokenLife = time.Minute
	// secretKey is the key of the secret in its bucket.
	secretKey = "secret"
)

// ErrToken is returned for a token that is not valid here and now.
var ErrToken = errors.New("the node's token is not valid")

// sharedSecret reads the secret of the cluster, and makes it if this is the first node.
func sharedSecret(ctx context.Context, s *store.Store) ([]byte, error) {
	bucket, err := s.Bucket(ctx, clusterBucket, store.BucketOptions{Bytes: clusterBytes})
	if err != nil {
		return nil, err
	}
	fresh := make([]byte, sha256.Size)
	_, _ = rand.Read(fresh) // never fails
	if _, err := bucket.Put(ctx, secretKey, fresh, 0); err == nil {
		return fresh, nil
	} else if !errors.Is(err, store.ErrConflict) {
		return nil, err
	}
	e, err := bucket.Get(ctx, secretKey)
	if err == nil && len(e.Value) != sha256.Size {
		err = errors.New("the secret of the cluster is damaged")
	}
	return e.Value, err
}

// Secret returns a secret of the cluster for a purpose, the same on each node: 32 bytes.
func (c *Cluster) Secret(purpose string) []byte { return mac(c.secret, purpose) }

// Token returns a token with which this node asks another one to believe the given facts
// about a request that it passes on. It is valid for about a minute, for that node, and for
// these facts.
func (c *Cluster) Token(to Node, facts ...string) string {
	return c.token(to.ID, time.Now(), facts)
}

func (c *Cluster) token(to string, now time.Time, facts []string) string {
	when := strconv.FormatInt(now.Unix(), 10)
	return c.o.Self.ID + "." + when + "." + c.sign(c.o.Self.ID, to, when, facts)
}

func (c *Cluster) sign(from, to, when string, facts []string) string {
	return base64.RawURLEncoding.EncodeToString(mac(c.secret, append([]string{"request", from, to, when}, facts...)...))
}

// Check checks the token of a request that another node has passed on to this one. It
// returns that node's id, or ErrToken.
func (c *Cluster) Check(token string, facts ...string) (from string, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", ErrToken
	}
	seconds, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return "", ErrToken
	}
	if age := time.Since(time.Unix(seconds, 0)); age > tokenLife || age < -tokenLife {
		return "", fmt.Errorf("%w: its time is %v from now; do the clocks of the nodes agree?", ErrToken, -age.Round(time.Second))
	}
	if !hmac.Equal([]byte(parts[2]), []byte(c.sign(parts[0], c.o.Self.ID, parts[1], facts))) {
		return "", ErrToken
	}
	return parts[0], nil
}

// mac authenticates texts, of which none can become part of another.
func mac(key []byte, texts ...string) []byte {
	m := hmac.New(sha256.New, key)
	for _, text := range texts {
		fmt.Fprintf(m, "%d:%s", len(text), text)
	}
	return m.Sum(nil)
}
