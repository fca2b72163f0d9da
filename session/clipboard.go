package session

import (
	"context"
	"time"

	"takeover/clipboard"
	"takeover/input"
	"takeover/invalid"
	"takeover/liveview"
)

const (
	// clipboardTimeout bounds opening the remote clipboard and writing to it.
	// Input after a paste waits for that.
	clipboardTimeout = 3 * time.Second

	// copyWindow is how long after a person's last press a page's copy is
	// attributed to that person. Chromium lets pages copy for 5 s after a press;
	// the rest is for the network delay in both directions.
	copyWindow = 10 * time.Second
)

// Clipboard is a viewer's clipboard action. Copy and cut press the shortcut;
// the copied text arrives as a ClipboardMessage, like any other copy of a page.
// Paste puts text or an image on the remote clipboard and presses the shortcut
// for pasting.
type Clipboard struct {
	Action string `json:"action"` // copy cut paste
	Text   string `json:"text"`   // for paste
	Image  string `json:"image"`  // for paste without text: the name of a file of the session
}

var editCommands = map[string]input.Command{"copy": input.Copy, "cut": input.Cut, "paste": input.Paste}

// Validate returns an error for the first invalid field.
func (c Clipboard) Validate() error {
	if editCommands[c.Action] == "" {
		return invalid.Field("action", "must be copy, cut or paste")
	}
	if c.Action == "paste" && c.Image == "" {
		return input.Text{Text: c.Text}.Validate()
	}
	return nil
}

// Clipboard copies, cuts or pastes in the page, in order with the viewer's other
// input. An epoch of 0 means the present one.
func (v *Viewer) Clipboard(ctx context.Context, c Clipboard, made Stamp) error {
	if err := c.Validate(); err != nil {
		return news(made, v.refuse(made, untakenInput, err))
	}
	if err := v.controls(); err != nil {
		return news(made, v.refuse(made, untakenControl, err))
	}
	if err := v.turn(made); err != nil { // before anything is on the remote clipboard
		return news(made, err)
	}
	s := v.session
	if made.Epoch == 0 {
		_, made.Epoch, _ = s.control.State()
	}
	eng, err := s.ready()
	if err != nil {
		return news(made, v.refuse(made, untakenPage, err))
	}
	image, err := v.image(c)
	if err != nil {
		return news(made, v.refuse(made, untakenInput, err))
	}
	ctx, cancel := context.WithTimeout(ctx, clipboardTimeout)
	defer cancel()
	if err := eng.live.Clipboard().Prepare(ctx, liveview.Paste{Wanted: c.Action == "paste", Text: c.Text, Image: image}); err != nil {
		s.log.Warn("remote clipboard", "error", err)
		switch {
		case c.Image != "":
			return news(made, v.refuse(made, untakenInput, invalid.Field("image", "is not in a format that the browser can read")))
		case c.Action == "paste": // paste at least the text
			return v.Text(Text{Text: c.Text}, made)
		}
	}
	return v.dispatch(made, c.Validate, func(at inputTarget) error {
		if c.Action == "paste" {
			s.typed(Key{Event: "down", Text: c.Text}, at)
		}
		s.pressed(at)
		return at.input.Edit(editCommands[c.Action])
	})
}

// image reads the image to paste.
func (v *Viewer) image(c Clipboard) ([]byte, error) {
	if c.Action != "paste" || c.Image == "" {
		return nil, nil
	}
	if _, err := v.paths([]string{c.Image}); err != nil {
		return nil, invalid.Field("image", "there is no such file: %.80q", c.Image)
	}
	folder, err := v.session.Files()
	if err != nil {
		return nil, err
	}
	image, err := folder.Read(c.Image, clipboard.MaxImageBytes)
	if err != nil {
		return nil, invalid.Field("image", "must be a file of at most %d bytes", clipboard.MaxImageBytes)
	}
	return image, nil
}

// copied passes what a page has copied to the person in control, if that
// person may have caused it. Nobody else gets it, and it is not recorded.
func (s *Session) copied(c clipboard.Copy, err error) {
	holder := s.control.Holder()
	v := s.viewerOf(holder)
	if v == nil || v.may() != nil || !s.gestures.pressedWithin(copyWindow) {
		return
	}
	if len(c.Image) > 0 && !s.gestures.copyImage() {
		return
	}
	if err != nil {
		v.send("", ErrorMessage{Type: "error", Message: "clipboard: " + err.Error()})
		return
	}
	v.send("clipboard", ClipboardMessage{Type: "clipboard", Text: c.Text, Image: c.Image})
}
