package session

import (
	"context"

	"takeover/storagestate"
)

// StorageState reads the cookies of the session, and the storage of the origins that
// its tabs have shown.
func (s *Session) StorageState(ctx context.Context) (*storagestate.State, error) {
	eng, err := s.ready()
	if err != nil {
		return nil, err
	}
	return eng.auto.StorageState(ctx)
}
