package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"sync"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"takeover/browser"
	"takeover/filmstrip"
	"takeover/screencast"
)

const (
	// filmWidth is the width of a film strip's pictures, in pixels.
	filmWidth = 640
	// filmSettle is how long after somebody worked a page may still change, where nobody
	// watches.
	filmSettle = 3 * time.Second
	// filmRespondTimeout is for a page to respond before a picture of it is taken. The next is due soon.
	filmRespondTimeout = 300 * time.Millisecond
	// filmsDir is the folder of film strips in the data directory.
	filmsDir = "films"
)

// film takes the session's film strip until its end. While somebody watches, its pictures are
// those of the cast. Otherwise it takes one after somebody worked. A new document comes sooner,
// as soon as it has loaded. The empty page that a session begins with is left out, unless
// somebody works on it. A session without a capture has no strip.
func film(s *Session) {
	if !s.captures() || s.services.settings.films.None() {
		return
	}
	strip := s.services.settings.films.Begin(s.id)
	tick := time.NewTicker(filmstrip.Every / filmstrip.Sooner)
	defer tick.Stop()
	var last shot
	looked, start := time.Now(), emptyStart{worked: s.gestures.lastWork()}
	for begun := false; ; {
		select {
		case now := <-tick.C:
			if !begun && start.leavesOut(s, now) {
				looked = now
				continue
			}
			another := showsAnother(s, last.document)
			if !strip.Due(now, another) || !another && now.Sub(looked) < filmstrip.Every {
				continue
			}
			looked = now
			last = filmNext(s, strip, now, last)
			begun = begun || last != (shot{})
		case <-s.ctx.Done():
			return
		}
	}
}

// emptyStart tells the empty page that a session begins with from one that somebody works on.
type emptyStart struct {
	worked  time.Time // when somebody had last worked as the session began
	touched time.Time // when work was first seen after that
}

// leavesOut reports whether a session shows no page yet, or the empty one untouched. Work on
// it may be what brings the first page, so it counts after a while only.
func (e *emptyStart) leavesOut(s *Session, now time.Time) bool {
	f := s.shown()
	if f == nil || f.page.URL() != emptyPage {
		return f == nil
	}
	if e.touched.IsZero() && !s.gestures.lastWork().Equal(e.worked) {
		e.touched = now
	}
	return f.page.Loading() || e.touched.IsZero() || now.Sub(e.touched) < filmstrip.Every
}

// showsAnother reports whether a session shows a document that has loaded and is not the given
// one. The empty page does not count.
func showsAnother(s *Session, document proto.LoaderID) bool {
	f := s.shown()
	return f != nil && !f.page.Loading() && f.page.URL() != emptyPage && f.page.MainFrame().LoaderID() != document
}

// shot is what the last picture of a film strip showed.
type shot struct {
	seq      uint32    // of the cast's picture
	at       time.Time // when it was taken, if nobody watched
	url      string
	document proto.LoaderID
	sum      [sha256.Size]byte
}

// filmNext adds a picture to a film strip, if the page looks different from the last one.
func filmNext(s *Session, strip *filmstrip.Strip, now time.Time, last shot) shot {
	f := s.shown()
	if f == nil || f.page.Crashed() {
		return last
	}
	if s.stills.shy.hides(f, now) {
		if err := strip.Hide(now); err != nil {
			s.log.Debug("keep that the film strip has no picture", "error", err)
		}
		return shot{} // the next picture follows the gap, also if it is the one before
	}
	next, document := last, f.page.MainFrame().LoaderID()
	image, err := filmFrame(s, f, &next)
	if err != nil {
		s.log.Debug("take a picture for the film strip", "error", err)
		return last
	}
	if image == nil || s.stills.shy.hides(f, now) { // a person may have started to type a secret meanwhile
		return last
	}
	if next.sum = sha256.Sum256(image); next.sum == last.sum {
		return next
	}
	next.document = document // a cast's picture that looks the same may be of the one before
	filmAdd(s, strip, now, image)
	return next
}

// filmLast takes what a session shows last, and adds it to its film strip, whose other pictures
// are taken at intervals. It returns the picture, or nil.
func filmLast(s *Session) []byte {
	films, f := s.services.settings.films, s.shown()
	shows := f != nil && !s.stills.shy.hides(f, time.Now())
	image, now := s.pictureToKeep(), time.Now()
	if image == nil || films.None() || !shows || s.shown() != f || s.stills.shy.hides(f, now) {
		return image
	}
	filmAdd(s, films.Begin(s.id), now, image)
	return image
}

