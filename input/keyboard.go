package input

import (
	"unicode"
	"unicode/utf8"

	cdpinput "github.com/chromedp/cdproto/input"

	"takeover/keys"
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
		WindowsVirtualKeyCode: known.KeyCode,
		NativeVirtualKeyCode:  known.KeyCode,
	}
	if p.Key == "" || p.Key == "Unidentified" {
		p.Key = typed(known, k.Modifiers&ModShift != 0)
	}
	// IsKeypad says that the key is on the keypad, because a location of 3
	// reaches the page as 0.
	switch {
	case known.Keypad || k.Location == 3:
		p.IsKeypad = new(true)
	case known.Location != 0:
		p.Location = int64(known.Location)
	default:
		p.Location = int64(k.Location)
	}
	if k.Event == "up" {
		return p
	}
	// keyDown without a text causes the same events in the page as rawKeyDown.
	// But rawKeyDown also triggers Chromium's own shortcuts (DevTools, the source
	// view, another window), which a viewer should not reach.
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

// describe identifies the pressed key by its position on the keyboard. If the
// viewer's layout differs from the US one, describe identifies it by its meaning
// in that layout.
func describe(k Key) keys.Key {
	known, placed := keys.ByCode(k.Code)
	if k.Key == "Process" || k.Key == "AltGraph" {
		named, _ := keys.ByName(k.Key)
		if known.Location != 0 {
			named.Location = known.Location
		}
		return named
	}
	if !placed {
		if known, placed = keys.ByName(k.Key); placed {
			return known
		}
	}
	if known.Keypad {
		if known.Navigation != "" && k.Key == known.Navigation {
			known.KeyCode = known.NavigationCode
		}
		return known
	}
	if len(k.Key) != 1 {
		// A key with a changed function, such as CapsLock used as Control.
		if named, ok := keys.ByName(k.Key); ok && known.Name != k.Key {
			named.Location = known.Location
			return named
		}
		return known
	}
	// A letter has its own key code wherever it is: Z of a German keyboard is at
	// KeyY.
	switch c := k.Key[0]; {
	case c >= 'a' && c <= 'z':
		known.KeyCode = int64(c - 'a' + 'A')
	case c >= 'A' && c <= 'Z':
		known.KeyCode = int64(c)
	case known.KeyCode == 0 && c >= '0' && c <= '9':
		known.KeyCode = int64(c)
	case known.KeyCode == 0 && c == ' ':
		space, _ := keys.ByCode("Space")
		known.KeyCode = space.KeyCode
	}
	return known
}

// typed returns the key's KeyboardEvent.key in the US layout.
func typed(k keys.Key, shift bool) string {
	switch {
	case k.Name != "":
		return k.Name
	case shift:
		return k.Shift
	}
	return k.Plain
}

// textOf returns the text that the press enters: the viewer's text if it can be
// entered. Otherwise it is the key itself, if that is a character and no modifier
// makes it a shortcut.
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

// isOneCharacter distinguishes a key that types from a named one. Names are ASCII
// words, and a character may consist of several code points.
func isOneCharacter(key string) bool {
	r, size := utf8.DecodeRuneInString(key)
	return size == len(key) || r >= utf8.RuneSelf
}
