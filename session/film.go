package session

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/chromedp/cdproto/page"

	"takeover/filmstrip"
	"takeover/screencast"
)

const (
	// filmWidth is the width of a film strip's pictures, in pixels.
	filmWidth = 640
	// filmSettle is how long after somebody worked a page may still change, where nobody
	// watches.
	filmSettle = 3 * time.Second
	// filmsDir is the folder of film strips in the data directory.
	filmsDir = "films"
)

// film takes the session's film strip until its end: of what the cast shows while somebody
// watches, and otherwise when something has been done or another page is shown. A session
// without a capture has none.
func film(s *Session) {
	if !s.captures() {
		return
	}
	strip := s.services.settings.films.Begin(s.id)
	tick := time.NewTicker(filmstrip.Every)
	defer tick.Stop()
	var last shot
	for {
		select {
		case now := <-tick.C:
			if strip.Due(now) {
				last = filmNext(s, strip, now, last)
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// shot is what the last picture of a film strip showed.
type shot struct {
	seq uint32    // of the cast's picture
	at  time.Time // when it was taken, if nobody watched
	url string
	sum [sha256.Size]byte
}

// filmNext adds a picture to a film strip, if the page looks different from the last one.
func filmNext(s *Session, strip *filmstrip.Strip, now time.Time, last shot) shot {
	f := s.shown()
	if f == nil || f.page.Crashed() || secretShown(f) {
		return last
	}
	next := last
	image, err := filmFrame(s, f, &next)
	if err != nil {
		s.log.Debug("take a picture for the film strip", "error", err)
		return last
	}
	next.sum = sha256.Sum256(image)
	if image == nil || next.sum == last.sum || secretShown(f) { // a person may have started to type a secret meanwhile
		return next
	}
	small, err := shrink(image, filmWidth)
	if err == nil {
		err = strip.Add(now, small)
	}
	if err != nil {
		s.log.Warn("keep a picture of the film strip", "error", err)
	}
	return next
}

// secretShown reports whether a secret field has the focus, whoever is in control.
func secretShown(f *focus) bool { return f.eng.desk.Secret(f.page) != "" }

// filmFrame returns a picture of the shown page, or nil if nothing happened since the last.
func filmFrame(s *Session, f *focus, shot *shot) ([]byte, error) {
	if live := f.eng.live.Attached(f.page.ID()); live != nil {
		if frame := live.Cast.Newest(); frame != nil {
			defer frame.Release()
			if frame.Seq == shot.seq {
				return nil, nil
			}
			shot.seq = frame.Seq
			return append([]byte(nil), frame.Data()...), nil
		}
	}
	url := f.page.URL()
	if url == shot.url && shot.at.Sub(s.gestures.lastWork()) > filmSettle {
		return nil, nil
	}
	shot.at, shot.url = time.Now(), url
	ctx, cancel := context.WithTimeout(f.ctx, keptPictureTimeout)
	defer cancel()
	soon, cancelSoon := context.WithTimeout(ctx, respondTimeout)
	defer cancelSoon()
	if !f.page.Responds(soon) {
		return nil, nil
	}
	return s.screenshot(ctx, f.page, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Quality: new(int64(screencast.DefaultQuality)), OptimizeForSpeed: new(true),
	})
}

// Film returns when the pictures of a session's film strip were taken, oldest first.
func Film(s *Session) ([]time.Time, error) { return s.services.settings.films.Times(s.id) }

// FilmPicture returns the JPEG that was taken at one of these times. The error is
// filmstrip.ErrNotFound at any other time.
func FilmPicture(s *Session, at time.Time) ([]byte, error) {
	return s.services.settings.films.Picture(s.id, at)
}
