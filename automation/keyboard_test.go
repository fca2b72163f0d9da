package automation_test

import "testing"

func TestKeyboard(t *testing.T) {
	for _, tt := range []struct {
		name   string
		html   string
		op     string
		params params
		events []string
		only   []string
		value  string // value of the control afterwards
	}{
		{"letters", `<input id=i>`, "frame.type", params{"selector": "input", "text": "aB"}, []string{
			"keydown i trusted=true a KeyA 65 mods=", "keypress i trusted=true a KeyA 97 mods=", "beforeinput i trusted=true insertText a", "input i trusted=true insertText a", "keyup i trusted=true a KeyA 65 mods=",
			"keydown i trusted=true B KeyB 66 mods=", "keypress i trusted=true B KeyB 66 mods=", "beforeinput i trusted=true insertText B", "input i trusted=true insertText B", "keyup i trusted=true B KeyB 66 mods=",
		}, []string{"keydown", "keypress", "beforeinput", "input", "keyup"}, "aB"},
		{"other scripts", `<input id=i>`, "frame.type", params{"selector": "input", "text": "é你😀"}, []string{
			"input i trusted=true insertText é", "input i trusted=true insertText 你", "input i trusted=true insertText 😀",
		}, []string{"keydown", "input"}, "é你😀"},
		{"chord", `<input id=i value=abc>`, "frame.press", params{"selector": "input", "key": "Control+A"}, []string{
			"keydown i trusted=true Control ControlLeft 17 mods=C", "keydown i trusted=true A KeyA 65 mods=C",
			"keyup i trusted=true A KeyA 65 mods=C", "keyup i trusted=true Control ControlLeft 17 mods=",
		}, []string{"keydown", "keyup"}, "abc"},
		{"shift and code", `<input id=i>`, "frame.press", params{"selector": "input", "key": "Shift+KeyA"}, []string{
			"keydown i trusted=true Shift ShiftLeft 16 mods=S", "keydown i trusted=true A KeyA 65 mods=S",
		}, []string{"keydown"}, "A"},
		{"plus", `<input id=i>`, "frame.press", params{"selector": "input", "key": "Shift++"}, []string{
			"keydown i trusted=true Shift ShiftLeft 16 mods=S", "keydown i trusted=true + Equal 187 mods=S",
		}, []string{"keydown"}, "+"},
		{"backspace", `<input id=i value=abc>`, "frame.press", params{"selector": "input", "key": "End"}, []string{
			"keydown i trusted=true End End 35 mods=",
		}, []string{"keydown"}, "abc"},
		{"fill", `<input id=i value=old>`, "frame.fill", params{"selector": "input", "value": "new 你"}, []string{
			"beforeinput i trusted=true insertText new 你", "input i trusted=true insertText new 你",
		}, []string{"keydown", "beforeinput", "input"}, "new 你"},
		{"clear", `<input id=i value=old>`, "frame.fill", params{"selector": "input", "value": ""}, []string{
			"keydown i trusted=true Delete Delete 46 mods=", "input i trusted=true deleteContentForward ",
		}, []string{"keydown", "input"}, ""},
		{"date", `<input id=i type=date>`, "frame.fill", params{"selector": "input", "value": "2024-02-03"}, []string{
			"input i trusted=false", "change i trusted=false",
		}, []string{"input", "change"}, "2024-02-03"},
		{"textarea", `<textarea id=i>x</textarea>`, "frame.fill", params{"selector": "textarea", "value": "a\nb"}, nil, []string{"keydown"}, "a\nb"},
		{"label", `<label>Name <input id=i></label>`, "frame.fill", params{"selector": "label", "value": "x"}, nil, []string{"keydown"}, "x"},
		{"becomes editable", `<input id=i readonly><script>setTimeout(()=>i.readOnly=false,100)</script>`, "frame.fill", params{"selector": "input", "value": "x"}, nil, []string{"keydown"}, "x"},
		{"select", `<select id=i><option value=a>A</option><option value=b>Bee</option></select>`, "frame.selectOption", params{"selector": "select", "options": []params{{"label": "Bee"}}}, []string{
			"input i trusted=false", "change i trusted=false",
		}, []string{"input", "change"}, "b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.html(recorder + tt.html)
			tt.params["timeout"] = 5000
			r.do(tt.op, tt.params, nil)
			equal(t, "events", r.seen(tt.only...), tt.events)
			equal(t, "value", r.value("frame.inputValue", params{"selector": "#i", "timeout": 1000}), tt.value)
		})
	}
}

func TestHeldInput(t *testing.T) {
	r := newRig(t)
	r.html(recorder + `<input id=i autofocus><p id=p style="height:100px">p</p>`)
	r.do("frame.focus", params{"selector": "#i"}, nil)
	r.do("keyboard.down", params{"key": "Shift"}, nil)
	r.do("keyboard.press", params{"key": "a"}, nil)
	r.do("keyboard.down", params{"key": "b"}, nil)
	r.do("keyboard.down", params{"key": "b"}, nil)
	r.do("mouse.move", params{"x": 20, "y": 80}, nil)
	r.do("mouse.down", params{}, nil)
	r.do("mouse.move", params{"x": 40, "y": 90, "steps": 2}, nil)
	r.do("mouse.wheel", params{"deltaY": 10}, nil)
	r.client.Close() // releases everything
	other := r.automation.NewClient(clientOptions(r))
	t.Cleanup(other.Close)
	r.client = other
	r.do("init", nil, nil)
	r.rename()
	equal(t, "events", r.seen("keydown", "keyup", "mousedown", "mousemove", "mouseup"), []string{
		"keydown i trusted=true Shift ShiftLeft 16 mods=S",
		"keydown i trusted=true A KeyA 65 mods=S", "keyup i trusted=true A KeyA 65 mods=S",
		"keydown i trusted=true B KeyB 66 mods=S", "keydown i trusted=true B KeyB 66 mods=S",
		"mousemove p trusted=true button=0 buttons=0 detail=0 mods=S",
		"mousedown p trusted=true button=0 buttons=1 detail=1 mods=S",
		"mousemove p trusted=true button=0 buttons=1 detail=0 mods=S", "mousemove p trusted=true button=0 buttons=1 detail=0 mods=S",
		"keyup BODY trusted=true B KeyB 66 mods=S", "keyup BODY trusted=true Shift ShiftLeft 16 mods=",
		"mouseup p trusted=true button=0 buttons=0 detail=1 mods=",
	})
}
