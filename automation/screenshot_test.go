package automation_test

import (
	"bytes"
	"image"
	_ "image/jpeg"
	"strings"
	"testing"
)

// TestScreenshotsOfPagesThatGo takes pictures while a page switches between two
// sites, which Chromium renders in two processes. Masked elements must never be
// visible.
func TestScreenshotsOfPagesThatGo(t *testing.T) {
	r := newRig(t)
	red := `<style>body{margin:0}</style><div id=secret style="height:700px;background:#f00"></div>`
	s := site(t, map[string]string{"/one": red, "/two": red})
	urls := []string{s.URL + "/one", strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "/two"}
	r.do("frame.goto", params{"url": urls[0]}, nil)
	masked := params{"type": "jpeg", "mask": []params{{"frame": r.frame, "selector": "#secret"}}, "maskColor": "#00f", "timeout": 20_000}
	for i := range 5 {
		went := make(chan error, 1)
		go func() { went <- r.call("frame.goto", params{"url": urls[(i+1)%2]}, nil) }()
		for _, op := range []struct {
			name   string
			params params
		}{
			{"page.screenshot", masked},
			{"frame.screenshot", params{"selector": "#secret", "type": "jpeg", "timeout": 20_000, "mask": masked["mask"], "maskColor": "#00f"}},
		} {
			var shot struct{ Data string }
			r.do(op.name, op.params, &shot)
			img, _, err := image.Decode(bytes.NewReader(decoded(t, shot.Data)))
			if err != nil {
				t.Fatal(err)
			}
			if red, green, _, _ := img.At(50, 50).RGBA(); red>>8 > 200 && green>>8 < 50 {
				t.Fatalf("%s %d shows what is masked", op.name, i)
			}
		}
		if err := <-went; err != nil {
			t.Fatal(err)
		}
	}
}
