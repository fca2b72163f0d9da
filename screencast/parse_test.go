package screencast

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/jpeg"
	"testing"
	"time"
	"unicode/utf8"
)

func TestParseEvent(t *testing.T) {
	const full = `{"data":"/9j/4AAQ","metadata":{"offsetTop":3,"pageScaleFactor":1.5,"deviceWidth":1280,"deviceHeight":720,"scrollOffsetX":0,"scrollOffsetY":9,"timestamp":1795246931.811696},"sessionId":42}`
	ev, err := parseEvent([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want := metadata{OffsetTop: 3, PageScaleFactor: 1.5, DeviceWidth: 1280, DeviceHeight: 720, Timestamp: 1795246931.811696}
	if string(ev.data) != "/9j/4AAQ" || ev.ack != 42 || ev.metadata != want {
		t.Errorf("%+v", ev)
	}
	if at := ev.metadata.time(); at.Sub(time.UnixMicro(1795246931811696)).Abs() > time.Microsecond {
		t.Error(at)
	}
	for _, good := range []string{
		` { "sessionId" : 42 , "x" : [ {"data":"no"} ] , "metadata" : { } , "data" : "aaaa" } `,
		`{"data":"aaaa"}`,
	} {
		if ev, err := parseEvent([]byte(good)); err != nil || string(ev.data) != "aaaa" {
			t.Errorf("%s: %v, %s", good, err, ev.data)
		}
	}
	for _, bad := range []string{``, `[]`, `{`, `{}`, `{"data":""}`, `{"data":"aaaa`, `{"data" "aaaa"}`, `{"data":"aaaa","sessionId":x}`,
		`{"data":"aaaa","sessionId":1`, `{"data":"aaaa","metadata":7}`, `{"data":7}`, `{"metadata":{"deviceWidth":"1"}}`} {
		if _, err := parseEvent([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// FuzzParseEvent compares the fast path with the standard decoder: a payload that
// both accept must mean the same to both.
func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`{"data":"aaaa","metadata":{"deviceWidth":1,"timestamp":1e9},"sessionId":1}`))
	f.Add([]byte(`{"sessionId":-1,"data":"aa==","x":{"data":[1,"]"]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		ev, err := parseEvent(b)
		if err != nil {
			return
		}
		if ev.metadata.time().IsZero() {
			t.Errorf("%q: no time", b)
		}
		if frame, err := decodeFrame(ev.data); err == nil {
			frame.describe(ev.metadata)
			frame.seal(1)
			frame.Release()
		}
		members := map[string]json.RawMessage{}
		if !json.Valid(b) || json.Unmarshal(b, &members) != nil || bytes.Count(b, []byte(`"data"`)) != 1 || bytes.ContainsRune(b, '\\') || !utf8.Valid(b) {
			return
		}
		var data string
		if json.Unmarshal(members["data"], &data) != nil || data != string(ev.data) {
			t.Errorf("%q: data is %q, found %q", b, data, ev.data)
		}
	})
}

func TestJPEGSize(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 321, 123)), nil); err != nil {
		t.Fatal(err)
	}
	if w, h, err := jpegSize(b.Bytes()); err != nil || w != 321 || h != 123 {
		t.Error(w, h, err)
	}
	for n := range 40 { // truncated in the middle of segments
		if _, _, err := jpegSize(b.Bytes()[:n]); err == nil {
			t.Errorf("%d bytes were enough", n)
		}
	}
	if _, _, err := jpegSize([]byte{0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0}); err == nil {
		t.Error("a segment of no length was taken")
	}
}

func BenchmarkPicture(b *testing.B) {
	var raw bytes.Buffer
	raw.WriteString(`{"data":"`)
	var picture bytes.Buffer
	if err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 1280, 720)), nil); err != nil {
		b.Fatal(err)
	}
	data := append(picture.Bytes(), make([]byte, 60<<10)...)
	raw.WriteString(base64.StdEncoding.EncodeToString(data))
	raw.WriteString(`","metadata":{"offsetTop":0,"pageScaleFactor":1,"deviceWidth":1280,"deviceHeight":720,"scrollOffsetX":0,"scrollOffsetY":0,"timestamp":1795246931.811696},"sessionId":1}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		ev, err := parseEvent(raw.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		f, err := decodeFrame(ev.data)
		if err != nil {
			b.Fatal(err)
		}
		f.describe(ev.metadata)
		f.seal(1)
		f.Release()
	}
}
