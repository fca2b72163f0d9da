package input

import "takeover/keys"

// Command is an editing command with a keyboard shortcut.
type Command string

// The commands, by the codes of their keys.
const (
	Copy  Command = "KeyC"
	Cut   Command = "KeyX"
	Paste Command = "KeyV"
)

// Edit presses and releases the shortcut of a command: Control and a letter. It
// does not press Control if that is already down. The page gets the same key
// events as from a person, and may handle them itself.
func (d *Dispatcher) Edit(c Command) error {
	d.mu.Lock()
	held := d.heldModifiersLocked()&ModCtrl != 0
	d.mu.Unlock()
	k, _ := keys.ByCode(string(c))
	letter := k.Plain
	presses := []Key{
		{Event: "down", Key: "Control", Code: "ControlLeft", Modifiers: ModCtrl, Location: 1},
		{Event: "down", Key: letter, Code: string(c), Modifiers: ModCtrl},
		{Event: "up", Key: letter, Code: string(c), Modifiers: ModCtrl},
		{Event: "up", Key: "Control", Code: "ControlLeft", Location: 1},
	}
	if held {
		presses = presses[1:3]
	}
	for _, k := range presses {
		if err := d.Key(k); err != nil {
			return err
		}
	}
	return nil
}
