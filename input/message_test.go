package input

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"takeover/invalid"
)

func TestValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	mouse := Mouse{Event: "move"}
	key := Key{Event: "down", Key: "a"}
	touch := func(p TouchPoint) Touch { return Touch{Event: "start", Points: []TouchPoint{{ID: 1}, p}} }
	with := func(change func(*Mouse)) Mouse { m := mouse; change(&m); return m }
	withKey := func(change func(*Key)) Key { k := key; change(&k); return k }
	for _, tt := range []struct {
		field   string // the invalid field; empty for none
		message interface{ Validate() error }
	}{
		{"", mouse},
		{"", Mouse{Event: "down", Button: "forward", Buttons: 16, X: -5, Y: 1e5, ClickCount: 3, Modifiers: 15}},
		{"event", Mouse{}}, {"event", Mouse{Event: "enter"}},
		{"x", with(func(m *Mouse) { m.X = nan })}, {"x", with(func(m *Mouse) { m.X = inf })}, {"x", with(func(m *Mouse) { m.X = 1e9 })},
		{"y", with(func(m *Mouse) { m.Y = -inf })}, {"y", with(func(m *Mouse) { m.Y = -1e9 })},
		{"button", with(func(m *Mouse) { m.Button = "Left" })}, {"button", Mouse{Event: "down"}}, {"button", Mouse{Event: "up", Button: "none"}},
		{"buttons", with(func(m *Mouse) { m.Buttons = 32 })}, {"buttons", with(func(m *Mouse) { m.Buttons = -1 })},
		{"clickCount", with(func(m *Mouse) { m.ClickCount = -1 })}, {"clickCount", with(func(m *Mouse) { m.ClickCount = 1 << 30 })},
		{"modifiers", with(func(m *Mouse) { m.Modifiers = 16 })},
		{"deltaX", with(func(m *Mouse) { m.DeltaX = nan })}, {"deltaY", with(func(m *Mouse) { m.DeltaY = 1e300 })},

		{"", key}, {"", Key{Event: "up", Code: "KeyA"}},
		{"event", Key{Key: "a"}}, {"key", Key{Event: "down"}},
		{"key", withKey(func(k *Key) { k.Key = strings.Repeat("a", MaxKeyBytes+1) })}, {"key", withKey(func(k *Key) { k.Key = "\xff" })},
		{"code", withKey(func(k *Key) { k.Code = strings.Repeat("a", 1<<20) })}, {"text", withKey(func(k *Key) { k.Text = strings.Repeat("a", 1<<20) })},
		{"location", withKey(func(k *Key) { k.Location = 4 })}, {"location", withKey(func(k *Key) { k.Location = -1 })},
		{"modifiers", withKey(func(k *Key) { k.Modifiers = -1 })},

		{"", Text{strings.Repeat("a", MaxTextBytes)}}, {"text", Text{}}, {"text", Text{strings.Repeat("a", MaxTextBytes+1)}}, {"text", Text{"\xff"}},

		{"", Compose{}}, {"", Compose{"😀", 2, 2}}, {"start", Compose{"a", -1, 1}}, {"start", Compose{"a", 2, 2}},
		{"end", Compose{"ab", 1, 0}}, {"end", Compose{"😀", 0, 3}}, {"text", Compose{Text: strings.Repeat("a", MaxComposeBytes+1)}},

		{"", Touch{Event: "cancel"}}, {"", touch(TouchPoint{ID: 2, X: 3, Y: 4, RadiusX: 1, RadiusY: 1, Force: 1})},
		{"event", Touch{Event: "tap"}}, {"points", Touch{Event: "start"}}, {"points", Touch{Event: "cancel", Points: make([]TouchPoint, MaxTouchPoints+1)}},
		{"points[1].id", touch(TouchPoint{ID: 1})}, {"points[1].x", touch(TouchPoint{X: nan})}, {"points[1].y", touch(TouchPoint{Y: inf})},
		{"points[1].radiusX", touch(TouchPoint{RadiusX: -1})}, {"points[1].radiusY", touch(TouchPoint{RadiusY: 1e9})}, {"points[1].force", touch(TouchPoint{Force: 1.5})},
		{"modifiers", Touch{Event: "cancel", Modifiers: 99}},
	} {
		err := tt.message.Validate()
		var wrong *invalid.Error
		switch {
		case tt.field == "" && err != nil:
			t.Errorf("%+.80v: %v", tt.message, err)
		case tt.field != "" && (!errors.As(err, &wrong) || wrong.Fields[0].Field != tt.field):
			t.Errorf("%+.80v: %v, want an error for %s", tt.message, err, tt.field)
		}
	}
}

