package web

import (
	"bytes"
	"testing"

	"takeover/limits"
)

// TestRenders keeps contents until there is no room.
func TestRenders(t *testing.T) {
	r := &renders{hits: limits.New()}
	first, _ := r.keep([]byte("first"), "text/plain")
	if one, ok := r.get(first); !ok || string(one.content) != "first" || one.mime != "text/plain" {
		t.Errorf("the first: %+v, %v", one, ok)
	}
	if _, ok := r.keep(make([]byte, maxRenderBytes+1), "image/png"); ok {
		t.Error("content that never fits is kept")
	}
	if _, ok := r.get(first); !ok {
		t.Error("content that never fits pushed the first one out")
	}
	last, ok := r.keep(bytes.Repeat([]byte("x"), maxRenderBytes), "image/png")
	if _, kept := r.get(last); !ok || !kept {
		t.Error("content that just fits is not kept")
	}
	if _, kept := r.get(first); kept || r.bytes != maxRenderBytes {
		t.Errorf("the oldest is kept: %v; %d bytes", kept, r.bytes)
	}
}
