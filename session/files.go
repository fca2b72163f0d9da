package session

import (
	"fmt"

	"takeover/chromium"
	"takeover/files"
	"takeover/input"
	"takeover/invalid"
	"takeover/limits"
)

// maxChosen is how many files may be chosen at once.
const maxChosen = input.MaxDropFiles

// Files returns the session's folder of files: those that scripts wrote, Chromium
// downloaded and callers uploaded. It is deleted with the session. The error is
// ErrEnded, or ErrNotReady before the first browser has started.
func (s *Session) Files() (*files.Folder, error) {
	if err := s.life.alive(); err != nil {
		return nil, err
	}
	folder := s.transfers.files()
	if folder == nil {
		return nil, ErrNotReady
	}
	return folder, nil
}

// openFiles opens the folder of files, which is inside the first browser's
// folder. Later browsers get the same folder, which is then already open.
func (s *Session) openFiles(p *chromium.Process) error {
	if s.transfers.files() != nil {
		return nil
	}
	bounds := s.services.settings.files
	bounds.Full = func() { s.hit(limits.Files) }
	folder, err := files.Open(p.FilesDir(), bounds)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	s.transfers.setFiles(folder)
	return nil
}

// closeFiles closes the folder before it is removed.
func (s *Session) closeFiles() {
	folder := s.transfers.setFiles(nil)
	if folder == nil {
		return
	}
	if err := folder.Close(); err != nil {
		s.log.Warn("close files", "error", err)
	}
}

// ShareFile lets guests who may act fetch a file: one that a page downloaded or
// a person added. Files that scripts write are only for the operator, even if
// they replace a shared one.
func (s *Session) ShareFile(f files.File) { s.transfers.share(f) }

// FileShared reports whether guests may fetch a file.
func (s *Session) FileShared(f files.File) bool { return s.transfers.isShared(f) }

// AdmitGuestFile counts a file that a guest is about to add, and returns how many
// bytes it may have. charge counts the bytes that arrive; after a failure, a
// negative number gives them back. charge returns files.ErrFull if all guests
// together would fill more than half of the folder. AdmitGuestFile returns an
// ErrTooMany, or an error of Files.
func (s *Session) AdmitGuestFile() (room int64, charge func(bytes int64) error, err error) {
	folder, err := s.Files()
	if err != nil {
		return 0, nil, err
	}
	if err := s.transfers.admitGuestFile(); err != nil {
		s.hit(limits.GuestFiles)
		return 0, nil, err
	}
	charge = func(bytes int64) error {
		if !s.transfers.chargeGuest(bytes, folder.Capacity()) {
			s.hit(limits.GuestFiles)
			return files.ErrFull
		}
		return nil
	}
	return folder.Room() / guestShare, charge, nil
}

// paths returns the paths of the session files that a viewer names, or nil for
// none.
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
		info, err := folder.Stat(name)
		if err == nil && v.guest && !v.session.FileShared(info) {
			err = files.ErrNotFound
		}
		if err == nil {
			paths[i], err = folder.Path(name)
		}
		if err != nil {
			return nil, invalid.Field("files", "there is no such file: %.80q", name)
		}
	}
	return paths, nil
}
