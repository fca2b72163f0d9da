package automation

import "takeover/keys"

// key is a key of the US keyboard, as a page sees it.
type key struct {
	code     string // KeyboardEvent.code, https://www.w3.org/TR/uievents-code/
	key      string // KeyboardEvent.key
	text     string // the text that it types, or empty
	keyCode  int64  // KeyboardEvent.keyCode, a Windows virtual-key code
	location int64  // KeyboardEvent.location: 1 left, 2 right, 3 numpad
	shifted  *key   // the same key with Shift, if that is different
}

// locationKeypad is the KeyboardEvent.location of keys of the keypad.
const locationKeypad = 3

// scriptKeys maps the key names of scripts to keys: codes ("KeyA"), values ("a",
// "A", "Enter") and short names of the left modifiers.
var scriptKeys = nameKeys()

func nameKeys() map[string]*key {
	m := map[string]*key{}
	for k := range keys.All() {
		if k.Rare {
			continue
		}
		plain := scriptKey(k)
		m[k.Code] = plain
		if k.Plain == "" || k.Keypad {
			continue
		}
		m[k.Plain] = plain
		if plain.shifted != nil {
			m[k.Shift] = plain.shifted
		}
	}
	altGraph, _ := keys.ByName("AltGraph")
	m["AltGraph"] = &key{code: "AltGraph", key: altGraph.Name, keyCode: altGraph.KeyCode}
	for alias, code := range map[string]string{"Shift": "ShiftLeft", "Control": "ControlLeft", "Alt": "AltLeft", "Meta": "MetaLeft", "\n": "Enter", "\r": "Enter"} {
		m[alias] = m[code]
	}
	return m
}

// scriptKey returns a key as a page sees it. This Chromium has no NumLock state:
// keys of the keypad move the cursor, and type only with Shift.
func scriptKey(k keys.Key) *key {
	plain := &key{code: k.Code, key: k.Plain, text: k.Plain, keyCode: k.KeyCode, location: int64(k.Location)}
	if k.Keypad {
		plain.location = locationKeypad
	}
	if k.Name != "" {
		plain.key = k.Name
		if k.Name == "Enter" {
			plain.text = "\r"
		}
		return plain
	}
	shifted := *plain
	shifted.key, shifted.text = k.Shift, k.Shift
	if k.Navigation != "" {
		plain.key, plain.text, plain.keyCode = k.Navigation, "", k.NavigationCode
	}
	if shifted != *plain {
		plain.shifted = &shifted
	}
	return plain
}
