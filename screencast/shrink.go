package screencast

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"

	"golang.org/x/image/draw"

	"takeover/picture"
)

var errNotSmaller = errors.New("the picture would not be smaller")

// shrinking has room for the pictures that are made smaller at the same time. When
// it is full, others are sent as they are, so that viewers who only pretend to be
// slow cannot take the processors from everybody else.
var shrinking = make(chan struct{}, 1)

// shrunk returns the same picture at one of levels, relative to its own size, or nil if
// that is not smaller or there is no time for it. For one slow viewer this takes
// effect at once: Chromium makes pictures of another shape only for all viewers and
// after a change of the page. Viewers at the same level share the picture. The
// caller must release it.
func (f *Frame) shrunk(level int, tab uint32) (*Frame, error) {
	f.smallMu.Lock()
	defer f.smallMu.Unlock()
	small, made := f.small[level]
	if !made {
		select {
		case shrinking <- struct{}{}:
			defer func() { <-shrinking }()
		default:
			return nil, nil //nolint:nilnil // documented: no time
		}
		var err error
		if small, err = f.shrink(level, tab); err != nil && !errors.Is(err, errNotSmaller) {
			return nil, err
		}
		if f.small == nil {
			f.small = map[int]*Frame{}
		}
		f.small[level] = small
	}
	if small == nil {
		return nil, nil //nolint:nilnil // documented: not smaller
	}
	return small.retain(), nil
}

// shrink makes the picture smaller.
func (f *Frame) shrink(level int, tab uint32) (*Frame, error) {
	decoded, err := picture.Decode(f.Data())
	if err != nil {
		return nil, fmt.Errorf("shrink picture: %w", err)
	}
	l := levels[level]
	if l.size < 1 {
		side := func(n int) int { return max(int(float64(n)*l.size), 1) }
		small := image.NewRGBA(image.Rect(0, 0, side(f.Width), side(f.Height)))
		draw.ApproxBiLinear.Scale(small, small.Rect, decoded, decoded.Bounds(), draw.Src, nil)
		decoded = small
	}
	buf := pictures.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	out := bytes.NewBuffer((*buf)[:HeaderBytes])
	err = jpeg.Encode(out, decoded, &jpeg.Options{Quality: l.quality})
	if err == nil && out.Len() >= len(f.message) {
		err = errNotSmaller
	}
	if err != nil {
		pictures.Put(buf)
		return nil, fmt.Errorf("shrink picture: %w", err)
	}
	*buf = out.Bytes()[:0]
	now := &Frame{
		Seq: f.Seq, Format: JPEG, Sharp: f.Sharp, CapturedAt: f.CapturedAt,
		Width: decoded.Bounds().Dx(), Height: decoded.Bounds().Dy(), ViewportWidth: f.ViewportWidth, ViewportHeight: f.ViewportHeight,
		OffsetTop: f.OffsetTop, PageScale: f.PageScale, message: out.Bytes(), buf: buf,
	}
	now.refs.Store(1)
	now.seal(tab)
	return now, nil
}
