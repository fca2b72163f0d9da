package cluster

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"takeover/store"
)

const (
	sharedBucket = "shared"
	sharedBytes  = 64 << 20
	// sharedAge is how long nodes remember what one of them has shared.
	sharedAge = 8 * 24 * time.Hour
)

// Share tells all nodes, those that start later too, of a value under a topic and a key.
// Topics and keys consist of letters, digits, "-" and "_".
func (c *Cluster) Share(ctx context.Context, topic, key string, value []byte) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if away, _ := c.o.Store.Away(); away {
		return store.ErrAway
	}
	return c.shared.Set(ctx, topic+"."+key, value)
}

// Hear calls heard with each value that a node has shared under a topic, until Close, and
// returns when it has had those that existed.
func (c *Cluster) Hear(ctx context.Context, topic string, heard func(key string, value []byte)) error {
	ctx, cancel := context.WithTimeout(ctx, store.OpenTimeout)
	defer cancel()
	current := make(chan struct{})
	c.work.Go(func() {
		c.follow(c.life, c.shared, topic+".>", func(e store.Entry) {
			if len(e.Value) > 0 {
				heard(strings.TrimPrefix(e.Key, topic+"."), e.Value)
			}
		}, sync.OnceFunc(func() { close(current) }))
	})
	select {
	case <-current:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("hear what nodes share: %w", context.Cause(ctx))
	}
}