// FuzzMessages passes arbitrary viewer messages to all types: each message that
// passes Validate can be translated and is valid JSON for Chromium.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"event":"down","x":1.5,"y":-2,"button":"left","buttons":1,"clickCount":2,"modifiers":8}`,
		`{"event":"down","key":"é","code":"KeyE","location":3,"repeat":true,"modifiers":15,"text":"\r"}`,
		`{"event":"up","key":"","code":"Numpad7"}`, `{"text":"日本","start":1,"end":2}`,
		`{"event":"start","points":[{"id":-1,"x":1,"y":1e5,"radiusX":3,"force":0.5}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var (
			m Mouse
			k Key
			x Text
			c Compose
			o Touch
		)
		if json.Unmarshal(b, &m) == nil && m.Validate() == nil && m.Event == "down" && buttonBits[m.Button] == 0 {
			t.Errorf("%s: no such button", b)
		}
		if json.Unmarshal(b, &k) == nil && k.Validate() == nil {
			p := keyParams(k)
			if p.Text != "\r" && p.Text != "" && !isPrintable(p.Text) {
				t.Errorf("%s types %q", b, p.Text)
			}
			if _, err := json.Marshal(p); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
		if json.Unmarshal(b, &x) == nil && x.Validate() == nil && x.Text == "" {
			t.Errorf("%s: empty text", b)
		}
		if json.Unmarshal(b, &c) == nil && c.Validate() == nil && c.Text == "" && c.End > 0 {
			t.Errorf("%s: selection outside of the text", b)
		}
		if json.Unmarshal(b, &o) == nil && o.Validate() == nil && len(o.Points) == 0 && o.Event != "cancel" {
			t.Errorf("%s: nothing touched", b)
		}
	})
}

func TestLayout(t *testing.T) {
	for _, tt := range []struct {
		key   Key
		vk    int64
		name  string
		text  string
		place int64
		pad   bool
	}{
		{Key{Event: "down", Code: "KeyQ"}, 'Q', "q", "q", 0, false},
		{Key{Event: "down", Code: "KeyQ", Modifiers: ModShift}, 'Q', "Q", "Q", 0, false},
		{Key{Event: "down", Key: "Unidentified", Code: "Digit7", Modifiers: ModShift}, '7', "&", "&", 0, false},
		{Key{Event: "down", Key: "Control", Code: "CapsLock"}, 0x11, "Control", "", 0, false},
		{Key{Event: "down", Key: "Meta", Code: "MetaRight"}, 0x5C, "Meta", "", 2, false},
		{Key{Event: "down", Key: "&", Code: "Digit1"}, '1', "&", "&", 0, false}, // AZERTY
		{Key{Event: "down", Key: "ArrowUp", Code: "Numpad8"}, 0x26, "ArrowUp", "", 0, true},
		{Key{Event: "down", Key: "5", Location: 3}, '5', "5", "5", 0, true},
		{Key{Event: "down", Key: "Enter", Code: "NumpadEnter", Text: "\n"}, 0x0D, "Enter", "\r", 0, true},
		{Key{Event: "down", Key: "c", Code: "KeyC", Modifiers: ModCtrl, Text: "\x03"}, 'C', "c", "", 0, false},
		{Key{Event: "down", Key: "ß", Code: "Minus"}, 0xBD, "ß", "ß", 0, false},
		{Key{Event: "down", Key: "Q̈", Code: "KeyQ"}, 'Q', "Q̈", "", 0, false}, // no key types two characters unless it says so
		{Key{Event: "down", Key: "SoftLeft"}, 0, "SoftLeft", "", 0, false},
	} {
		p := keyParams(tt.key)
		if p.WindowsVirtualKeyCode != tt.vk || p.Key != tt.name || p.Text != tt.text || p.Location != tt.place || (p.IsKeypad != nil) != tt.pad {
			t.Errorf("%+v: %+v", tt.key, p)
		}
	}
}
