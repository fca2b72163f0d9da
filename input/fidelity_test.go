package input

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/target"

	"takeover/cdp"
)

// until waits for the page to log a line with this prefix.
type until string

func press(key, code string, mods int) []any {
	return []any{Key{Event: "down", Key: key, Code: code, Modifiers: mods}, Key{Event: "up", Key: key, Code: code, Modifiers: mods}}
}

// with presses keys while a modifier is held.
func with(name, code string, bit int, inner ...any) []any {
	all := []any{Key{Event: "down", Key: name, Code: code, Modifiers: bit}}
	all = append(all, inner...)
	return append(all, Key{Event: "up", Key: name, Code: code})
}

func ctrl(inner ...any) []any  { return with("Control", "ControlLeft", ModCtrl, inner...) }
func shift(inner ...any) []any { return with("Shift", "ShiftLeft", ModShift, inner...) }
func meta(inner ...any) []any  { return with("Meta", "MetaLeft", ModMeta, inner...) }

func click(x, y float64, button string, bit, count int) []any {
	return []any{
		Mouse{Event: "down", X: x, Y: y, Button: button, Buttons: bit, ClickCount: count},
		Mouse{Event: "up", X: x, Y: y, Button: button, ClickCount: count},
	}
}

// fidelity lists what a person may do, the events that a page gets in a desktop
// Chromium, and the resulting state. The lines are those of recorder.
var fidelity = []struct {
	name string
	page string // script that prepares the page
	do   []any  // messages, slices of them, or until
	want []string
	// Expected value and selection of the field, focused element, and scroll
	// position.
	state string
}{
	{
		name: "letter", page: `field.focus()`, do: press("a", "KeyA", 0),
		want:  []string{`keydown a KeyA loc0 65`, `keypress a 97`, `beforeinput insertText "a"`, `input insertText "a"`, `keyup a KeyA loc0 65`},
		state: `["a",1,1,"field",0]`,
	}, {
		name: "Shift and letters", page: `field.focus()`, do: shift(press("A", "KeyA", ModShift), press("B", "KeyB", ModShift), press("!", "Digit1", ModShift)),
		want: []string{
			`keydown Shift ShiftLeft loc1 16 +Shift`,
			`keydown A KeyA loc0 65 +Shift`, `keypress A 65 +Shift`, `beforeinput insertText "A"`, `input insertText "A"`, `keyup A KeyA loc0 65 +Shift`,
			`keydown B KeyB loc0 66 +Shift`, `keypress B 66 +Shift`, `beforeinput insertText "B"`, `input insertText "B"`, `keyup B KeyB loc0 66 +Shift`,
			`keydown ! Digit1 loc0 49 +Shift`, `keypress ! 33 +Shift`, `beforeinput insertText "!"`, `input insertText "!"`, `keyup ! Digit1 loc0 49 +Shift`,
			`keyup Shift ShiftLeft loc1 16`,
		},
		state: `["AB!",3,3,"field",0]`,
	}, {
		name: "right Shift", page: `field.focus()`, do: with("Shift", "ShiftRight", ModShift),
		want:  []string{`keydown Shift ShiftRight loc2 16 +Shift`, `keyup Shift ShiftRight loc2 16`},
		state: `["",0,0,"field",0]`,
	}, {
		name: "auto-repeat", page: `field.focus()`,
		do: []any{
			Key{Event: "down", Key: "x", Code: "KeyX", Text: "x"}, Key{Event: "down", Key: "x", Code: "KeyX", Text: "x", Repeat: true},
			Key{Event: "up", Key: "x", Code: "KeyX"},
		},
		want: []string{
			`keydown x KeyX loc0 88`, `keypress x 120`, `beforeinput insertText "x"`, `input insertText "x"`,
			`keydown x KeyX loc0 88 repeat`, `keypress x 120`, `beforeinput insertText "x"`, `input insertText "x"`,
			`keyup x KeyX loc0 88`,
		},
		state: `["xx",2,2,"field",0]`,
	}, {
		name: "Ctrl+A", page: `field.value = 'hello'; field.focus()`, do: ctrl(press("a", "KeyA", ModCtrl)),
		want:  []string{`keydown Control ControlLeft loc1 17 +Ctrl`, `keydown a KeyA loc0 65 +Ctrl`, `keyup a KeyA loc0 65 +Ctrl`, `keyup Control ControlLeft loc1 17`},
		state: `["hello",0,5,"field",0]`,
	}, {
		name: "Ctrl+C, End, Ctrl+V", page: `field.value = 'hello'; field.focus(); field.select()`,
		do: []any{ctrl(press("c", "KeyC", ModCtrl)), press("End", "End", 0), ctrl(press("v", "KeyV", ModCtrl))},
		want: []string{
			`keydown Control ControlLeft loc1 17 +Ctrl`, `keydown c KeyC loc0 67 +Ctrl`, `copy`, `keyup c KeyC loc0 67 +Ctrl`, `keyup Control ControlLeft loc1 17`,
			`keydown End End loc0 35`, `keyup End End loc0 35`,
			`keydown Control ControlLeft loc1 17 +Ctrl`, `keydown v KeyV loc0 86 +Ctrl`, `paste`,
			`beforeinput insertFromPaste "hello"`, `input insertFromPaste "hello"`, `keyup v KeyV loc0 86 +Ctrl`, `keyup Control ControlLeft loc1 17`,
		},
		state: `["hellohello",10,10,"field",0]`,
	}, {
		name: "Ctrl+X, Ctrl+Z, Ctrl+Shift+Z", page: `field.value = 'hello'; field.focus(); field.select()`,
		do: []any{ctrl(press("x", "KeyX", ModCtrl), press("z", "KeyZ", ModCtrl)), ctrl(shift(press("Z", "KeyZ", ModCtrl|ModShift)))},
		want: []string{
			`keydown Control ControlLeft loc1 17 +Ctrl`,
			`keydown x KeyX loc0 88 +Ctrl`, `cut`, `beforeinput deleteByCut null`, `input deleteByCut null`, `keyup x KeyX loc0 88 +Ctrl`,
			`keydown z KeyZ loc0 90 +Ctrl`, `beforeinput historyUndo null`, `input historyUndo null`, `keyup z KeyZ loc0 90 +Ctrl`,
			`keyup Control ControlLeft loc1 17`,
			`keydown Control ControlLeft loc1 17 +Ctrl`, `keydown Shift ShiftLeft loc1 16 +Shift`,
			`keydown Z KeyZ loc0 90 +Ctrl +Shift`, `beforeinput historyRedo null`, `input historyRedo null`, `keyup Z KeyZ loc0 90 +Ctrl +Shift`,
			`keyup Shift ShiftLeft loc1 16`, `keyup Control ControlLeft loc1 17`,
		},
		state: `["",0,0,"field",0]`,
	}, {
		name: "a Mac's Command+A, C, V, V, Z", page: `field.value = 'hello'; field.focus()`,
		do: meta(press("a", "KeyA", ModMeta), press("c", "KeyC", ModMeta), press("v", "KeyV", ModMeta), press("v", "KeyV", ModMeta), press("z", "KeyZ", ModMeta)),
		want: []string{
			`keydown Meta MetaLeft loc1 91 +Meta`, `keydown a KeyA loc0 65 +Meta`, `keyup a KeyA loc0 65 +Meta`,
			`keydown c KeyC loc0 67 +Meta`, `copy`, `keyup c KeyC loc0 67 +Meta`,
			`keydown v KeyV loc0 86 +Meta`, `paste`, `beforeinput insertFromPaste "hello"`, `input insertFromPaste "hello"`, `keyup v KeyV loc0 86 +Meta`,
			`keydown v KeyV loc0 86 +Meta`, `paste`, `beforeinput insertFromPaste "hello"`, `input insertFromPaste "hello"`, `keyup v KeyV loc0 86 +Meta`,
			`keydown z KeyZ loc0 90 +Meta`, `beforeinput historyUndo null`, `input historyUndo null`, `keyup z KeyZ loc0 90 +Meta`,
			`keyup Meta MetaLeft loc1 91`,
		},
		state: `["hello",5,5,"field",0]`,
	}, {
		name: "Backspace, Enter, Tab", page: `field.value = 'ab'; field.focus(); field.setSelectionRange(2, 2)`,
		do: []any{press("Backspace", "Backspace", 0), press("Enter", "Enter", 0), press("Tab", "Tab", 0)},
		want: []string{
			`keydown Backspace Backspace loc0 8`, `beforeinput deleteContentBackward null`, `input deleteContentBackward null`, `keyup Backspace Backspace loc0 8`,
			`keydown Enter Enter loc0 13`, `keypress Enter 13`, `beforeinput insertLineBreak null`, `input insertLineBreak null`, `keyup Enter Enter loc0 13`,
			`keydown Tab Tab loc0 9`, `keyup Tab Tab loc0 9`,
		},
		state: `["a\n",2,2,"second",0]`,
	}, {
		name: "Shift+Tab", page: `second.focus()`, do: shift(press("Tab", "Tab", ModShift)),
		want:  []string{`keydown Shift ShiftLeft loc1 16 +Shift`, `keydown Tab Tab loc0 9 +Shift`, `keyup Tab Tab loc0 9 +Shift`, `keyup Shift ShiftLeft loc1 16`},
		state: `["",0,0,"field",0]`,
	}, {
		name: "arrows, with Shift, with Ctrl", page: `field.value = 'one two'; field.focus(); field.setSelectionRange(7, 7)`,
		do: []any{press("ArrowLeft", "ArrowLeft", 0), ctrl(press("ArrowLeft", "ArrowLeft", ModCtrl)), shift(press("Home", "Home", ModShift))},
		want: []string{
			`keydown ArrowLeft ArrowLeft loc0 37`, `keyup ArrowLeft ArrowLeft loc0 37`,
			`keydown Control ControlLeft loc1 17 +Ctrl`, `keydown ArrowLeft ArrowLeft loc0 37 +Ctrl`, `keyup ArrowLeft ArrowLeft loc0 37 +Ctrl`, `keyup Control ControlLeft loc1 17`,
			`keydown Shift ShiftLeft loc1 16 +Shift`, `keydown Home Home loc0 36 +Shift`, `keyup Home Home loc0 36 +Shift`, `keyup Shift ShiftLeft loc1 16`,
		},
		state: `["one two",0,4,"field",0]`,
	}, {
		name: "Delete, Ctrl+Backspace", page: `field.value = 'one two'; field.focus(); field.setSelectionRange(6, 6)`,
		do: []any{press("Delete", "Delete", 0), ctrl(press("Backspace", "Backspace", ModCtrl))},
		want: []string{
			`keydown Delete Delete loc0 46`, `beforeinput deleteContentForward null`, `input deleteContentForward null`, `keyup Delete Delete loc0 46`,
			`keydown Control ControlLeft loc1 17 +Ctrl`, `keydown Backspace Backspace loc0 8 +Ctrl`,
			`beforeinput deleteWordBackward null`, `input deleteWordBackward null`, `keyup Backspace Backspace loc0 8 +Ctrl`, `keyup Control ControlLeft loc1 17`,
		},
		state: `["one ",4,4,"field",0]`,
	}, {
		name: "keypad", page: `field.focus()`,
		do: []any{press("7", "Numpad7", 0), press("+", "NumpadAdd", 0), press("Home", "Numpad7", 0), press("Enter", "NumpadEnter", 0)},
		want: []string{
			`keydown 7 Numpad7 loc3 103`, `keypress 7 55`, `beforeinput insertText "7"`, `input insertText "7"`, `keyup 7 Numpad7 loc3 103`,
			`keydown + NumpadAdd loc3 107`, `keypress + 43`, `beforeinput insertText "+"`, `input insertText "+"`, `keyup + NumpadAdd loc3 107`,
			`keydown Home Numpad7 loc3 36`, `keyup Home Numpad7 loc3 36`,
			`keydown Enter NumpadEnter loc3 13`, `keypress Enter 13`, `beforeinput insertLineBreak null`, `input insertLineBreak null`, `keyup Enter NumpadEnter loc3 13`,
		},
		state: `["\n7+",1,1,"field",0]`,
	}, {
		name: "German keyboard: z, ö, AltGr+Q", page: `field.focus()`,
		do: []any{
			press("z", "KeyY", 0), press("ö", "Semicolon", 0), Key{Event: "down", Key: "AltGraph", Code: "AltRight"},
			Key{Event: "down", Key: "@", Code: "KeyQ", Text: "@"}, Key{Event: "up", Key: "@", Code: "KeyQ"}, Key{Event: "up", Key: "AltGraph", Code: "AltRight"},
		},
		want: []string{
			`keydown z KeyY loc0 90`, `keypress z 122`, `beforeinput insertText "z"`, `input insertText "z"`, `keyup z KeyY loc0 90`,
			`keydown ö Semicolon loc0 186`, `keypress ö 246`, `beforeinput insertText "ö"`, `input insertText "ö"`, `keyup ö Semicolon loc0 186`,
			`keydown AltGraph AltRight loc2 225`,
			`keydown @ KeyQ loc0 81`, `keypress @ 64`, `beforeinput insertText "@"`, `input insertText "@"`, `keyup @ KeyQ loc0 81`,
			`keyup AltGraph AltRight loc2 225`,
		},
		state: `["zö@",3,3,"field",0]`,
	}, {
		name: "dead key, then its result", page: `field.focus()`, do: []any{press("Dead", "Quote", 0), press("é", "KeyE", 0)},
		want: []string{
			`keydown Dead Quote loc0 222`, `keyup Dead Quote loc0 222`,
			`keydown é KeyE loc0 69`, `keypress é 233`, `beforeinput insertText "é"`, `input insertText "é"`, `keyup é KeyE loc0 69`,
		},
		state: `["é",1,1,"field",0]`,
	}, {
		name: "Alt and a letter type nothing", page: `field.focus()`, do: with("Alt", "AltLeft", ModAlt, press("a", "KeyA", ModAlt)),
		want:  []string{`keydown Alt AltLeft loc1 18 +Alt`, `keydown a KeyA loc0 65 +Alt`, `keyup a KeyA loc0 65 +Alt`, `keyup Alt AltLeft loc1 18`},
		state: `["",0,0,"field",0]`,
	}, {
		name: "F5, Escape, Space", page: `field.focus()`, do: []any{press("F5", "F5", 0), press("Escape", "Escape", 0), press(" ", "Space", 0)},
		want: []string{
			`keydown F5 F5 loc0 116`, `keyup F5 F5 loc0 116`, `keydown Escape Escape loc0 27`, `keyup Escape Escape loc0 27`,
			`keydown   Space loc0 32`, `keypress   32`, `beforeinput insertText " "`, `input insertText " "`, `keyup   Space loc0 32`,
		},
		state: `[" ",1,1,"field",0]`,
	}, {
		name: "a phone's Backspace, without a code", page: `field.value = 'ab'; field.focus(); field.setSelectionRange(2, 2)`, do: press("Backspace", "", 0),
		want:  []string{`keydown Backspace  loc0 8`, `beforeinput deleteContentBackward null`, `input deleteContentBackward null`, `keyup Backspace  loc0 8`},
		state: `["a",1,1,"field",0]`,
	}, {
		name: "emoji and CJK text", page: `field.focus()`, do: []any{Text{"👩‍👧"}, Text{"漢字"}},
		want:  []string{`beforeinput insertText "👩‍👧"`, `input insertText "👩‍👧"`, `beforeinput insertText "漢字"`, `input insertText "漢字"`},
		state: `["👩‍👧漢字",7,7,"field",0]`,
	}, {
		// Blink dispatches compositionend as an untrusted event, also for a local
		// input method.
		name: "input method", page: `field.focus()`,
		do: []any{press("Process", "KeyN", 0), Compose{"n", 1, 1}, Compose{"に", 1, 1}, Compose{"にほん", 3, 3}, Text{"日本"}},
		want: []string{
			`keydown Process KeyN loc0 229`, `keyup Process KeyN loc0 229`, `compositionstart ""`,
			`compositionupdate "n"`, `beforeinput insertCompositionText "n"`, `input insertCompositionText "n"`,
			`compositionupdate "に"`, `beforeinput insertCompositionText "に"`, `input insertCompositionText "に"`,
			`compositionupdate "にほん"`, `beforeinput insertCompositionText "にほん"`, `input insertCompositionText "にほん"`,
			`compositionupdate "日本"`, `beforeinput insertCompositionText "日本"`, `input insertCompositionText "日本"`, `compositionend "日本" UNTRUSTED`,
		},
		state: `["日本",2,2,"field",0]`,
	}, {
		name: "cancelled composition", page: `field.focus()`, do: []any{Compose{"か", 1, 1}, Compose{}, Compose{}},
		want: []string{
			`compositionstart ""`, `compositionupdate "か"`, `beforeinput insertCompositionText "か"`, `input insertCompositionText "か"`,
			`compositionupdate ""`, `beforeinput insertCompositionText ""`, `input insertCompositionText null`, `compositionend "" UNTRUSTED`,
		},
		state: `["",0,0,"field",0]`,
	}, {
		name: "click into a field and type at once", do: []any{Mouse{Event: "move", X: 10, Y: 10}, click(10, 10, "left", 1, 1), press("a", "KeyA", 0)},
		want: []string{
			`pointermove mouse button-1 buttons0`, `mousemove 10,10 button0 buttons0 detail0`,
			`pointerdown mouse button0 buttons1`, `mousedown 10,10 button0 buttons1 detail1`,
			`pointerup mouse button0 buttons0`, `mouseup 10,10 button0 buttons0 detail1`, `click 10,10 button0 buttons0 detail1`,
			`keydown a KeyA loc0 65`, `keypress a 97`, `beforeinput insertText "a"`, `input insertText "a"`, `keyup a KeyA loc0 65`,
		},
		state: `["a",1,1,"field",0]`,
	}, {
		name: "double click selects a word", page: `field.value = 'hello world'`, do: []any{click(10, 10, "left", 1, 1), click(10, 10, "left", 1, 2)},
		want: []string{
			`pointermove mouse button-1 buttons0`, `mousemove 10,10 button0 buttons0 detail0`, `pointerdown mouse button0 buttons1`, `mousedown 10,10 button0 buttons1 detail1`,
			`pointerup mouse button0 buttons0`, `mouseup 10,10 button0 buttons0 detail1`, `click 10,10 button0 buttons0 detail1`,
			`pointerdown mouse button0 buttons1`, `mousedown 10,10 button0 buttons1 detail2`,
			`pointerup mouse button0 buttons0`, `mouseup 10,10 button0 buttons0 detail2`, `click 10,10 button0 buttons0 detail2`, `dblclick 10,10 button0 buttons0 detail2`,
		},
		state: `["hello world",0,5,"field",0]`,
	}, {
		name: "right click", do: click(10, 300, "right", 2, 1),
		want: []string{
			`pointermove mouse button-1 buttons0`, `mousemove 10,300 button0 buttons0 detail0`, `pointerdown mouse button2 buttons2`, `mousedown 10,300 button2 buttons2 detail1`, `contextmenu 10,300 button2 buttons2 detail0`,
			`pointerup mouse button2 buttons0`, `mouseup 10,300 button2 buttons0 detail1`, `auxclick 10,300 button2 buttons0 detail1`,
		},
		state: `["",0,0,"",0]`,
	}, {
		name: "back and forward buttons go through the history",
		page: `history.pushState(1, '', '#a'); history.pushState(1, '', '#b'); addEventListener('popstate', () => log.push('popstate ' + location.hash))`,
		do:   []any{click(10, 300, "back", 8, 1), until("popstate"), click(10, 300, "forward", 16, 1), until("popstate #b")},
		want: []string{
			`pointermove mouse button-1 buttons0`, `mousemove 10,300 button0 buttons0 detail0`, `pointerdown mouse button3 buttons8`, `mousedown 10,300 button3 buttons8 detail1`,
			`pointerup mouse button3 buttons0`, `mouseup 10,300 button3 buttons0 detail1`, `auxclick 10,300 button3 buttons0 detail1`, `popstate #a`,
			`pointerdown mouse button4 buttons16`, `mousedown 10,300 button4 buttons16 detail1`,
			`pointerup mouse button4 buttons0`, `mouseup 10,300 button4 buttons0 detail1`, `auxclick 10,300 button4 buttons0 detail1`, `popstate #b`,
		},
		state: `["",0,0,"",0]`,
	}, {
		name: "Chromium's own shortcuts do nothing", page: `field.focus()`,
		do: []any{ctrl(press("u", "KeyU", ModCtrl)), press("F12", "F12", 0)},
		want: []string{
			`keydown Control ControlLeft loc1 17 +Ctrl`, `keydown u KeyU loc0 85 +Ctrl`, `keyup u KeyU loc0 85 +Ctrl`, `keyup Control ControlLeft loc1 17`,
			`keydown F12 F12 loc0 123`, `keyup F12 F12 loc0 123`,
		},
		state: `["",0,0,"field",0]`,
	}, {
		name: "wheel, with Shift", do: []any{Mouse{Event: "wheel", X: 10, Y: 300, DeltaX: 0, DeltaY: 120.25}, until("scroll"), Mouse{Event: "wheel", X: 10, Y: 300, DeltaX: 3.5, DeltaY: -20.25, Modifiers: ModShift}, until("wheel 10,300 3.5")},
		want:  []string{`wheel 10,300 0,120.25 mode0`, `scroll`, `wheel 10,300 3.5,-20.25 mode0 +Shift`},
		state: `["",0,0,"",100]`,
	}, {
		name: "drag with the button held", do: []any{
			Mouse{Event: "move", X: 10, Y: 300}, Mouse{Event: "down", X: 10, Y: 300, Button: "left", Buttons: 1, ClickCount: 1}, until("mousedown"),
			Mouse{Event: "move", X: 50, Y: 301, Buttons: 1}, until("mousemove 50"),
			Mouse{Event: "move", X: 90, Y: 310, Buttons: 1, Modifiers: ModShift}, Mouse{Event: "up", X: 90, Y: 310, Button: "left", ClickCount: 1},
		},
		want: []string{
			`pointermove mouse button-1 buttons0`, `mousemove 10,300 button0 buttons0 detail0`, `pointerdown mouse button0 buttons1`, `mousedown 10,300 button0 buttons1 detail1`,
			`pointermove mouse button-1 buttons1`, `mousemove 50,301 button0 buttons1 detail0`,
			`pointermove mouse button-1 buttons1`, `mousemove 90,310 button0 buttons1 detail0 +Shift`,
			`pointerup mouse button0 buttons0`, `mouseup 90,310 button0 buttons0 detail1`, `click 90,310 button0 buttons0 detail1`,
		},
		state: `["",0,0,"",0]`,
	}, {
		name: "drag selects text", page: `field.value = 'hello world'`, do: []any{
			Mouse{Event: "down", X: 0, Y: 8, Button: "left", Buttons: 1, ClickCount: 1}, Mouse{Event: "move", X: 30, Y: 8, Buttons: 1}, until("mousemove 30"),
			Mouse{Event: "move", X: 50, Y: 8, Buttons: 1}, Mouse{Event: "up", X: 50, Y: 8, Button: "left", ClickCount: 1},
		},
		want: []string{
			`pointermove mouse button-1 buttons0`, `mousemove 0,8 button0 buttons0 detail0`, `pointerdown mouse button0 buttons1`, `mousedown 0,8 button0 buttons1 detail1`,
			`pointermove mouse button-1 buttons1`, `mousemove 30,8 button0 buttons1 detail0`, `pointermove mouse button-1 buttons1`, `mousemove 50,8 button0 buttons1 detail0`,
			`pointerup mouse button0 buttons0`, `mouseup 50,8 button0 buttons0 detail1`, `click 50,8 button0 buttons0 detail1`,
		},
		state: `["hello world",0,6,"field",0]`,
	}, {
		name: "release that got lost", do: []any{
			Mouse{Event: "down", X: 10, Y: 300, Button: "left", Buttons: 1, ClickCount: 1}, until("mousedown"), Mouse{Event: "move", X: 20, Y: 300},
			Mouse{Event: "up", X: 20, Y: 300, Button: "left"}, Mouse{Event: "up", X: 20, Y: 300, Button: "right"}, Key{Event: "up", Key: "q", Code: "KeyQ"},
		},
		want: []string{
			`pointermove mouse button-1 buttons0`, `mousemove 10,300 button0 buttons0 detail0`, `pointerdown mouse button0 buttons1`, `mousedown 10,300 button0 buttons1 detail1`,
			`pointerup mouse button0 buttons0`, `mouseup 20,300 button0 buttons0 detail1`, `click 20,300 button0 buttons0 detail1`,
			`pointermove mouse button-1 buttons0`, `mousemove 20,300 button0 buttons0 detail0`,
		},
		state: `["",0,0,"",0]`,
	}, {
		name: "two fingers", page: `document.body.style.touchAction = 'none'`, do: []any{
			Touch{Event: "start", Points: []TouchPoint{{ID: 900, X: 20, Y: 300}}}, Touch{Event: "start", Points: []TouchPoint{{ID: -12, X: 120, Y: 300, RadiusX: 4, RadiusY: 5, Force: 0.5}}},
			Touch{Event: "move", Points: []TouchPoint{{ID: 900, X: 60, Y: 300}, {ID: -12, X: 160, Y: 305}, {ID: 7, X: 1, Y: 1}}}, until("touchmove"),
			Touch{Event: "end", Points: []TouchPoint{{ID: 900, X: 60, Y: 300}}}, until("touchend"),
			Touch{Event: "end", Points: []TouchPoint{{ID: -12, X: 160, Y: 305}}}, Touch{Event: "end", Points: []TouchPoint{{ID: -12}}}, Touch{Event: "cancel"},
			until("touchend changed 1"), // touch events are delivered separately
		},
		want: []string{
			`pointerdown touch button0 buttons1`, `touchstart changed 0@20,300 touches 0@20,300`,
			`pointerdown touch button0 buttons1`, `touchstart changed 1@120,300 touches 0@20,300 1@120,300`,
			`gotpointercapture touch button-1 buttons1`, `pointermove touch button-1 buttons1`, `gotpointercapture touch button-1 buttons1`, `pointermove touch button-1 buttons1`,
			`touchmove changed 0@60,300 1@160,305 touches 0@60,300 1@160,305`,
			`pointerup touch button0 buttons0`, `touchend changed 0@60,300 touches 1@160,305`,
			`pointerup touch button0 buttons0`, `touchend changed 1@160,305 touches `,
		},
		state: `["",0,0,"",0]`,
	},
}

