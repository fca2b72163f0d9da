package session

import (
	"fmt"

	"takeover/browser"
	"takeover/files"
)

// Files is the session's folder of files: what scripts wrote, Chromium
// downloaded and callers uploaded. It goes with the session. The error is
// ErrEnded, or ErrNotReady before the first browser is there.
func (s *Session) Files() (*files.Folder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.aliveLocked(); err != nil {
		return nil, err
	}
	if s.files == nil {
		return nil, ErrNotReady
	}
	return s.files, nil
}

// openFiles opens the folder of files in the first browser's own; the ones after
// it, in the same place, find it open.
func (s *Session) openFiles(p *browser.Process) error {
	s.mu.Lock()
	open := s.files != nil
	s.mu.Unlock()
	if open {
		return nil
	}
	folder, err := files.Open(p.FilesDir(), s.manager.opts.Files)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = folder
	return nil
}

// closeFiles lets go of the folder, which is about to be removed.
func (s *Session) closeFiles() {
	s.mu.Lock()
	folder := s.files
	s.files = nil
	s.mu.Unlock()
	if folder == nil {
		return
	}
	if err := folder.Close(); err != nil {
		s.log.Warn("close files", "error", err)
	}
}
