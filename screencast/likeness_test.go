package screencast

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"testing"
)

// TestLooksLike compares a page with a slightly different drawing of it, and with
// the page after a small text was typed.
func TestLooksLike(t *testing.T) {
	picture := func(paint func(*image.RGBA)) *Frame {
		img := image.NewRGBA(image.Rect(0, 0, 203, 101)) // not a multiple of a block
		draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(img, image.Rect(20, 20, 120, 33), image.Black, image.Point{}, draw.Src)
		paint(img)
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 60}); err != nil {
			t.Fatal(err)
		}
		f, err := decodeFrame([]byte(base64.StdEncoding.EncodeToString(b.Bytes())))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Release)
		return f
	}
	page := picture(func(*image.RGBA) {})
	fill := func(r image.Rectangle, c color.Color) func(*image.RGBA) {
		return func(img *image.RGBA) { draw.Draw(img, r, &image.Uniform{c}, image.Point{}, draw.Src) }
	}
	for name, tt := range map[string]struct {
		paint func(*image.RGBA)
		want  bool
	}{
		"itself":             {func(*image.RGBA) {}, true},
		"a softer edge":      {fill(image.Rect(20, 33, 120, 34), color.Gray{200}), true},
		"a caret":            {fill(image.Rect(150, 40, 151, 56), color.Black), false},
		"a letter":           {fill(image.Rect(152, 42, 154, 51), color.Black), false},
		"in the last square": {fill(image.Rect(201, 97, 203, 101), color.Black), false},
		"a slightly other background of one button": {fill(image.Rect(140, 60, 180, 80), color.Gray{230}), false},
	} {
		if got := looksLike(page, picture(tt.paint)); got != tt.want {
			t.Errorf("%s: alike is %v", name, got)
		}
	}
	broken := picture(func(*image.RGBA) {})
	copy(broken.Data(), "no JPEG at all")
	if looksLike(page, broken) {
		t.Error("like something that cannot be read")
	}
}
