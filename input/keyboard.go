package input

import (
	"unicode"
	"unicode/utf8"

	cdpinput "github.com/chromedp/cdproto/input"
)

// macShortcuts maps a Mac's Command shortcuts to editing commands, because
// Chromium on other systems knows only those with Control. The names are Blink's
// (third_party/blink/renderer/core/editing/commands/editor_command_names.h).
var macShortcuts = map[string]string{
	"KeyA": "SelectAll", "KeyC": "Copy", "KeyV": "Paste", "KeyX": "Cut", "KeyZ": "Undo",
}

// keyParams translates a key to the parameters of Input.dispatchKeyEvent.
func keyParams(k Key) cdpinput.DispatchKeyEventParams {
	known := describe(k)
	p := cdpinput.DispatchKeyEventParams{
		Type:                  cdpinput.DispatchKeyEventTypeKeyUp,
		Modifiers:             int64(k.Modifiers),
		Key:                   k.Key,
		Code:                  k.Code,
		WindowsVirtualKeyCode: known.vk,
		NativeVirtualKeyCode:  known.vk,
	}
	if p.Key == "" || p.Key == "Unidentified" {
		p.Key = known.typed(k.Modifiers&ModShift != 0)
	}
	// isKeypad marks keys of the keypad, because a location of 3 reaches the page
	// as 0.
	switch {
	case known.keypad || k.Location == 3:
		p.IsKeypad = new(true)
	case known.location != 0:
		p.Location = int64(known.location)
	default:
		p.Location = int64(k.Location)
	}
	if k.Event == "up" {
		return p
	}
	// A page gets the same events from keyDown without a text as from rawKeyDown.
	// But Chromium's own shortcuts (DevTools, the source view, another window)
	// react only to rawKeyDown, and a viewer should not reach them.
	p.Type = cdpinput.DispatchKeyEventTypeKeyDown
	if ofChromium(k) {
		p.Type = cdpinput.DispatchKeyEventTypeRawKeyDown
	}
	if text := textOf(k, p.Key); text != "" {
		p.Text, p.UnmodifiedText = text, text
	}
	if k.Repeat {
		p.AutoRepeat = new(true)
	}
	if k.Modifiers&(ModAlt|ModCtrl|ModMeta) == ModMeta {
		command := macShortcuts[k.Code]
		if command == "Undo" && k.Modifiers&ModShift != 0 {
			command = "Redo"
		}
		if command != "" {
			p.Commands = []string{command}
		}
	}
	return p
}

// ofChromium reports whether a key has a use in Chromium itself that a viewer
// needs: leaving fullscreen, or opening the context menu.
func ofChromium(k Key) bool {
	switch k.Code {
	case "Escape", "ContextMenu":
		return k.Modifiers == 0
	case "F10":
		return k.Modifiers == ModShift
	}
	return false
}

// describe finds the pressed key: by its place on the keyboard, or, when the
// viewer's layout differs from the US one, by its meaning in that layout.
func describe(k Key) physicalKey {
	known, placed := layout[k.Code]
	if k.Key == "Process" || k.Key == "AltGraph" {
		named := byName[k.Key]
		if known.location != 0 {
			named.location = known.location
		}
		return named
	}
	if !placed {
		if known, placed = byName[k.Key]; placed {
			return known
		}
	}
	if known.keypad {
		if known.navigation != "" && k.Key == known.navigation {
			known.vk = known.navigationKey
		}
		return known
	}
	if len(k.Key) != 1 {
		// A key with a changed function, such as CapsLock as Control.
		if named, ok := byName[k.Key]; ok && known.name != k.Key {
			named.location = known.location
			return named
		}
		return known
	}
	// A letter has its own key code wherever it is: Z of a German keyboard is at
	// KeyY.
	switch c := k.Key[0]; {
	case c >= 'a' && c <= 'z':
		known.vk = int64(c - 'a' + 'A')
	case c >= 'A' && c <= 'Z':
		known.vk = int64(c)
	case known.vk == 0 && c >= '0' && c <= '9':
		known.vk = int64(c)
	case known.vk == 0 && c == ' ':
		known.vk = layout["Space"].vk
	}
	return known
}

// typed is the key's KeyboardEvent.key in the US layout.
func (k physicalKey) typed(shift bool) string {
	switch {
	case k.name != "":
		return k.name
	case shift:
		return k.shift
	}
	return k.plain
}

// textOf is the text that the press enters: the viewer's text if it can be
// entered, or else the key itself if it is a character and no modifier makes it a
// shortcut.
func textOf(k Key, key string) string {
	if isPrintable(k.Text) {
		return k.Text
	}
	if k.Modifiers&(ModAlt|ModCtrl|ModMeta) != 0 {
		return ""
	}
	if key == "Enter" {
		return "\r"
	}
	if isPrintable(key) && isOneCharacter(key) {
		return key
	}
	return ""
}

func isPrintable(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) {
			return false
		}
	}
	return s != ""
}

// isOneCharacter tells a key that types from a named one: names are ASCII words,
// and a character may consist of several code points.
func isOneCharacter(key string) bool {
	r, size := utf8.DecodeRuneInString(key)
	return size == len(key) || r >= utf8.RuneSelf
}
