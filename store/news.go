package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// newsPrefix begins the subjects of news. No stream keeps them.
const newsPrefix = "takeover.news."

// Announce tells data to those who listen for a topic now. Nobody keeps it, so that it needs
// no leader of a NATS cluster, as a Bucket does. While NATS is away, it is told later or not
// at all.
func (s *Store) Announce(topic string, data []byte) error {
	if err := s.conn.Publish(newsPrefix+topic, data); err != nil {
		return fmt.Errorf("announce %s: %w", topic, err)
	}
	return nil
}

// Listen calls heard with what is announced on a topic, in order, until ctx ends or the store
// is closed.
func (s *Store) Listen(ctx context.Context, topic string, heard func(data []byte)) error {
	sub, err := s.conn.SubscribeSync(newsPrefix + topic)
	if err != nil {
		return fmt.Errorf("listen for %s: %w", topic, err)
	}
	defer sub.Unsubscribe() //nolint:errcheck // it fails only if the connection is closed
	for {
		m, err := sub.NextMsgWithContext(ctx)
		switch {
		case err == nil:
			heard(m.Data)
		case errors.Is(err, nats.ErrSlowConsumer): // some were left out, and later ones come
		default:
			return fmt.Errorf("listen for %s: %w", topic, err)
		}
	}
}
