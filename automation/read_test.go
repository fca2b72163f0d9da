package automation_test

import (
	"bytes"
	"image"
	_ "image/jpeg" // for decoding
	_ "image/png"
	"strings"
	"testing"

	"takeover/automation"
)

func clientOptions(r *rig) automation.ClientOptions {
	return automation.ClientOptions{Emit: r.emit, Context: r.context}
}

func TestReading(t *testing.T) {
	r := newRig(t)
	r.html(`<title>A &amp; B</title><h1>Hello <i>there</i></h1><p hidden>gone</p><ul><li>1</li><li> 2 </li></ul>
		<input id=t value=v disabled><input id=c type=checkbox checked><a href="/x" data-testid=link>Link</a>
		<div id=box style="position:absolute;left:10px;top:300px;width:30px;height:40px"></div>`)
	for _, tt := range []struct {
		op     string
		params params
		want   any
	}{
		{"title", params{}, "A & B"},
		{"textContent", params{"selector": "h1"}, "Hello there"},
		{"innerText", params{"selector": "internal:role=heading[level=1]"}, "Hello there"},
		{"innerHTML", params{"selector": "h1"}, "Hello <i>there</i>"},
		{"inputValue", params{"selector": "#t"}, "v"},
		{"getAttribute", params{"selector": `internal:testid=[data-testid="link"s]`, "name": "href"}, "/x"},
		{"getAttribute", params{"selector": "a", "name": "none"}, nil},
		{"isVisible", params{"selector": "h1"}, true},
		{"isVisible", params{"selector": "p"}, false},
		{"isVisible", params{"selector": "no"}, false},
		{"isHidden", params{"selector": "p"}, true},
		{"isEnabled", params{"selector": "#t"}, false},
		{"isDisabled", params{"selector": "#t"}, true},
		{"isEditable", params{"selector": "#t"}, false},
		{"isChecked", params{"selector": "#c"}, true},
		{"count", params{"selector": "li"}, 2},
		{"allTextContents", params{"selector": "li"}, []string{"1", " 2 "}},
		{"allInnerTexts", params{"selector": "li"}, []string{"1", "2"}},
		{"textContent", params{"selector": "li >> nth=1"}, " 2 "},
		{"boundingBox", params{"selector": "#box"}, params{"height": 40, "width": 30, "x": 10, "y": 300}},
		{"ariaSnapshot", params{"selector": "ul"}, "- list:\n  - listitem: \"1\"\n  - listitem: \"2\""},
		{"generateSelector", params{"selector": "h1"}, `internal:role=heading[name="Hello there"i]`},
	} {
		tt.params["timeout"] = 2000
		equal(t, tt.op, r.value("frame."+tt.op, tt.params), tt.want)
	}
	if html := r.value("frame.content", nil).(string); !strings.HasPrefix(html, "<!DOCTYPE html><html><head><title>A &amp; B</title>") {
		t.Errorf("content: %s", html)
	}
}

func TestScreenshots(t *testing.T) {
	r := newRig(t)
	r.html(`<style>body{margin:0;background:#fff}</style><div id=d style="width:100px;height:50px;background:#f00;margin:20px"></div><div style="height:2000px"></div>`)
	for _, tt := range []struct {
		name, op string
		params   params
		format   string
		w, h     int
	}{
		{"viewport", "page.screenshot", params{}, "png", 1280, 720},
		{"full page", "page.screenshot", params{"fullPage": true}, "png", 1280, 2090},
		{"clip", "page.screenshot", params{"clip": params{"x": 10, "y": 10, "width": 30, "height": 20}}, "png", 30, 20},
		{"jpeg", "page.screenshot", params{"type": "jpeg", "quality": 50}, "jpeg", 1280, 720},
		{"element", "frame.screenshot", params{"selector": "#d"}, "png", 100, 50},
		{"transparent", "page.screenshot", params{"omitBackground": true, "style": "body{background:none !important}"}, "png", 1280, 720},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var shot struct{ Data string }
			r.do(tt.op, tt.params, &shot)
			img, format, err := image.Decode(bytes.NewReader(decoded(t, shot.Data)))
			if err != nil {
				t.Fatal(err)
			}
			b := img.Bounds()
			if format != tt.format || b.Dx() != tt.w || b.Dy() != tt.h {
				t.Errorf("%s of %d×%d, want %s of %d×%d", format, b.Dx(), b.Dy(), tt.format, tt.w, tt.h)
			}
			if tt.name == "element" {
				if red, green, _, _ := img.At(50, 25).RGBA(); red>>8 != 255 || green>>8 != 0 {
					t.Error("the element's middle is not red")
				}
			}
			if _, _, _, alpha := img.At(600, 600).RGBA(); tt.name == "transparent" && alpha != 0 {
				t.Errorf("alpha is %d", alpha)
			}
		})
	}
	err := r.call("page.screenshot", params{"clip": params{"x": 5000, "y": 10, "width": 30, "height": 20}}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "Clipped area is either empty or outside the resulting image") {
		t.Errorf("clip outside: %v", err)
	}
}
