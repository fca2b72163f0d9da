package automation

// key is one key of the US keyboard as a page sees it.
type key struct {
	code     string // KeyboardEvent.code, https://www.w3.org/TR/uievents-code/
	key      string // KeyboardEvent.key
	text     string // what it enters, if anything
	keyCode  int64  // KeyboardEvent.keyCode, a Windows virtual-key code
	location int64  // KeyboardEvent.location: 1 left, 2 right, 3 numpad
	shifted  *key   // the same key while Shift is down, when that differs
}

const (
	locationLeft   = 1
	locationRight  = 2
	locationNumpad = 3
)

// keys are the keys by the names that a script may use: codes ("KeyA"), values
// ("a", "A", "Enter") and the short names of the left modifiers.
var keys = layoutUS()

// named are the keys that enter no character of their own.
// https://learn.microsoft.com/windows/win32/inputdev/virtual-key-codes
var named = []key{
	{code: "Escape", key: "Escape", keyCode: 27},
	{code: "Backspace", key: "Backspace", keyCode: 8},
	{code: "Tab", key: "Tab", keyCode: 9},
	{code: "Enter", key: "Enter", keyCode: 13, text: "\r"},
	{code: "CapsLock", key: "CapsLock", keyCode: 20},
	{code: "ShiftLeft", key: "Shift", keyCode: 16, location: locationLeft},
	{code: "ShiftRight", key: "Shift", keyCode: 16, location: locationRight},
	{code: "ControlLeft", key: "Control", keyCode: 17, location: locationLeft},
	{code: "ControlRight", key: "Control", keyCode: 17, location: locationRight},
	{code: "AltLeft", key: "Alt", keyCode: 18, location: locationLeft},
	{code: "AltRight", key: "Alt", keyCode: 18, location: locationRight},
	{code: "AltGraph", key: "AltGraph", keyCode: 225},
	{code: "MetaLeft", key: "Meta", keyCode: 91, location: locationLeft},
	{code: "MetaRight", key: "Meta", keyCode: 92, location: locationRight},
	{code: "ContextMenu", key: "ContextMenu", keyCode: 93},
	{code: "PrintScreen", key: "PrintScreen", keyCode: 44},
	{code: "ScrollLock", key: "ScrollLock", keyCode: 145},
	{code: "Pause", key: "Pause", keyCode: 19},
	{code: "PageUp", key: "PageUp", keyCode: 33},
	{code: "PageDown", key: "PageDown", keyCode: 34},
	{code: "End", key: "End", keyCode: 35},
	{code: "Home", key: "Home", keyCode: 36},
	{code: "ArrowLeft", key: "ArrowLeft", keyCode: 37},
	{code: "ArrowUp", key: "ArrowUp", keyCode: 38},
	{code: "ArrowRight", key: "ArrowRight", keyCode: 39},
	{code: "ArrowDown", key: "ArrowDown", keyCode: 40},
	{code: "Insert", key: "Insert", keyCode: 45},
	{code: "Delete", key: "Delete", keyCode: 46},
	{code: "NumLock", key: "NumLock", keyCode: 144},
	{code: "F1", key: "F1", keyCode: 112}, {code: "F2", key: "F2", keyCode: 113}, {code: "F3", key: "F3", keyCode: 114},
	{code: "F4", key: "F4", keyCode: 115}, {code: "F5", key: "F5", keyCode: 116}, {code: "F6", key: "F6", keyCode: 117},
	{code: "F7", key: "F7", keyCode: 118}, {code: "F8", key: "F8", keyCode: 119}, {code: "F9", key: "F9", keyCode: 120},
	{code: "F10", key: "F10", keyCode: 121}, {code: "F11", key: "F11", keyCode: 122}, {code: "F12", key: "F12", keyCode: 123},
	{code: "NumpadEnter", key: "Enter", keyCode: 13, text: "\r", location: locationNumpad},
	{code: "NumpadMultiply", key: "*", keyCode: 106, location: locationNumpad},
	{code: "NumpadAdd", key: "+", keyCode: 107, location: locationNumpad},
	{code: "NumpadSubtract", key: "-", keyCode: 109, location: locationNumpad},
	{code: "NumpadDivide", key: "/", keyCode: 111, location: locationNumpad},
}

// characters are the keys with a character on them, plain and with Shift.
var characters = []struct {
	code, plain, shifted string
	keyCode              int64
}{
	{"Backquote", "`", "~", 192}, {"Minus", "-", "_", 189}, {"Equal", "=", "+", 187},
	{"Digit1", "1", "!", 49}, {"Digit2", "2", "@", 50}, {"Digit3", "3", "#", 51}, {"Digit4", "4", "$", 52}, {"Digit5", "5", "%", 53},
	{"Digit6", "6", "^", 54}, {"Digit7", "7", "&", 55}, {"Digit8", "8", "*", 56}, {"Digit9", "9", "(", 57}, {"Digit0", "0", ")", 48},
	{"BracketLeft", "[", "{", 219}, {"BracketRight", "]", "}", 221}, {"Backslash", `\`, "|", 220},
	{"Semicolon", ";", ":", 186}, {"Quote", "'", `"`, 222}, {"Comma", ",", "<", 188}, {"Period", ".", ">", 190}, {"Slash", "/", "?", 191},
	{"Space", " ", "", 32},
}

// numpad are the digits of the number pad: without NumLock they move, with Shift
// they are digits, which is how Chromium is driven without a NumLock state.
var numpad = []struct {
	digit, name string
	nameCode    int64
}{
	{"0", "Insert", 45}, {"1", "End", 35}, {"2", "ArrowDown", 40}, {"3", "PageDown", 34}, {"4", "ArrowLeft", 37},
	{"5", "Clear", 12}, {"6", "ArrowRight", 39}, {"7", "Home", 36}, {"8", "ArrowUp", 38}, {"9", "PageUp", 33},
}

func layoutUS() map[string]*key {
	m := map[string]*key{}
	character := func(code, plain, shifted string, keyCode int64) {
		k := &key{code: code, key: plain, text: plain, keyCode: keyCode}
		m[code], m[plain] = k, k
		if shifted != "" {
			k.shifted = &key{code: code, key: shifted, text: shifted, keyCode: keyCode}
			m[shifted] = k.shifted
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		upper := string(c - 'a' + 'A')
		character("Key"+upper, string(c), upper, int64(c-'a'+'A'))
	}
	for _, c := range characters {
		character(c.code, c.plain, c.shifted, c.keyCode)
	}
	for _, k := range named {
		if len(k.key) == 1 {
			k.text = k.key
		}
		m[k.code] = &k
	}
	for i, n := range numpad {
		code := "Numpad" + n.digit
		m[code] = &key{
			code: code, key: n.name, keyCode: n.nameCode, location: locationNumpad,
			shifted: &key{code: code, key: n.digit, text: n.digit, keyCode: int64(96 + i), location: locationNumpad},
		}
	}
	m["NumpadDecimal"] = &key{
		code: "NumpadDecimal", key: "Delete", keyCode: 46, location: locationNumpad,
		shifted: &key{code: "NumpadDecimal", key: ".", text: ".", keyCode: 110, location: locationNumpad},
	}
	for alias, code := range map[string]string{"Shift": "ShiftLeft", "Control": "ControlLeft", "Alt": "AltLeft", "Meta": "MetaLeft", "\n": "Enter", "\r": "Enter"} {
		m[alias] = m[code]
	}
	return m
}
