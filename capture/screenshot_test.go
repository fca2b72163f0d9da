package capture_test

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
)

func TestScreenshot(t *testing.T) {
	r := record(t, capture.Config{Screenshots: true, Console: true, Navigation: true})
	base := site{pages: map[string]string{"/": `<link rel=icon href=data:,><canvas width=1200 height=700></canvas><script>
		const c = document.querySelector("canvas").getContext("2d"), d = c.createImageData(1200, 700);
		for (let i = 0, x = 1; i < d.data.length; i++) { x = (x * 16807) % 2147483647; d.data[i] = x & 255 }
		c.putImageData(d, 0, 0); setTimeout(() => { throw new Error("seen") })</script>`}}.start(t)
	p := browsertest.Page(t)
	// While a person is in control, no screenshot is taken.
	r.PersonControls(true)
	p.Eval(`Promise.reject(new Error("private")); 0`, nil)
	r.await(capture.TypeConsoleError, nil)
	since := r.Ring().Last()
	r.PersonControls(false)
	p.Open(base + "/")
	e, data := r.await(capture.TypeScreenshot, nil)
	if e.Seq <= since {
		t.Error("a picture while a person was in control")
	}
	raw, err := base64.StdEncoding.DecodeString(data["png"].(string))
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	size := picture.Bounds().Size()
	if data["trigger"] != capture.TriggerError || float64(size.X) != data["width"] || float64(size.Y) != data["height"] || len(raw) < 1000 || e.TargetID != string(p.ID) || e.Truncated {
		t.Errorf("%v, %d bytes: %.300s", size, len(raw), e.JSON())
	}
}

// TestScreenshotTriggers checks that a trigger needs no other switch: it turns on
// the events that it depends on.
func TestScreenshotTriggers(t *testing.T) {
	base := site{pages: map[string]string{"/": `<link rel=icon href=data:,><body style="height:5000px"><script>
		addEventListener("load", () => { scrollTo(0, 900); setTimeout(() => { throw new Error("seen") }) })</script>`}}.start(t)
	for _, trigger := range []string{
		capture.TriggerError, capture.TriggerPageLoad, capture.TriggerNavigationSettled,
		capture.TriggerScrollSettled, capture.TriggerNetworkIdle, capture.TriggerLayoutSettled,
	} {
		t.Run(trigger, func(t *testing.T) {
			r := record(t, capture.Config{Screenshots: true, ScreenshotTriggers: []string{trigger}})
			browsertest.Page(t).Open(base + "/")
			if _, data := r.await(capture.TypeScreenshot, nil); data["trigger"] != trigger {
				t.Errorf("the picture was taken for %v", data["trigger"])
			}
		})
	}
}
