package session

import (
	"context"

	"takeover/automation"
)

// StorageState reads the cookies of the session, and the storage of the origins that
// its tabs have shown.
func (s *Session) StorageState(ctx context.Context) (automation.StorageState, error) {
	eng, err := s.ready()
	if err != nil {
		return automation.StorageState{}, err
	}
	return eng.auto.StorageState(ctx)
}
