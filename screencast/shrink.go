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

// shrink returns the same picture at one of levels, relative to its own size. For
// one slow viewer this takes effect at once. Chromium makes pictures of another
// shape only for all viewers and after a change of the page.
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
