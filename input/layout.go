package input

import "strconv"

// physicalKey is a key of the US layout. A key that types has the two runes it
// types; another has a name.
type physicalKey struct {
	vk            int64 // Windows virtual key code, which is the DOM's keyCode
	name          string
	plain, shift  string
	keypad        bool
	location      int    // 1 left, 2 right
	navigation    string // keypad without NumLock
	navigationKey int64
}

// layout has the keys of the US layout by KeyboardEvent.code (UI Events
// KeyboardEvent code Values; the virtual key codes are those of Windows,
// winuser.h, with which Chromium fills keyCode on every system).
var layout = completeLayout(map[string]physicalKey{
	"Backquote":    {vk: 0xC0, plain: "`", shift: "~"},
	"Minus":        {vk: 0xBD, plain: "-", shift: "_"},
	"Equal":        {vk: 0xBB, plain: "=", shift: "+"},
	"BracketLeft":  {vk: 0xDB, plain: "[", shift: "{"},
	"BracketRight": {vk: 0xDD, plain: "]", shift: "}"},
	"Backslash":    {vk: 0xDC, plain: `\`, shift: "|"},
	"Semicolon":    {vk: 0xBA, plain: ";", shift: ":"},
	"Quote":        {vk: 0xDE, plain: "'", shift: `"`},
	"Comma":        {vk: 0xBC, plain: ",", shift: "<"},
	"Period":       {vk: 0xBE, plain: ".", shift: ">"},
	"Slash":        {vk: 0xBF, plain: "/", shift: "?"},
	"Space":        {vk: 0x20, plain: " ", shift: " "},

	// Keys that US keyboards lack: ISO, Japanese and Brazilian ones.
	"IntlBackslash": {vk: 0xE2, plain: `\`, shift: "|"},
	"IntlRo":        {vk: 0xC1, plain: "/", shift: "?"},
	"IntlYen":       {vk: 0xDC, plain: `\`, shift: "|"},
	"Convert":       {vk: 0x1C, name: "Convert"},
	"NonConvert":    {vk: 0x1D, name: "NonConvert"},
	"KanaMode":      {vk: 0x15, name: "KanaMode"},
	"Lang1":         {vk: 0x15, name: "HangulMode"},
	"Lang2":         {vk: 0x19, name: "HanjaMode"},

	"Enter":     {vk: 0x0D, name: "Enter"},
	"Tab":       {vk: 0x09, name: "Tab"},
	"Backspace": {vk: 0x08, name: "Backspace"},
	"Escape":    {vk: 0x1B, name: "Escape"},

	"ShiftLeft":    {vk: 0x10, name: "Shift", location: 1},
	"ShiftRight":   {vk: 0x10, name: "Shift", location: 2},
	"ControlLeft":  {vk: 0x11, name: "Control", location: 1},
	"ControlRight": {vk: 0x11, name: "Control", location: 2},
	"AltLeft":      {vk: 0x12, name: "Alt", location: 1},
	"AltRight":     {vk: 0x12, name: "Alt", location: 2},
	"MetaLeft":     {vk: 0x5B, name: "Meta", location: 1},
	"MetaRight":    {vk: 0x5C, name: "Meta", location: 2},
	"ContextMenu":  {vk: 0x5D, name: "ContextMenu"},
	"CapsLock":     {vk: 0x14, name: "CapsLock"},
	"NumLock":      {vk: 0x90, name: "NumLock"},
	"ScrollLock":   {vk: 0x91, name: "ScrollLock"},
	"PrintScreen":  {vk: 0x2C, name: "PrintScreen"},
	"Pause":        {vk: 0x13, name: "Pause"},
	"Help":         {vk: 0x2F, name: "Help"},

	"PageUp":     {vk: 0x21, name: "PageUp"},
	"PageDown":   {vk: 0x22, name: "PageDown"},
	"End":        {vk: 0x23, name: "End"},
	"Home":       {vk: 0x24, name: "Home"},
	"ArrowLeft":  {vk: 0x25, name: "ArrowLeft"},
	"ArrowUp":    {vk: 0x26, name: "ArrowUp"},
	"ArrowRight": {vk: 0x27, name: "ArrowRight"},
	"ArrowDown":  {vk: 0x28, name: "ArrowDown"},
	"Insert":     {vk: 0x2D, name: "Insert"},
	"Delete":     {vk: 0x2E, name: "Delete"},

	"Numpad0":        {vk: 0x60, plain: "0", shift: "0", keypad: true, navigation: "Insert", navigationKey: 0x2D},
	"Numpad1":        {vk: 0x61, plain: "1", shift: "1", keypad: true, navigation: "End", navigationKey: 0x23},
	"Numpad2":        {vk: 0x62, plain: "2", shift: "2", keypad: true, navigation: "ArrowDown", navigationKey: 0x28},
	"Numpad3":        {vk: 0x63, plain: "3", shift: "3", keypad: true, navigation: "PageDown", navigationKey: 0x22},
	"Numpad4":        {vk: 0x64, plain: "4", shift: "4", keypad: true, navigation: "ArrowLeft", navigationKey: 0x25},
	"Numpad5":        {vk: 0x65, plain: "5", shift: "5", keypad: true, navigation: "Clear", navigationKey: 0x0C},
	"Numpad6":        {vk: 0x66, plain: "6", shift: "6", keypad: true, navigation: "ArrowRight", navigationKey: 0x27},
	"Numpad7":        {vk: 0x67, plain: "7", shift: "7", keypad: true, navigation: "Home", navigationKey: 0x24},
	"Numpad8":        {vk: 0x68, plain: "8", shift: "8", keypad: true, navigation: "ArrowUp", navigationKey: 0x26},
	"Numpad9":        {vk: 0x69, plain: "9", shift: "9", keypad: true, navigation: "PageUp", navigationKey: 0x21},
	"NumpadDecimal":  {vk: 0x6E, plain: ".", shift: ".", keypad: true, navigation: "Delete", navigationKey: 0x2E},
	"NumpadMultiply": {vk: 0x6A, plain: "*", shift: "*", keypad: true},
	"NumpadAdd":      {vk: 0x6B, plain: "+", shift: "+", keypad: true},
	"NumpadComma":    {vk: 0x6C, plain: ",", shift: ",", keypad: true},
	"NumpadSubtract": {vk: 0x6D, plain: "-", shift: "-", keypad: true},
	"NumpadDivide":   {vk: 0x6F, plain: "/", shift: "/", keypad: true},
	"NumpadEqual":    {vk: 0xBB, plain: "=", shift: "=", keypad: true},
	"NumpadEnter":    {vk: 0x0D, name: "Enter", keypad: true},

	"AudioVolumeMute":    {vk: 0xAD, name: "AudioVolumeMute"},
	"AudioVolumeDown":    {vk: 0xAE, name: "AudioVolumeDown"},
	"AudioVolumeUp":      {vk: 0xAF, name: "AudioVolumeUp"},
	"MediaTrackNext":     {vk: 0xB0, name: "MediaTrackNext"},
	"MediaTrackPrevious": {vk: 0xB1, name: "MediaTrackPrevious"},
	"MediaStop":          {vk: 0xB2, name: "MediaStop"},
	"MediaPlayPause":     {vk: 0xB3, name: "MediaPlayPause"},
	"BrowserBack":        {vk: 0xA6, name: "BrowserBack"},
	"BrowserForward":     {vk: 0xA7, name: "BrowserForward"},
	"BrowserRefresh":     {vk: 0xA8, name: "BrowserRefresh"},
	"BrowserStop":        {vk: 0xA9, name: "BrowserStop"},
	"BrowserSearch":      {vk: 0xAA, name: "BrowserSearch"},
	"BrowserFavorites":   {vk: 0xAB, name: "BrowserFavorites"},
	"BrowserHome":        {vk: 0xAC, name: "BrowserHome"},
})

// byName finds a key that does not type by its KeyboardEvent.key, for a viewer
// whose keyboard knows no codes: that of a phone.
var byName = nameKeys(layout)

// vkProcess is the key code of a press that an input method took.
const vkProcess = 0xE5

const digitsShifted = ")!@#$%^&*("

// completeLayout adds letters, digits and function keys.
func completeLayout(keys map[string]physicalKey) map[string]physicalKey {
	for i, letter := range "abcdefghijklmnopqrstuvwxyz" {
		upper := string(letter - 'a' + 'A')
		keys["Key"+upper] = physicalKey{vk: int64('A' + i), plain: string(letter), shift: upper}
	}
	for i := range 10 {
		digit := strconv.Itoa(i)
		keys["Digit"+digit] = physicalKey{vk: int64('0' + i), plain: digit, shift: digitsShifted[i : i+1]}
	}
	for i := range 24 {
		name := "F" + strconv.Itoa(i+1)
		keys[name] = physicalKey{vk: int64(0x70 + i), name: name}
	}
	return keys
}

func nameKeys(keys map[string]physicalKey) map[string]physicalKey {
	names := map[string]physicalKey{
		"AltGraph": {vk: 0xE1, name: "AltGraph", location: 2},
		"Process":  {vk: vkProcess, name: "Process"},
	}
	for code, k := range keys {
		if k.name != "" && !k.keypad && (code == k.name || k.location == 1) {
			names[k.name] = k
		}
	}
	return names
}
