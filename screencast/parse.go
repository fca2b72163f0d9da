package screencast

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// MaxPictureBytes is the size of the largest accepted picture as base64 text.
const MaxPictureBytes = 64 << 20

var errEvent = errors.New("malformed screencast event")

// castEvent is the payload of Page.screencastFrame. Data points into it.
type castEvent struct {
	data     []byte // base64
	ack      int64  // the number that Page.screencastFrameAck expects
	metadata metadata
}

// metadata holds the needed fields of Page.ScreencastFrameMetadata.
type metadata struct {
	OffsetTop       float64 `json:"offsetTop"`
	PageScaleFactor float64 `json:"pageScaleFactor"`
	DeviceWidth     float64 `json:"deviceWidth"`  // CSS pixels
	DeviceHeight    float64 `json:"deviceHeight"` // CSS pixels
	Timestamp       float64 `json:"timestamp"`    // seconds since the epoch
}

// time returns when Chromium captured the picture, or the present time if
// Chromium does not say.
func (m metadata) time() time.Time {
	if !(m.Timestamp > 0) || m.Timestamp > math.MaxInt64/1e6 {
		return time.Now()
	}
	return time.UnixMicro(int64(m.Timestamp * 1e6))
}

// parseEvent finds the members of the payload without decoding the picture, which
// makes up nearly all of it. Base64 contains no quotes and no backslashes, so it
// ends at the next quote.
func parseEvent(params []byte) (castEvent, error) {
	var ev castEvent
	b := bytes.TrimLeft(params, " \t\r\n")
	if len(b) == 0 || b[0] != '{' {
		return ev, errEvent
	}
	for b = b[1:]; ; {
		b = bytes.TrimLeft(b, " \t\r\n,")
		if len(b) == 0 {
			return ev, errEvent
		}
		if b[0] == '}' {
			break
		}
		key, rest, ok := cutString(b)
		if !ok {
			return ev, errEvent
		}
		b = bytes.TrimLeft(rest, " \t\r\n")
		if len(b) == 0 || b[0] != ':' {
			return ev, errEvent
		}
		b = bytes.TrimLeft(b[1:], " \t\r\n")
		var err error
		if b, err = ev.take(string(key), b); err != nil {
			return ev, err
		}
	}
	if len(ev.data) == 0 || len(ev.data) > MaxPictureBytes {
		return ev, errEvent
	}
	return ev, nil
}

// take reads the value at the start of b and returns the remaining text.
func (ev *castEvent) take(key string, b []byte) ([]byte, error) {
	switch key {
	case "data":
		data, rest, ok := cutString(b)
		if !ok {
			return nil, errEvent
		}
		ev.data = data
		return rest, nil
	case "sessionId":
		end := bytes.IndexAny(b, ",} \t\r\n")
		if end < 0 {
			return nil, errEvent
		}
		n, err := strconv.ParseInt(string(b[:end]), 10, 64)
		if err != nil {
			return nil, errEvent
		}
		ev.ack = n
		return b[end:], nil
	}
	// Other values are small; the standard decoder finds where they end.
	d := json.NewDecoder(bytes.NewReader(b))
	var value any
	if key == "metadata" {
		value = &ev.metadata
	} else {
		value = new(json.RawMessage)
	}
	if err := d.Decode(value); err != nil {
		return nil, fmt.Errorf("%w: %w", errEvent, err)
	}
	return b[d.InputOffset():], nil
}

// cutString cuts a string without escapes off the start of b.
func cutString(b []byte) (value, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	end := bytes.IndexByte(b[1:], '"')
	if end < 0 {
		return nil, nil, false
	}
	return b[1 : 1+end], b[2+end:], true
}
