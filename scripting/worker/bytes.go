package worker

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// encode returns a string as UTF-8 in an ArrayBuffer.
func (h *host) encode(c goja.FunctionCall) goja.Value {
	text := strings.ToValidUTF8(c.Argument(0).String(), "\uFFFD")
	return h.w.vm.ToValue(h.w.vm.NewArrayBuffer([]byte(text)))
}

// decode returns the string of an ArrayBuffer's bytes from start to end:
// decode(buffer, start, end, fatal). With fatal, it throws if they are not UTF-8.
func (h *host) decode(c goja.FunctionCall) goja.Value {
	data := h.bytes(c)
	if !utf8.Valid(data) {
		if c.Argument(3).ToBoolean() {
			panic(h.w.vm.NewTypeError("The encoded data was not valid for encoding utf-8"))
		}
		return h.w.vm.ToValue(string([]rune(string(data)))) // each invalid byte becomes U+FFFD
	}
	return h.w.vm.ToValue(string(data))
}

// toBase64 encodes an ArrayBuffer's bytes: toBase64(buffer, start, end).
func (h *host) toBase64(c goja.FunctionCall) goja.Value {
	return h.w.vm.ToValue(base64.StdEncoding.EncodeToString(h.bytes(c)))
}

func (h *host) bytes(c goja.FunctionCall) []byte {
	buffer, ok := c.Argument(0).Export().(goja.ArrayBuffer)
	if !ok {
		panic(h.w.vm.NewTypeError("not an ArrayBuffer"))
	}
	data := buffer.Bytes()
	start, end := c.Argument(1).ToInteger(), c.Argument(2).ToInteger()
	if start < 0 || end > int64(len(data)) || start > end {
		panic(h.w.vm.NewTypeError("outside of the ArrayBuffer"))
	}
	return data[start:end]
}

// fromBase64 decodes text in either alphabet, with or without padding. It returns null
// for text that is not base64.
func (h *host) fromBase64(c goja.FunctionCall) goja.Value {
	text := strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "", "\t", "", "\f", "").Replace(c.Argument(0).String())
	text = strings.TrimRight(text, "=")
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return goja.Null()
	}
	return h.w.vm.ToValue(h.w.vm.NewArrayBuffer(data))
}

// random returns random bytes, at most 64 KiB, as an ArrayBuffer: random(count).
func (h *host) random(c goja.FunctionCall) goja.Value {
	data := make([]byte, min(max(c.Argument(0).ToInteger(), 0), 1<<16))
	_, _ = rand.Read(data) // never fails
	return h.w.vm.ToValue(h.w.vm.NewArrayBuffer(data))
}
