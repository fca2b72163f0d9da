// Package keys describes the keys of a keyboard with the US layout: what each key
// types, its names and its numbers.
package keys

import (
	"iter"
	"maps"
	"strconv"
)

// Key is a key. A key that types has the two texts that it types; any other key
// has a name.
type Key struct {
	Code           string // KeyboardEvent.code: the position of the key
	KeyCode        int64  // KeyboardEvent.keyCode, a Windows virtual key code
	Name           string // KeyboardEvent.key, for a key that types nothing
	Plain, Shift   string // what it types, without and with Shift
	Keypad         bool
	Location       int    // 1 left or 2 right, for two keys with the same name; otherwise 0
	Navigation     string // KeyboardEvent.key of a keypad key without NumLock, if that differs
	NavigationCode int64  // KeyboardEvent.keyCode of a keypad key without NumLock
	Rare           bool   // missing on most US keyboards
}

// Process is the key code of a press that an input method handled.
const Process = 0xE5

// ByCode finds a key by its KeyboardEvent.code.
func ByCode(code string) (Key, bool) {
	k, ok := byCode[code]
	return k, ok
}

// ByName finds a key that types no text, by its KeyboardEvent.key. Keyboards
// without codes, such as a phone's, identify keys in this way.
func ByName(name string) (Key, bool) {
	k, ok := byName[name]
	return k, ok
}

// All returns the keys that have a code, in no particular order.
func All() iter.Seq[Key] { return maps.Values(byCode) }

var (
	byCode = complete(codes)
	byName = named(byCode)
)

