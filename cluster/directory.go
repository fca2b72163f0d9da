package cluster

import (
	"context"
	"errors"
	"time"

	"takeover/store"
)

const (
	// leaderWait bounds how long Claim tries again while NATS has no leader.
	leaderWait = 2 * time.Second
	// claimAgain is how long Claim waits for an answer before it asks again: a leader that
	// is just going away never answers.
	claimAgain = time.Second
)

// Claim records that this node has a session. taken is true if another session has the id,
// on another node. The error says why the directory cannot be written. While NATS chooses a
// leader, Claim waits for up to leaderWait.
func (c *Cluster) Claim(ctx context.Context, session string) (taken bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = c.enter(ctx, session)
	if errors.Is(err, store.ErrConflict) { // perhaps with an entry of this node that outlived its session
		e, err := c.directory.Get(ctx, session)
		return err == nil && string(e.Value) != c.o.Self.ID, err
	}
	return false, err
}

// enter puts a session into the directory, and tries again while NATS chooses a leader. The
// error is store.ErrConflict if there is an entry, which may be that of an earlier try.
func (c *Cluster) enter(ctx context.Context, session string) error {
	var since time.Time // there is no leader
	for {
		if away, _ := c.o.Store.Away(); away {
			return store.ErrAway
		}
		try, done := context.WithTimeout(ctx, claimAgain)
		_, err := c.directory.Put(try, session, []byte(c.o.Self.ID), 0)
		done()
		switch {
		case errors.Is(err, store.ErrLeaderless): // which takes Put half a second to learn
			if since.IsZero() {
				since = time.Now()
			}
			if time.Since(since) >= leaderWait {
				return err
			}
		case !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
			return err
		}
	}
}

// Forget removes a session of this node from the directory. If that fails, the entry stays
// until it is too old, and leads to a node that no longer knows the session.
func (c *Cluster) Forget(session string) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	e, err := c.directory.Get(ctx, session)
	if err == nil && string(e.Value) == c.o.Self.ID {
		err = c.directory.Delete(ctx, session)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		c.o.Logger.Warn("remove a session from the directory", "session", session, "error", err)
	}
}

// Owner returns the node that has a session. The error is ErrUnknown, a *LostError, or why
// the directory cannot be read.
func (c *Cluster) Owner(ctx context.Context, session string) (Node, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	e, err := c.directory.Get(ctx, session)
	if errors.Is(err, store.ErrNotFound) {
		e, err = c.directory.Newest(ctx, session)
	}
	if errors.Is(err, store.ErrNotFound) {
		return Node{}, ErrUnknown
	}
	if err != nil {
		return Node{}, err
	}
	return c.Node(string(e.Value))
}
