package capture

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"time"

	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
	"takeover/picture"
)

const (
	// shotEvery is the minimum time between two screenshots of a session.
	shotEvery = 2 * time.Second
	// shotPatience bounds how long Chromium may take for a screenshot.
	shotPatience = 10 * time.Second
	// maxShotBytes bounds a picture as base64. A larger one is halved in both
	// dimensions until it fits; it is never cut.
	maxShotBytes = 950_000
)

var errShotTooLarge = errors.New("screenshot too large")

type screenshotData struct {
	PNG     string `json:"png"` // base64
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Trigger string `json:"trigger"`
}

// triggerLocked takes a screenshot of the page if the configuration has this
// trigger and the limits permit it. It takes none while a person is in control,
// because the picture might show what they type.
func (m *Monitor) triggerLocked(w *watched, trigger string) {
	if !m.running || !m.config.Screenshots || m.human || m.shooting || !slices.Contains(m.config.ScreenshotTriggers, trigger) ||
		time.Since(m.shotAt) < shotEvery || w.l.ending {
		return
	}
	p := w.page()
	if p == nil || p.crashed {
		return
	}
	m.shooting, m.shotAt = true, time.Now()
	session, e := m.id, p.event("")
	w.l.taskLocked(func() {
		data, err := p.shoot()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.shooting = false
		if err != nil {
			m.log.Debug("screenshot", "trigger", trigger, "error", err)
			return
		}
		if m.running && m.id == session && !m.human {
			data.Trigger = trigger
			m.writeLocked(e, TypeScreenshot, data)
		}
	})
}

// shoot captures a screenshot of the page.
func (w *watched) shoot() (screenshotData, error) {
	ctx, cancel := context.WithTimeout(w.l.ctx, shotPatience)
	defer cancel()
	done, err := w.session.Client().Shooting(ctx, w.target)
	if err != nil {
		return screenshotData{}, fmt.Errorf("capture screenshot: %w", err)
	}
	res, err := cdp.Call(ctx, w.session, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "png"})
	done(err)
	if err != nil {
		return screenshotData{}, fmt.Errorf("capture screenshot: %w", err)
	}
	return fitPicture(res.Data, maxShotBytes)
}

// fitPicture returns a PNG with at most limit bytes of base64.
func fitPicture(shot []byte, limit int) (screenshotData, error) {
	size, err := picture.Size(shot)
	if err != nil {
		return screenshotData{}, err
	}
	data := screenshotData{Width: size.X, Height: size.Y}
	if base64.StdEncoding.EncodedLen(len(shot)) > limit {
		img, err := picture.Decode(shot)
		if err != nil {
			return screenshotData{}, err
		}
		small := image.NewNRGBA(image.Rectangle{Max: size})
		draw.Draw(small, small.Bounds(), img, img.Bounds().Min, draw.Src)
		for base64.StdEncoding.EncodedLen(len(shot)) > limit {
			if small.Rect.Dx() < 2 || small.Rect.Dy() < 2 {
				return screenshotData{}, errShotTooLarge
			}
			small = halve(small)
			var out bytes.Buffer
			if err := png.Encode(&out, small); err != nil {
				return screenshotData{}, fmt.Errorf("write screenshot: %w", err)
			}
			shot = out.Bytes()
		}
		data.Width, data.Height = small.Rect.Dx(), small.Rect.Dy()
	}
	data.PNG = base64.StdEncoding.EncodeToString(shot)
	return data, nil
}

// halve returns a picture of half the width and height; each pixel is the mean of
// four.
func halve(src *image.NRGBA) *image.NRGBA {
	dst := image.NewNRGBA(image.Rect(0, 0, src.Rect.Dx()/2, src.Rect.Dy()/2))
	for y := range dst.Rect.Dy() {
		for x := range dst.Rect.Dx() {
			var r, g, b, a int
			for _, c := range [4]color.NRGBA{src.NRGBAAt(2*x, 2*y), src.NRGBAAt(2*x+1, 2*y), src.NRGBAAt(2*x, 2*y+1), src.NRGBAAt(2*x+1, 2*y+1)} {
				r, g, b, a = r+int(c.R), g+int(c.G), b+int(c.B), a+int(c.A)
			}
			dst.SetNRGBA(x, y, color.NRGBA{R: uint8(r / 4), G: uint8(g / 4), B: uint8(b / 4), A: uint8(a / 4)})
		}
	}
	return dst
}