// filmAdd adds a picture to a film strip, in the strip's size.
func filmAdd(s *Session, strip *filmstrip.Strip, at time.Time, image []byte) {
	small, err := shrink(image, filmWidth, filmWidth*filmWidth)
	if err == nil {
		err = strip.Add(at, small)
	}
	if err != nil {
		s.log.Debug("keep a picture of the film strip", "error", err)
	}
}

// filmFrame returns a picture of the shown page, or nil if nothing happened since the last.
func filmFrame(s *Session, f *focus, shot *shot) ([]byte, error) {
	seq, began, url, document := shot.seq, time.Now(), f.page.URL(), f.page.MainFrame().LoaderID()
	if live := f.eng.live.Attached(f.page.ID()); live != nil {
		if frame := live.Cast.Newest(); frame != nil {
			defer frame.Release()
			if frame.Seq == shot.seq {
				return nil, nil
			}
			if !s.stills.shy.hides(f, frame.CapturedAt) {
				shot.seq, shot.url = frame.Seq, url
				return bytes.Clone(frame.Data()), nil
			}
			seq = frame.Seq // it may show the document before; a new one may never come
		}
	}
	if seq == shot.seq && url == shot.url && shot.at.Sub(s.gestures.lastWork()) > filmSettle {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(f.ctx, keptPictureTimeout)
	defer cancel()
	soon, cancelSoon := context.WithTimeout(ctx, filmRespondTimeout)
	defer cancelSoon()
	if !f.page.Responds(soon) {
		return nil, nil
	}
	image, err := s.screenshot(ctx, f.page, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Quality: new(int64(screencast.DefaultQuality)), OptimizeForSpeed: new(true),
	})
	shot.seq, shot.at, shot.url, shot.document = seq, began, url, document
	return image, err
}

const (
	// shyAfter is how long after a secret field has lost the focus its document may still
	// show what was entered, such as a code in plain text.
	shyAfter = 30 * time.Second
	// shyMargin is how long pictures of a document may still arrive that has been replaced.
	shyMargin = time.Second
)

// shy says whether a page may show a secret. The zero value is of a session that never did.
type shy struct {
	mu       sync.Mutex // guards what follows
	page     *browser.Page
	replaced <-chan struct{} // closed when another document replaces the one of the field
	gone     bool            // that was seen
	on       bool            // a secret field has the focus
	until    time.Time       // when it last lost it, or its document was seen to be replaced
}

// focused records whether a secret field of a page has the focus.
func (y *shy) focused(p *browser.Page, secret bool, now time.Time) {
	y.mu.Lock()
	defer y.mu.Unlock()
	switch {
	case secret && (!y.on || y.page != p):
		y.page, y.replaced, y.gone, y.on = p, p.Replaced(), false, true
	case !secret && y.on && y.page == p:
		y.on, y.until = false, now
	}
}

// forget forgets the page of a session that has no browser any more.
func (y *shy) forget() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.page, y.replaced, y.on = nil, nil, false
}

// hides reports whether what a page looked like at a time must not be kept: a secret field has
// the focus, or had it, and its content may still be seen.
func (y *shy) hides(f *focus, at time.Time) bool {
	if f.eng.tracker.Secret(f.page) != "" {
		return true
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	switch {
	case y.page != f.page:
		return false
	case y.on: // its end has not been told yet
		return true
	case isClosed(y.replaced):
		if now := time.Now(); !y.gone && now.After(y.until) {
			y.until = now // pictures of the old document may still be under way
		}
		y.gone = true
		return at.Before(y.until.Add(shyMargin))
	}
	return at.Before(y.until.Add(shyAfter))
}

// Film returns when the pictures of a session's film strip were taken, and from when it has
// none until the next one, because a secret could be seen; oldest first.
func Film(s *Session) (pictures, hidden []time.Time, err error) {
	return s.services.settings.films.Times(s.id)
}

// LastFilmPicture returns the newest picture of a session's film strip, as a JPEG. The error is
// filmstrip.ErrNotFound without one.
func LastFilmPicture(s *Session) ([]byte, error) {
	times, _, err := Film(s)
	if err != nil {
		return nil, err
	}
	if len(times) == 0 {
		return nil, filmstrip.ErrNotFound
	}
	return FilmPicture(s, times[len(times)-1])
}

// HasFilm reports whether a session has a film strip.
func HasFilm(s *Session) bool { return s.services.settings.films.Has(s.id) }

// FilmPicture returns the JPEG that was taken at one of these times. The error is
// filmstrip.ErrNotFound at any other time.
func FilmPicture(s *Session, at time.Time) ([]byte, error) {
	return s.services.settings.films.Picture(s.id, at)
}
