package capture

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"math/rand/v2"
	"testing"
)

func TestPictureIsHalvedUntilItFits(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 801, 600))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(random.Uint32() | 1)
	}
	var raw bytes.Buffer
	if err := png.Encode(&raw, img); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]image.Point{4_000_000: {801, 600}, 1_000_000: {400, 300}, 200_000: {200, 150}} {
		data, err := fitPicture(raw.Bytes(), limit)
		if err != nil {
			t.Fatal(err)
		}
		decoded, _ := base64.StdEncoding.DecodeString(data.PNG)
		size, err := png.DecodeConfig(bytes.NewReader(decoded))
		if err != nil || len(data.PNG) > limit || (image.Point{size.Width, size.Height}) != want || (image.Point{data.Width, data.Height}) != want {
			t.Errorf("limit %d: %d bytes, %dx%d, %v", limit, len(data.PNG), size.Width, size.Height, err)
		}
	}
	if _, err := fitPicture([]byte("no picture"), 10); err == nil {
		t.Error("took what is no picture")
	}
}
