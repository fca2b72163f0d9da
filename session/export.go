package session

import (
	"context"
	"errors"
	"io"

	"takeover/capture"
)

// EachEvent calls each with every event that there is now, oldest first: from the
// durable stream what the ring no longer holds, and then from the ring, a few at a
// time. It ends with each's error.
func (s *Session) EachEvent(ctx context.Context, each func(*capture.Event) error) error {
	last := s.monitor.Ring().Last()
	reader := s.ReadEvents(0, capture.Filter{})
	for seq := uint64(0); seq < last; {
		e, err := reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if seq = e.Seq; seq > last {
			return nil
		}
		if err := each(&e); err != nil {
			return err
		}
	}
	return nil
}
