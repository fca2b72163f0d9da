package input

// Command is an editing command with a shortcut of its own.
type Command string

// The commands, by the place of their keys.
const (
	Copy  Command = "KeyC"
	Cut   Command = "KeyX"
	Paste Command = "KeyV"
)

// Edit presses the shortcut of a command and lets go of it: Control and a
// letter, and Control only where it is not down already. The page gets the key
// events and may do something else with them, as with anybody's.
func (d *Dispatcher) Edit(c Command) error {
	d.mu.Lock()
	held := d.heldModifiersLocked()&ModCtrl != 0
	d.mu.Unlock()
	letter := layout[string(c)].plain
	keys := []Key{
		{Event: "down", Key: "Control", Code: "ControlLeft", Modifiers: ModCtrl, Location: 1},
		{Event: "down", Key: letter, Code: string(c), Modifiers: ModCtrl},
		{Event: "up", Key: letter, Code: string(c), Modifiers: ModCtrl},
		{Event: "up", Key: "Control", Code: "ControlLeft", Location: 1},
	}
	if held {
		keys = keys[1:3]
	}
	for _, k := range keys {
		if err := d.Key(k); err != nil {
			return err
		}
	}
	return nil
}
