package screencast

import (
	"bytes"
	"image"

	"takeover/picture"
)

const (
	// likenessBlock is the side, in pixels, of the squares whose mean brightness
	// is compared.
	likenessBlock = 8
	// likenessLimit is the largest difference of such a mean, out of 255, between
	// two drawings of the same page. The largest measured difference was 11, at
	// the edges of scroll bars and in small text. A typed letter makes 20 or
	// more.
	likenessLimit = 13

	// A caret is a line of at most caretWidth by caretHeight CSS pixels. Its
	// blinking changes the brightness by more than caretContrast; JPEG artefacts
	// near it change it less. A typed letter moves the caret by 3 pixels or more.
	caretWidth    = 2
	caretHeight   = 96
	caretContrast = 64

	// caretBytes is the most by which a caret changes the size of a picture: it
	// touches few of the squares that JPEG encodes.
	caretBytes = 400
)

// caretOnly reports whether two pictures differ only by a blinking caret. density
// is their number of pixels per CSS pixel.
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

// looksLike reports whether two pictures show the same page. Text and edges may
// differ slightly after Chromium has drawn the page at another scale. If the
// pictures cannot be compared, it returns false.
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

// brightness decodes the luma of a JPEG. It returns nil for other formats.
func brightness(data []byte) *image.YCbCr {
	decoded, err := picture.Decode(data)
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
