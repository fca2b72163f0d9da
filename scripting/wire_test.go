package scripting

import (
	"bufio"
	"bytes"
	"testing"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	w := newFrameWriter(&b)
	sent := []frame{{kind: kindReady}, {kind: kindCall, id: 1 << 40, name: "frame.click", payload: []byte(`{"a":1}`)}, {kind: kindLog, name: "log", payload: bytes.Repeat([]byte("x"), 100_000)}}
	for _, f := range sent {
		if err := w.write(f, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(&b)
	for _, want := range sent {
		got, err := readFrame(r)
		if err != nil || got.kind != want.kind || got.id != want.id || got.name != want.name || !bytes.Equal(got.payload, want.payload) {
			t.Errorf("got %v %v, want %v", got, err, want)
		}
	}
}

// A worker may have been taken over by its script: what it sends is hostile.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 11, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0})
	f.Add([]byte{0, 0, 0, 12, 1, 0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		for {
			got, err := readFrame(r)
			if err != nil {
				return
			}
			if got.size() > len(data) {
				t.Fatalf("%d bytes gave a frame of %d", len(data), got.size())
			}
		}
	})
}
