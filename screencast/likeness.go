package screencast

import (
	"bytes"
	"image"
	"image/jpeg"
)

const (
	// likenessBlock is the side of the squares in pixels whose mean brightness is
	// compared.
	likenessBlock = 8
	// likenessLimit is the largest difference of such a mean, of 255, between two
	// drawings of the same page: 11 was the most that was measured, at the edges of
	// scroll bars and in small text. A letter that was typed makes 20 and more.
	likenessLimit = 13
)

// looksLike reports whether two pictures show the same page, drawn anew: text
// and edges come out a little otherwise when Chromium draws at another scale in
// between. What cannot be compared is not alike.
func looksLike(a, b *Frame) bool {
	if a.Width != b.Width || a.Height != b.Height || a.ViewportWidth != b.ViewportWidth || a.ViewportHeight != b.ViewportHeight {
		return false
	}
	first, second := brightness(a.Data()), brightness(b.Data())
	if first == nil || second == nil {
		return false
	}
	for y := 0; y < a.Height; y += likenessBlock {
		for x := 0; x < a.Width; x += likenessBlock {
			square := image.Rect(x, y, min(x+likenessBlock, a.Width), min(y+likenessBlock, a.Height))
			if d := sumOf(first, square) - sumOf(second, square); max(d, -d) > likenessLimit*square.Dx()*square.Dy() {
				return false
			}
		}
	}
	return true
}

// brightness decodes the luma of a JPEG; nil for anything else.
func brightness(data []byte) *image.YCbCr {
	decoded, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	luma, _ := decoded.(*image.YCbCr)
	return luma
}

func sumOf(luma *image.YCbCr, r image.Rectangle) int {
	sum := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		at := luma.YOffset(r.Min.X, y)
		for _, v := range luma.Y[at : at+r.Dx()] {
			sum += int(v)
		}
	}
	return sum
}
