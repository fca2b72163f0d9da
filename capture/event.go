package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/redact"
	"takeover/text"
)

// MaxEventBytes bounds the size of one event as JSON. Larger events are cut, and
// Truncated is set.
const MaxEventBytes = 1_000_000

// ErrEventType is returned for an event type that does not exist, or that only
// the monitor may write.
var ErrEventType = errors.New("not a type of event that can be added")

// Event is one event. Do not change an event from a Ring: all readers share its
// memory.
type Event struct {
	CaptureSessionID string          `json:"capture_session_id" doc:"The capture that the event belongs to."`
	Seq              uint64          `json:"seq" doc:"The event's number in its session, from 1."`
	TS               int64           `json:"ts" doc:"Milliseconds since 1970."`
	Type             string          `json:"type" doc:"The event's type, such as console_log."`
	Category         string          `json:"category" doc:"The type's category, such as console."`
	TargetID         string          `json:"target_id,omitempty" doc:"The tab or worker, as the DevTools protocol names it."`
	CDPSessionID     string          `json:"cdp_session_id,omitempty" doc:"The DevTools protocol's session."`
	FrameID          string          `json:"frame_id,omitempty" doc:"The frame in which it happened."`
	ParentFrameID    string          `json:"parent_frame_id,omitempty" doc:"Only for events in a frame within a page."`
	URL              string          `json:"url,omitempty" doc:"The document or worker in which it happened."`
	Data             json.RawMessage `json:"data" doc:"What happened. Its fields depend on the type."`
	Truncated        bool            `json:"truncated,omitempty" doc:"A part was cut because it was too long."`

	encoded []byte // the whole event as JSON; set by the ring
}

// NewEvent returns an event of the given type with the present time, for
// Monitor.Add. data is encoded as a JSON object; nil means an empty one. The type
// determines the category.
func NewEvent(eventType string, data any) (Event, error) {
	category := CategoryOf(eventType)
	if category == "" {
		return Event{}, fmt.Errorf("event %q: %w", eventType, ErrEventType)
	}
	e := Event{TS: time.Now().UnixMilli(), Type: eventType, Category: category}
	if data == nil {
		return e, nil
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return Event{}, fmt.Errorf("event %q: %w", eventType, err)
	}
	if len(raw) == 0 || raw[0] != '{' {
		return Event{}, fmt.Errorf("event %q: data is not an object", eventType)
	}
	e.Data = raw
	return e, nil
}

// JSON returns the event as one line of JSON. For an event from a ring, all
// readers share it, and it must not be changed.
func (e Event) JSON() []byte {
	if e.encoded != nil {
		return e.encoded
	}
	b := append(make([]byte, 0, len(e.Data)+256), `{"seq":`...)
	b = strconv.AppendUint(b, e.Seq, 10)
	return e.appendTail(append(b, ','))
}

// DecodeEvent parses the result of Event.JSON. The event shares memory with text.
func DecodeEvent(text []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(text, &e); err != nil {
		return Event{}, fmt.Errorf("read event: %w", err)
	}
	e.encoded = text
	return e, nil
}

// MarshalJSON returns the same as JSON.
func (e Event) MarshalJSON() ([]byte, error) { return e.JSON(), nil }

// appendTail writes everything except the seq, which the ring sets last.
func (e *Event) appendTail(b []byte) []byte {
	b = append(b, `"capture_session_id":`...)
	b = text.AppendQuoted(b, e.CaptureSessionID)
	b = append(b, `,"ts":`...)
	b = strconv.AppendInt(b, e.TS, 10)
	b = append(b, `,"type":`...)
	b = text.AppendQuoted(b, e.Type)
	b = append(b, `,"category":`...)
	b = text.AppendQuoted(b, e.Category)
	b = appendField(b, `,"target_id":`, e.TargetID)
	b = appendField(b, `,"cdp_session_id":`, e.CDPSessionID)
	b = appendField(b, `,"frame_id":`, e.FrameID)
	b = appendField(b, `,"parent_frame_id":`, e.ParentFrameID)
	b = appendField(b, `,"url":`, e.URL)
	if e.Truncated {
		b = append(b, `,"truncated":true`...)
	}
	b = append(b, `,"data":`...)
	if len(e.Data) == 0 {
		b = append(b, '{', '}')
	} else {
		b = append(b, e.Data...)
	}
	return append(b, '}')
}

func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return text.AppendQuoted(append(b, name...), value)
}

// lenient are the options with which mappings read and write JSON. Text from
// pages may contain anything, including lone surrogates; invalid Unicode becomes
// U+FFFD. Duplicate names are allowed, because neither Chromium nor a mapping
// writes them, and checking for them would take longer than everything else.
var lenient = jsonv2.JoinOptions(jsonv2.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// encode writes the data of a mapping.
func encode(data any) (json.RawMessage, error) { return jsonv2.Marshal(data, lenient) }

// Redact redacts an event's URL and data. The bytes of a picture stay unchanged.
func (e *Event) Redact(r *redact.Redactor) {
	e.URL = r.Text(e.URL)
	if len(e.Data) > 0 && e.Category != CategoryScreenshot {
		e.Data = r.Document(e.Data)
	}
}

// decode decodes a CDP payload into a type of the mapping. Types of cdproto would
// reject lone surrogates in page text.
func decode(params []byte, v any) error { return jsonv2.Unmarshal(params, v, lenient) }

// cut shortens s to at most limit bytes at a rune boundary, and reports whether
// it did.
func cut(s string, limit int) (string, bool) {
	return text.Clip(s, limit), len(s) > limit
}