// codes maps KeyboardEvent.code to keys, except for letters, digits and function
// keys (UI Events KeyboardEvent code Values). The key codes are those of Windows
// (winuser.h), which Chromium uses on every system.
var codes = map[string]Key{
	"Backquote":    {KeyCode: 0xC0, Plain: "`", Shift: "~"},
	"Minus":        {KeyCode: 0xBD, Plain: "-", Shift: "_"},
	"Equal":        {KeyCode: 0xBB, Plain: "=", Shift: "+"},
	"BracketLeft":  {KeyCode: 0xDB, Plain: "[", Shift: "{"},
	"BracketRight": {KeyCode: 0xDD, Plain: "]", Shift: "}"},
	"Backslash":    {KeyCode: 0xDC, Plain: `\`, Shift: "|"},
	"Semicolon":    {KeyCode: 0xBA, Plain: ";", Shift: ":"},
	"Quote":        {KeyCode: 0xDE, Plain: "'", Shift: `"`},
	"Comma":        {KeyCode: 0xBC, Plain: ",", Shift: "<"},
	"Period":       {KeyCode: 0xBE, Plain: ".", Shift: ">"},
	"Slash":        {KeyCode: 0xBF, Plain: "/", Shift: "?"},
	"Space":        {KeyCode: 0x20, Plain: " ", Shift: " "},

	// Keys that US keyboards lack: ISO, Japanese and Brazilian ones.
	"IntlBackslash": {KeyCode: 0xE2, Plain: `\`, Shift: "|", Rare: true},
	"IntlRo":        {KeyCode: 0xC1, Plain: "/", Shift: "?", Rare: true},
	"IntlYen":       {KeyCode: 0xDC, Plain: `\`, Shift: "|", Rare: true},
	"Convert":       {KeyCode: 0x1C, Name: "Convert", Rare: true},
	"NonConvert":    {KeyCode: 0x1D, Name: "NonConvert", Rare: true},
	"KanaMode":      {KeyCode: 0x15, Name: "KanaMode", Rare: true},
	"Lang1":         {KeyCode: 0x15, Name: "HangulMode", Rare: true},
	"Lang2":         {KeyCode: 0x19, Name: "HanjaMode", Rare: true},

	"Enter":     {KeyCode: 0x0D, Name: "Enter"},
	"Tab":       {KeyCode: 0x09, Name: "Tab"},
	"Backspace": {KeyCode: 0x08, Name: "Backspace"},
	"Escape":    {KeyCode: 0x1B, Name: "Escape"},

	"ShiftLeft":    {KeyCode: 0x10, Name: "Shift", Location: 1},
	"ShiftRight":   {KeyCode: 0x10, Name: "Shift", Location: 2},
	"ControlLeft":  {KeyCode: 0x11, Name: "Control", Location: 1},
	"ControlRight": {KeyCode: 0x11, Name: "Control", Location: 2},
	"AltLeft":      {KeyCode: 0x12, Name: "Alt", Location: 1},
	"AltRight":     {KeyCode: 0x12, Name: "Alt", Location: 2},
	"MetaLeft":     {KeyCode: 0x5B, Name: "Meta", Location: 1},
	"MetaRight":    {KeyCode: 0x5C, Name: "Meta", Location: 2},
	"ContextMenu":  {KeyCode: 0x5D, Name: "ContextMenu"},
	"CapsLock":     {KeyCode: 0x14, Name: "CapsLock"},
	"NumLock":      {KeyCode: 0x90, Name: "NumLock"},
	"ScrollLock":   {KeyCode: 0x91, Name: "ScrollLock"},
	"PrintScreen":  {KeyCode: 0x2C, Name: "PrintScreen"},
	"Pause":        {KeyCode: 0x13, Name: "Pause"},
	"Help":         {KeyCode: 0x2F, Name: "Help", Rare: true},

	"PageUp":     {KeyCode: 0x21, Name: "PageUp"},
	"PageDown":   {KeyCode: 0x22, Name: "PageDown"},
	"End":        {KeyCode: 0x23, Name: "End"},
	"Home":       {KeyCode: 0x24, Name: "Home"},
	"ArrowLeft":  {KeyCode: 0x25, Name: "ArrowLeft"},
	"ArrowUp":    {KeyCode: 0x26, Name: "ArrowUp"},
	"ArrowRight": {KeyCode: 0x27, Name: "ArrowRight"},
	"ArrowDown":  {KeyCode: 0x28, Name: "ArrowDown"},
	"Insert":     {KeyCode: 0x2D, Name: "Insert"},
	"Delete":     {KeyCode: 0x2E, Name: "Delete"},

	"Numpad0":        {KeyCode: 0x60, Plain: "0", Shift: "0", Keypad: true, Navigation: "Insert", NavigationCode: 0x2D},
	"Numpad1":        {KeyCode: 0x61, Plain: "1", Shift: "1", Keypad: true, Navigation: "End", NavigationCode: 0x23},
	"Numpad2":        {KeyCode: 0x62, Plain: "2", Shift: "2", Keypad: true, Navigation: "ArrowDown", NavigationCode: 0x28},
	"Numpad3":        {KeyCode: 0x63, Plain: "3", Shift: "3", Keypad: true, Navigation: "PageDown", NavigationCode: 0x22},
	"Numpad4":        {KeyCode: 0x64, Plain: "4", Shift: "4", Keypad: true, Navigation: "ArrowLeft", NavigationCode: 0x25},
	"Numpad5":        {KeyCode: 0x65, Plain: "5", Shift: "5", Keypad: true, Navigation: "Clear", NavigationCode: 0x0C},
	"Numpad6":        {KeyCode: 0x66, Plain: "6", Shift: "6", Keypad: true, Navigation: "ArrowRight", NavigationCode: 0x27},
	"Numpad7":        {KeyCode: 0x67, Plain: "7", Shift: "7", Keypad: true, Navigation: "Home", NavigationCode: 0x24},
	"Numpad8":        {KeyCode: 0x68, Plain: "8", Shift: "8", Keypad: true, Navigation: "ArrowUp", NavigationCode: 0x26},
	"Numpad9":        {KeyCode: 0x69, Plain: "9", Shift: "9", Keypad: true, Navigation: "PageUp", NavigationCode: 0x21},
	"NumpadDecimal":  {KeyCode: 0x6E, Plain: ".", Shift: ".", Keypad: true, Navigation: "Delete", NavigationCode: 0x2E},
	"NumpadMultiply": {KeyCode: 0x6A, Plain: "*", Shift: "*", Keypad: true},
	"NumpadAdd":      {KeyCode: 0x6B, Plain: "+", Shift: "+", Keypad: true},
	"NumpadComma":    {KeyCode: 0x6C, Plain: ",", Shift: ",", Keypad: true, Rare: true},
	"NumpadSubtract": {KeyCode: 0x6D, Plain: "-", Shift: "-", Keypad: true},
	"NumpadDivide":   {KeyCode: 0x6F, Plain: "/", Shift: "/", Keypad: true},
	"NumpadEqual":    {KeyCode: 0xBB, Plain: "=", Shift: "=", Keypad: true, Rare: true},
	"NumpadEnter":    {KeyCode: 0x0D, Name: "Enter", Keypad: true},

	"AudioVolumeMute":    {KeyCode: 0xAD, Name: "AudioVolumeMute", Rare: true},
	"AudioVolumeDown":    {KeyCode: 0xAE, Name: "AudioVolumeDown", Rare: true},
	"AudioVolumeUp":      {KeyCode: 0xAF, Name: "AudioVolumeUp", Rare: true},
	"MediaTrackNext":     {KeyCode: 0xB0, Name: "MediaTrackNext", Rare: true},
	"MediaTrackPrevious": {KeyCode: 0xB1, Name: "MediaTrackPrevious", Rare: true},
	"MediaStop":          {KeyCode: 0xB2, Name: "MediaStop", Rare: true},
	"MediaPlayPause":     {KeyCode: 0xB3, Name: "MediaPlayPause", Rare: true},
	"BrowserBack":        {KeyCode: 0xA6, Name: "BrowserBack", Rare: true},
	"BrowserForward":     {KeyCode: 0xA7, Name: "BrowserForward", Rare: true},
	"BrowserRefresh":     {KeyCode: 0xA8, Name: "BrowserRefresh", Rare: true},
	"BrowserStop":        {KeyCode: 0xA9, Name: "BrowserStop", Rare: true},
	"BrowserSearch":      {KeyCode: 0xAA, Name: "BrowserSearch", Rare: true},
	"BrowserFavorites":   {KeyCode: 0xAB, Name: "BrowserFavorites", Rare: true},
	"BrowserHome":        {KeyCode: 0xAC, Name: "BrowserHome", Rare: true},
}

const digitsShifted = ")!@#$%^&*("

// complete adds letters, digits and function keys, and sets the code of each
// key.
func complete(keys map[string]Key) map[string]Key {
	for i, letter := range "abcdefghijklmnopqrstuvwxyz" {
		upper := string(letter - 'a' + 'A')
		keys["Key"+upper] = Key{KeyCode: int64('A' + i), Plain: string(letter), Shift: upper}
	}
	for i := range 10 {
		digit := strconv.Itoa(i)
		keys["Digit"+digit] = Key{KeyCode: int64('0' + i), Plain: digit, Shift: digitsShifted[i : i+1]}
	}
	for i := range 24 {
		name := "F" + strconv.Itoa(i+1)
		keys[name] = Key{KeyCode: int64(0x70 + i), Name: name, Rare: i >= 12}
	}
	for code, k := range keys {
		k.Code = code
		keys[code] = k
	}
	return keys
}

// named maps names to the keys that type no text. Of two keys with the same
// name, it takes the left one.
func named(keys map[string]Key) map[string]Key {
	names := map[string]Key{
		"AltGraph": {KeyCode: 0xE1, Name: "AltGraph", Location: 2},
		"Process":  {KeyCode: Process, Name: "Process"},
	}
	for code, k := range keys {
		if k.Name != "" && !k.Keypad && (code == k.Name || k.Location == 1) {
			names[k.Name] = k
		}
	}
	return names
}
