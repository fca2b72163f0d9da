package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/chromedp/cdproto/page"

	"takeover/archive"
)

const (
	respondTimeout     = time.Second // for a page to respond before a picture of it is taken
	keptPictureTimeout = 2 * time.Second
	keptPictureQuality = 60 // quality of the JPEG
)

// keptPicture is a stored picture: a session's last one, or the one taken when a
// run failed.
type keptPicture struct {
	mu    sync.Mutex // guards what follows
	image []byte     // nil once the archive has it
	bytes int        // bytes in the archive
}

// captures reports whether the session was created with a capture.
func (s *Session) captures() bool {
	if s.opts.Capture == nil {
		return s.services.settings.captures
	}
	return *s.opts.Capture
}

// CaptureDeclined reports whether the session's creator wants no capture. Doors do not
// start one then.
func (s *Session) CaptureDeclined() bool { return s.opts.Capture != nil && !*s.opts.Capture }

// LastPicture returns a JPEG of an ended session's last page. The error is
// ErrNotFound if the session is live or was created without a capture, or if no
// picture could be taken at its end, for example because the page showed a
// secret.
func (s *Session) LastPicture(ctx context.Context) ([]byte, error) {
	return s.stills.last.read(ctx, s.services.archive, s.key())
}

// Picture returns a JPEG of the page that was taken when the run failed. The
// error is ErrNotFound if there is none.
func (r *Run) Picture(ctx context.Context) ([]byte, error) {
	return r.picture.read(ctx, r.session.services.archive, r.key())
}

// HasPicture reports whether there is a picture of the run's failure.
func (r *Run) HasPicture() bool { return r.picture.size() > 0 }

// HasLastPicture reports whether there is a picture of what the session showed last.
func (s *Session) HasLastPicture() bool { return s.stills.last.size() > 0 }

// keepLastPicture takes a picture of the session before its browser ends.
func (s *Session) keepLastPicture() {
	if s.captures() {
		s.stills.last.set(filmLast(s))
	}
}

// keepPicture takes a picture of the session when a run has failed.
func (r *Run) keepPicture(status RunStatus) {
	if r.session.captures() && (status == RunFailed || status == RunTimeout) {
		r.picture.set(r.session.pictureToKeep())
	}
}

// pictureToKeep captures the active page. It returns nil when the page does not
// respond, the picture takes too long, or the page shows a secret.
func (s *Session) pictureToKeep() []byte {
	p, err := s.activePage()
	if err != nil || p.Crashed() {
		return nil
	}
	soon, cancelSoon := context.WithTimeout(context.Background(), respondTimeout)
	defer cancelSoon()
	if !p.Responds(soon) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), keptPictureTimeout)
	defer cancel()
	image, err := s.screenshot(ctx, p, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Quality: new(int64(keptPictureQuality)), OptimizeForSpeed: new(true),
	})
	if err != nil {
		s.log.Debug("keep picture", "error", err)
		return nil
	}
	return image
}

func (k *keptPicture) set(image []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.image = image
}

// size returns the number of bytes of the picture, or 0.
func (k *keptPicture) size() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return max(len(k.image), k.bytes)
}

// read returns the picture, from the archive if it is already there.
func (k *keptPicture) read(ctx context.Context, a *archive.Archive, key archive.Key) ([]byte, error) {
	k.mu.Lock()
	image, bytes := k.image, k.bytes
	k.mu.Unlock()
	switch {
	case image != nil:
		return image, nil
	case bytes == 0:
		return nil, ErrNotFound
	}
	image, err := a.Picture(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read picture: %w", err)
	}
	return image, nil
}

// write moves the picture to the archive, and returns its number of bytes there.
func (k *keptPicture) write(ctx context.Context, a *archive.Archive, key archive.Key) (int, error) {
	k.mu.Lock()
	image, bytes := k.image, k.bytes
	k.mu.Unlock()
	if image == nil {
		return bytes, nil
	}
	if err := a.SetPicture(ctx, key, image); err != nil {
		return 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.image, k.bytes = nil, len(image)
	return k.bytes, nil
}
