package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"math"

	"golang.org/x/image/draw"

	"takeover/picture"
)

const (
	// maxPictureSide bounds a picture for a model, in pixels. Models scale larger
	// ones down, and lose what is small.
	maxPictureSide = 1568
	// maxPictureArea bounds its area, in pixels, for the same reason.
	maxPictureArea = 1_150_000
	pictureQuality = 80 // of a JPEG
)

// forModel makes a picture fit for a model. about says how, and is empty if the
// picture fits already. small is nil if the picture is too large to show.
func forModel(data []byte, mime string) (small []byte, kind, about string) {
	size, err := picture.Size(data)
	if err != nil {
		return data, mime, ""
	}
	whole, err := picture.Decode(data)
	if errors.Is(err, picture.ErrTooLarge) {
		return nil, "", fmt.Sprintf("too large to show: %d×%d", size.X, size.Y)
	}
	if err != nil {
		return data, mime, ""
	}
	from := whole.Bounds()
	width, height := float64(from.Dx()), float64(from.Dy())
	scale := min(1, maxPictureSide/width, maxPictureSide/height)
	if area := width * height * scale * scale; area > maxPictureArea {
		scale *= math.Sqrt(maxPictureArea / area)
	}
	if scale >= 1 {
		return data, mime, ""
	}
	to := image.NewRGBA(image.Rect(0, 0, max(int(width*scale), 1), max(int(height*scale), 1)))
	draw.CatmullRom.Scale(to, to.Bounds(), whole, from, draw.Src, nil)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, to, &jpeg.Options{Quality: pictureQuality}); err != nil {
		return data, mime, ""
	}
	return b.Bytes(), "image/jpeg", fmt.Sprintf("%d×%d, made smaller from %d×%d", to.Bounds().Dx(), to.Bounds().Dy(), from.Dx(), from.Dy())
}
