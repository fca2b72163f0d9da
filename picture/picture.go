// Package picture decodes the pictures that Chromium makes. A page may have taken
// over its Chromium, so a picture may claim any size in a few bytes: the bounds are
// checked before memory is taken.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // a format of Chromium's pictures
	_ "image/png"  // likewise

	_ "golang.org/x/image/webp" // likewise
)

// maxPixels bounds the pictures that are decoded. The server needs up to eight bytes
// for each pixel.
const maxPixels = 40_000_000

var (
	// ErrTooLarge is returned for a picture of more than 40 million pixels.
	ErrTooLarge = errors.New("the picture has too many pixels")
	// ErrProgressive is returned for a progressive JPEG, for which the decoder needs
	// several times the memory. Chromium makes none.
	ErrProgressive = errors.New("the picture is a progressive JPEG")
)

// Size returns the width and height that a JPEG, PNG or WebP claims, in pixels. It
// decodes nothing.
func Size(data []byte) (image.Point, error) {
	claimed, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return image.Point{}, fmt.Errorf("read picture: %w", err)
	}
	return image.Pt(claimed.Width, claimed.Height), nil
}

// Decode decodes a JPEG, PNG or WebP. The error is ErrTooLarge, ErrProgressive, or
// says what is wrong with the picture.
func Decode(data []byte) (image.Image, error) {
	size, err := Size(data)
	if err != nil {
		return nil, err
	}
	if size.Y > 0 && size.X > maxPixels/size.Y {
		return nil, ErrTooLarge
	}
	if progressive(data) {
		return nil, ErrProgressive
	}
	decoded, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read picture: %w", err)
	}
	return decoded, nil
}

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	markerSOF0 = 0xc0 // the frame of a baseline JPEG
	markerSOF2 = 0xc2 // the frame of a progressive JPEG
	markerRST0 = 0xd0
	markerSOI  = 0xd8
)

// progressive reports whether data is a JPEG whose frame is progressive. It finds the
// frame as image/jpeg does, which ignores bytes that it does not expect between
// segments.
func progressive(data []byte) bool {
	if len(data) < 2 || data[0] != 0xff || data[1] != markerSOI {
		return false
	}
	for at := 2; ; {
		for at < len(data) && data[at] != 0xff {
			at++
		}
		for at < len(data) && data[at] == 0xff {
			at++
		}
		if at+2 >= len(data) {
			return false
		}
		marker := data[at]
		at++
		switch {
		case marker == 0 || marker >= markerRST0 && marker < markerSOI: // no length follows
			continue
		case marker == markerSOF2:
			return true
		case marker == markerSOF0 || marker == markerSOF0+1:
			return false
		}
		at += int(data[at])<<8 | int(data[at+1])
	}
}
