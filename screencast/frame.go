package screencast

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// HeaderBytes is the length of the header in front of a picture on the wire.
const HeaderBytes = 28

const (
	kindPicture   = 1
	flagSharp     = 1
	pooledPicture = 128 << 10 // first capacity of a pooled buffer, in bytes; it grows as pages need
)

// Format is the number of an image format on the wire.
type Format uint8

// The formats of the wire header. A cast sends JPEG.
const (
	JPEG Format = 1
	PNG  Format = 2
	WebP Format = 3
)

var errNotJPEG = errors.New("not a JPEG image")

// Frame is one picture. It never changes and may be shared between goroutines. A
// caller of Subscription.Next must call Release when it no longer needs the
// frame.
type Frame struct {
	Seq        uint32 // rises by one with each captured picture
	Format     Format
	Sharp      bool // a still of high quality, captured because nothing moved
	CapturedAt time.Time

	Width, Height                 int // size of the image, in pixels
	ViewportWidth, ViewportHeight int // size of the page, in CSS pixels

	// OffsetTop and PageScale describe Chromium's visual viewport: the height
	// above the page in CSS pixels, and the pinch zoom.
	OffsetTop, PageScale float64

	message []byte // header and image
	buf     *[]byte
	refs    atomic.Int32

	smallMu sync.Mutex     // held while a smaller one is made
	small   map[int]*Frame // the same picture at some of levels; nil where that is not smaller
}

// Data returns the encoded image. It is valid until Release and must not be
// changed.
func (f *Frame) Data() []byte { return f.message[HeaderBytes:] }

// Message returns the whole binary message for a viewer: the header with the tab
// number from the cast's options, and the image. It is valid until Release and
// must not be changed.
func (f *Frame) Message() []byte { return f.message }

// AppendHeader appends the wire header of the picture, with a tab number, to dst.
// It is big-endian and HeaderBytes long.
func (f *Frame) AppendHeader(dst []byte, tab uint32) []byte {
	var flags byte
	if f.Sharp {
		flags |= flagSharp
	}
	dst = append(dst, kindPicture, byte(f.Format), flags, 0)
	dst = binary.BigEndian.AppendUint32(dst, f.Seq)
	dst = binary.BigEndian.AppendUint64(dst, uint64(max(f.CapturedAt.UnixMicro(), 0)))
	dst = binary.BigEndian.AppendUint16(dst, clampUint16(f.Width))
	dst = binary.BigEndian.AppendUint16(dst, clampUint16(f.Height))
	dst = binary.BigEndian.AppendUint16(dst, clampUint16(f.ViewportWidth))
	dst = binary.BigEndian.AppendUint16(dst, clampUint16(f.ViewportHeight))
	return binary.BigEndian.AppendUint32(dst, tab)
}

func clampUint16(n int) uint16 {
	return uint16(min(max(n, 0), 1<<16-1))
}

// density returns the number of pixels per CSS pixel, rounded up.
func (f *Frame) density() int {
	return max((f.Width+f.ViewportWidth-1)/max(f.ViewportWidth, 1), 1)
}

// Release returns the picture's memory to a pool. The garbage collector frees
// pictures that are not released.
func (f *Frame) Release() {
	if f.refs.Add(-1) != 0 {
		return
	}
	for _, small := range f.small {
		if small != nil {
			small.Release()
		}
	}
	pictures.Put(f.buf)
	f.buf, f.message, f.small = nil, nil, nil
}

func (f *Frame) retain() *Frame {
	f.refs.Add(1)
	return f
}

var pictures = sync.Pool{New: func() any { b := make([]byte, 0, pooledPicture); return &b }}

// decodeFrame decodes a base64 JPEG into a pooled buffer, leaves room for the
// header, and reads the image's size. The caller sets the other fields and calls
// seal. The frame has one reference.
func decodeFrame(encoded []byte) (*Frame, error) {
	buf := pictures.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	need := HeaderBytes + base64.StdEncoding.DecodedLen(len(encoded))
	if cap(*buf) < need {
		*buf = make([]byte, 0, need+need/4)
	}
	message := (*buf)[:need]
	n, err := base64.StdEncoding.Decode(message[HeaderBytes:], encoded)
	if err != nil {
		pictures.Put(buf)
		return nil, fmt.Errorf("decode picture: %w", err)
	}
	f := &Frame{Format: JPEG, PageScale: 1, message: message[:HeaderBytes+n], buf: buf}
	f.refs.Store(1)
	if f.Width, f.Height, err = jpegSize(f.Data()); err != nil {
		f.Release()
		return nil, err
	}
	return f, nil
}

// seal writes the header in front of the image. After that the frame does not
// change.
func (f *Frame) seal(tab uint32) { f.AppendHeader(f.message[:0], tab) }

// jpegSize reads the size from the frame header of a JPEG image (ITU-T T.81,
// B.2.2). It skips segments up to the first SOFn marker.
func jpegSize(b []byte) (width, height int, err error) {
	if len(b) < 4 || b[0] != 0xFF || b[1] != 0xD8 {
		return 0, 0, errNotJPEG
	}
	for i := 2; i+9 <= len(b); {
		if b[i] != 0xFF {
			return 0, 0, errNotJPEG
		}
		marker := b[i+1]
		switch {
		case marker == 0xFF: // fill byte
			i++
			continue
		case marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC: // SOF, not DHT, JPG, DAC
			return int(binary.BigEndian.Uint16(b[i+7:])), int(binary.BigEndian.Uint16(b[i+5:])), nil
		}
		length := int(binary.BigEndian.Uint16(b[i+2:]))
		if length < 2 {
			return 0, 0, errNotJPEG
		}
		i += 2 + length
	}
	return 0, 0, errNotJPEG
}
