package wire

import (
	"bufio"
	"bytes"
	"testing"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	sent := []Frame{{Kind: KindReady}, {Kind: KindCall, ID: 1 << 40, Name: "frame.click", Payload: []byte(`{"a":1}`)}, {Kind: KindLog, Name: "log", Payload: bytes.Repeat([]byte("x"), 100_000)}}
	for _, f := range sent {
		if err := w.Write(f, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(&b)
	for _, want := range sent {
		got, err := Read(r)
		if err != nil || got.Kind != want.Kind || got.ID != want.ID || got.Name != want.Name || !bytes.Equal(got.Payload, want.Payload) {
			t.Errorf("got %v %v, want %v", got, err, want)
		}
	}
}

// FuzzReadFrame reads hostile frames, because a script may have taken over its
// worker.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 11, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0})
	f.Add([]byte{0, 0, 0, 12, 1, 0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		for {
			got, err := Read(r)
			if err != nil {
				return
			}
			if got.Size() > len(data) {
				t.Fatalf("%d bytes gave a frame of %d", len(data), got.Size())
			}
		}
	})
}
