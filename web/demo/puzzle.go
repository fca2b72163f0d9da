package demo

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
)

// Sizes in the scene, in CSS pixels. The image has one pixel for each. The piece
// moves along a line. Its left edge follows the slider's handle.
const (
	sceneWidth  = 320
	sceneHeight = 160
	pieceSize   = 48
	minGap      = 110
	maxGap      = sceneWidth - pieceSize - 10
)

// gapColor is the colour of the gap. Nothing else in the scene is as dark, so
// that people with low vision find it too.
var gapColor = color.RGBA{0x14, 0x1a, 0x2b, 0xff}

// puzzle is a picture with a gap. Only the server knows where the gap is.
type puzzle struct {
	number int
	gap    int // left edge of the gap
	top    int
	hue    float64
	hills  [3]float64
}

//nolint:gosec // a picture to play with needs no secret numbers
func newPuzzle(number int) *puzzle {
	p := &puzzle{number: number, gap: minGap + rand.IntN(maxGap-minGap), top: 24 + rand.IntN(sceneHeight-pieceSize-48), hue: rand.Float64()}
	for i := range p.hills {
		p.hills[i] = rand.Float64() * 2 * math.Pi
	}
	return p
}

// at returns the scene's colour at a point, without the gap: sky, sun and hills.
func (p *puzzle) at(x, y float64) color.RGBA {
	sky := y / sceneHeight
	c := [3]float64{176 + 50*sky + 16*p.hue, 204 + 26*sky, 236 - 40*sky*p.hue}
	if math.Hypot(x-70-120*p.hue, y-42) < 20 {
		c = [3]float64{255, 232, 168}
	}
	for i, phase := range p.hills {
		n := float64(i)
		ridge := 66 + 26*n + (14-3*n)*math.Sin(x/(44-8*n)+phase) + 5*math.Sin(x/13+phase*2)
		if y > ridge {
			shade := 1 - 0.13*n
			c = [3]float64{(150 - 22*n) * shade, (190 - 14*n) * shade, (168 - 30*n) * shade}
		}
	}
	return color.RGBA{uint8(min(c[0], 255)), uint8(min(c[1], 255)), uint8(min(c[2], 255)), 0xff}
}

// inPiece reports whether a point, relative to the piece's corner, is in the
// piece: a rounded square with a notch on its left side and a knob on top.
func inPiece(x, y float64) bool {
	const body, knob = 38.0, 8.0
	if math.Hypot(x-body/2, y-pieceSize+body) < knob {
		return true
	}
	if math.Hypot(x, y-pieceSize+body/2) < knob {
		return false
	}
	return x >= 0 && x < body && y >= pieceSize-body && y < pieceSize
}

// onEdge reports whether a point is next to the edge of the piece.
func onEdge(x, y float64) bool {
	for _, d := range [4][2]float64{{1.5, 0}, {-1.5, 0}, {0, 1.5}, {0, -1.5}} {
		if inPiece(x, y) != inPiece(x+d[0], y+d[1]) {
			return true
		}
	}
	return false
}

// scene returns the picture with its gap, as PNG.
func (p *puzzle) scene() ([]byte, error) {
	return encode(sceneWidth, sceneHeight, func(x, y int) color.RGBA {
		px, py := float64(x-p.gap)+0.5, float64(y-p.top)+0.5
		switch {
		case onEdge(px, py):
			return color.RGBA{0xff, 0xff, 0xff, 0xff}
		case inPiece(px, py):
			return gapColor
		}
		return p.at(float64(x), float64(y))
	})
}

// piece returns the missing piece, as PNG with a transparent background.
func (p *puzzle) piece() ([]byte, error) {
	return encode(pieceSize, pieceSize, func(x, y int) color.RGBA {
		px, py := float64(x)+0.5, float64(y)+0.5
		switch {
		case onEdge(px, py):
			return color.RGBA{0xff, 0xff, 0xff, 0xff}
		case inPiece(px, py):
			return p.at(float64(x+p.gap), float64(y+p.top))
		}
		return color.RGBA{}
	})
}

func encode(width, height int, at func(x, y int) color.RGBA) ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetRGBA(x, y, at(x, y))
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
