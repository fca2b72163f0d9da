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

	// A caret is one line, caretWidth CSS pixels wide at most and caretHeight high.
	// Where it comes or goes the brightness changes by more than caretContrast; what
	// JPEG makes of the pixels beside it stays below that. A letter that was typed
	// moves the caret by 3 pixels and more.
	caretWidth    = 2
	caretHeight   = 96
	caretContrast = 64
)

// caretOnly reports whether two pictures, drawn with so many pixels per CSS pixel,
// differ in nothing but a caret that blinked.
func caretOnly(a, b *image.YCbCr, density int) bool {
	if a == nil || b == nil || a.Rect != b.Rect {
		return false
	}
	var changed image.Rectangle
	for y := a.Rect.Min.Y; y < a.Rect.Max.Y; y++ {
		at := a.YOffset(a.Rect.Min.X, y)
		first, second := a.Y[at:at+a.Rect.Dx()], b.Y[at:at+a.Rect.Dx()]
		if bytes.Equal(first, second) {
			continue
		}
		for x := range first {
			if d := int(first[x]) - int(second[x]); max(d, -d) > caretContrast {
				changed = changed.Union(image.Rect(x, y, x+1, y+1))
			}
		}
		if changed.Dx() > density*caretWidth || changed.Dy() > density*caretHeight {
			return false
		}
	}
	return !changed.Empty()
}

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
