//go:build linux

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	"takeover/cluster"
	"takeover/session"
	"takeover/store"
)

// join makes the server a node of a cluster, if it has a --node-url. manager says how much
// the server does.
func (s *serveCommand) join(ctx context.Context, kept *store.Store, manager *atomic.Pointer[session.Manager], log *slog.Logger) (*cluster.Cluster, error) {
	if s.NodeURL == "" {
		return nil, nil //nolint:nilnil // no cluster
	}
	if s.NATSURL == "" {
		return nil, usage("--node-url needs --nats-url, the same as that of the other servers")
	}
	id, err := store.ServerID(s.DataDir)
	if err != nil {
		return nil, err
	}
	name := s.NodeName
	if name == "" {
		if name, err = os.Hostname(); err != nil {
			return nil, usage("--node-name is needed: %w", err)
		}
	}
	joined, err := cluster.Join(ctx, cluster.Options{
		Store: kept, Self: cluster.Node{ID: id, Name: name, URL: strings.TrimSuffix(s.NodeURL, "/"), Version: version()}, Logger: log,
		Load: func() (load cluster.Load) {
			if m := manager.Load(); m != nil {
				load.Sessions, load.MaxSessions, load.Waiting = m.Load()
				load.Changes = m.Changes()
			}
			return load
		},
		Keys: func() map[string]int {
			if m := manager.Load(); m != nil {
				return m.KeySessions()
			}
			return nil
		},
		Changed: func() {
			if m := manager.Load(); m != nil {
				m.ChangedElsewhere()
			}
		},
	})
	if errors.Is(err, cluster.ErrNode) {
		return nil, usage("--node-url, --node-name: %w", err)
	}
	return joined, err
}