func TestFidelity(t *testing.T) {
	for _, tt := range fidelity {
		t.Run(tt.name, func(t *testing.T) {
			p := openRecorder(t)
			p.Eval(`(() => { `+tt.page+` })()`, nil)
			p.all(tt.do)
			got := p.handled()
			if !slices.Equal(got, tt.want) {
				t.Errorf("page received\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(tt.want, "\n\t"))
			}
			if state := p.state(tt.state); state != tt.state {
				t.Errorf("state is %s, want %s", state, tt.state)
			}
		})
	}
}

// state returns the page's state once it is the expected one, or after 60 frames
// at the latest, because scrolling takes several frames.
func (p *testPage) state(want string) string {
	p.Helper()
	quoted, err := json.Marshal(want)
	p.must(nil, err)
	var state string
	p.Eval(`new Promise(done => { let frames = 0; (function look() {
		let state = JSON.stringify([field.value, field.selectionStart, field.selectionEnd, document.activeElement.id, Math.round(scrollY)])
		state == `+string(quoted)+` || ++frames == 60 ? done(state) : requestAnimationFrame(look) })() })`, &state)
	return state
}

// all executes a list of messages, lists and until.
func (p *testPage) all(list []any) {
	p.Helper()
	for _, item := range list {
		switch item := item.(type) {
		case []any:
			p.all(item)
		case until:
			prefix, _ := json.Marshal(string(item))
			p.Eval(`new Promise(done => { (function look() { log.some(l => l.startsWith(`+string(prefix)+`)) ? done() : setTimeout(look, 1) })() })`, nil)
		default:
			p.do(item)
		}
	}
}

func TestReleaseAll(t *testing.T) {
	p := openRecorder(t)
	p.Eval(`field.focus(); document.body.style.touchAction = 'none'`, nil)
	p.all([]any{
		Key{Event: "down", Key: "Shift", Code: "ShiftLeft", Modifiers: ModShift}, Key{Event: "down", Key: "X", Code: "KeyX", Modifiers: ModShift},
		Mouse{Event: "down", X: 10, Y: 10, Button: "left", Buttons: 1, ClickCount: 1}, Mouse{Event: "down", X: 10, Y: 10, Button: "right", Buttons: 3, ClickCount: 1},
		Touch{Event: "start", Points: []TouchPoint{{ID: 1, X: 20, Y: 300}}}, Compose{Text: "か", Start: 1, End: 1}, until("compositionstart"), until("touchstart"),
	})
	p.Eval(`log.splice(0)`, nil)
	if err := p.dispatcher.ReleaseAll(); err != nil {
		t.Fatal(err)
	}
	p.all([]any{until("touchcancel"), until("keyup Shift")}) // touch events are delivered separately
	got := p.handled()
	for _, want := range []string{
		`touchcancel changed 0@20,300 touches `, `compositionend "" UNTRUSTED`, `mouseup 10,10 button0 buttons2 detail1 +Shift`,
		`mouseup 10,10 button2 buttons0 detail0 +Shift`, `keyup X KeyX loc0 88 +Shift`, `keyup Shift ShiftLeft loc1 16`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(got, "\n\t"))
	}
	if err := p.dispatcher.ReleaseAll(); err != nil {
		t.Fatal(err)
	}
	if got := p.handled(); len(got) != 0 {
		t.Errorf("released twice: %q", got)
	}
}

