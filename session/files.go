package session

import (
	"fmt"

	"takeover/browser"
	"takeover/files"
	"takeover/input"
	"takeover/invalid"
)

// maxChosen is how many files may be chosen at once.
const maxChosen = input.MaxDropFiles

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
	folder, err := files.Open(p.FilesDir(), s.services.opts.Files)
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

const (
	// maxShared is how many names of files guests may know of one session.
	maxShared = 2 * files.DefaultCount
	// maxGuestFiles is how many files guests may add to one session.
	maxGuestFiles = 200
	// guestShare is the part of the room left that one file of a guest may take, so
	// that whoever has a link never fills a session's folder.
	guestShare = 2
)

// ShareFile lets guests who may act fetch a file: one that a page downloaded or a
// person added. What scripts write stays the operator's.
func (s *Session) ShareFile(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		s.shared = map[string]struct{}{}
	}
	if len(s.shared) < maxShared {
		s.shared[name] = struct{}{}
	}
}

// FileShared reports whether guests may fetch a file.
func (s *Session) FileShared(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.shared[name]
	return ok
}

// AdmitGuestFile counts a file that a guest is about to add and gives how many
// bytes it may have. The error is an ErrTooMany, or that of Files.
func (s *Session) AdmitGuestFile() (int64, error) {
	folder, err := s.Files()
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guestFiles >= maxGuestFiles {
		return 0, fmt.Errorf("%w files: people with a link may add %d", ErrTooMany, maxGuestFiles)
	}
	s.guestFiles++
	return folder.Room() / guestShare, nil
}

// paths returns where the files of the session lie that a viewer names; nil for none.
func (v *Viewer) paths(names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if len(names) > maxChosen {
		return nil, invalid.Field("files", "must be at most %d", maxChosen)
	}
	folder, err := v.session.Files()
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(names))
	for i, name := range names {
		if v.guest && !v.session.FileShared(name) {
			return nil, invalid.Field("files", "there is no such file: %.80q", name)
		}
		if paths[i], err = folder.Path(name); err != nil {
			return nil, invalid.Field("files", "there is no such file: %.80q", name)
		}
	}
	return paths, nil
}