func TestNoShortcutReachesChromium(t *testing.T) {
	p := openRecorder(t)
	targets := func() int {
		res, err := cdp.Call(t.Context(), p.Client.Browser(), target.GetTargets, target.GetTargetsParams{})
		p.must(nil, err)
		return len(res.TargetInfos)
	}
	before := targets()
	p.Eval(`window.here = true; field.focus()`, nil)
	for _, keys := range []any{
		ctrl(press("u", "KeyU", ModCtrl), press("t", "KeyT", ModCtrl), press("n", "KeyN", ModCtrl), press("j", "KeyJ", ModCtrl), press("w", "KeyW", ModCtrl), press("r", "KeyR", ModCtrl)),
		ctrl(shift(press("I", "KeyI", ModCtrl|ModShift), press("N", "KeyN", ModCtrl|ModShift), press("W", "KeyW", ModCtrl|ModShift))),
		press("F5", "F5", 0), press("F6", "F6", 0), press("F12", "F12", 0), shift(press("Escape", "Escape", ModShift)),
	} {
		p.all([]any{keys})
		p.handled()
	}
	var here bool
	if p.Eval(`window.here && document.hasFocus() && document.activeElement == field`, &here); !here {
		t.Error("the page was left or lost the focus")
	}
	if after := targets(); after != before {
		t.Errorf("%d targets, then %d", before, after)
	}
}

// TestHeldKeysAreBounded presses more keys than anybody can hold, and expects the
// first ones to be released.
func TestHeldKeysAreBounded(t *testing.T) {
	p := openRecorder(t)
	p.Eval(`field.focus()`, nil)
	const more = 3
	for i := range maxHeldKeys - 1 + more { // handled presses a key, too
		if err := p.dispatcher.Key(Key{Event: "down", Key: "F9", Code: fmt.Sprintf("Invented%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	ups := func() (n int) {
		for _, line := range p.handled() {
			if strings.HasPrefix(line, "keyup") {
				n++
			}
		}
		return n
	}
	if n := ups(); n != more {
		t.Errorf("%d keys went up, want %d", n, more)
	}
	if err := p.dispatcher.ReleaseAll(); err != nil {
		t.Fatal(err)
	}
	if n := ups(); n != maxHeldKeys-1 {
		t.Errorf("%d keys went up in the end, want %d", n, maxHeldKeys-1)
	}
}
