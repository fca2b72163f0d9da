package viewer

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/invalid"
	"takeover/screencast"
	"takeover/session"
)

// maxMessage bounds a text message of a viewer, in bytes.
const maxMessage = 1 << 20

// message is a parsed message from a viewer.
type message interface {
	act(ctx context.Context, v *session.Viewer) error
}

// Accepted is a type of message that viewers may send.
type Accepted struct {
	Role  session.Role // the least role that may send it
	Does  string       // what it does, for /docs
	Empty any          // a message without values, whose fields /docs lists
	slow  bool         // may take long, so it must not delay input
	parse func(raw []byte) (message, error)
}

// accept describes a message whose Go type is M.
func accept[M any, P interface {
	*M
	message
}](role session.Role, slow bool, does string) Accepted {
	var empty M
	return Accepted{Role: role, slow: slow, Does: does, Empty: empty, parse: parseAs[M, P]}
}

const fast, slow = false, true

// Received lists the messages that viewers may send, by type.
var Received = map[string]Accepted{
	"hello": accept[helloMessage](session.RoleView, fast,
		"Must be the first message. States the size at which the viewer shows the page on its screen (width and height in CSS pixels, 0 for the page's own size), its device pixel ratio, and the largest number of pictures per second that it wants."),
	"ack": accept[ackMessage](session.RoleView, fast,
		"Says that the pictures up to this number have been shown. The server sends further pictures as acks arrive."),
	"ping": accept[pingMessage](session.RoleView, fast,
		"Is answered with a pong that carries the same t."),
	"resize": accept[resizeMessage](session.RoleView, fast,
		"Says how large the viewer shows the page now, and whether the viewer is hidden. A hidden viewer gets no pictures."),
	"mouse": accept[mouseMessage](session.RoleTakeover, fast,
		"Moves the pointer, presses or releases a button, or turns the wheel: event is move, down, up or wheel. Coordinates are CSS pixels of the page's viewport."),
	"key": accept[keyMessage](session.RoleTakeover, fast,
		"Presses or releases a key: event is down or up; the other fields are those of the DOM's KeyboardEvent."),
	"text": accept[textMessage](session.RoleTakeover, fast,
		"Enters a whole text in one step, such as what an input method has committed."),
	"compose": accept[composeMessage](session.RoleTakeover, fast,
		"Shows what an input method composes; an empty text cancels it."),
	"touch": accept[touchMessage](session.RoleTakeover, fast,
		"Touches the page: event is start, move, end or cancel."),
	"drop": accept[dropMessage](session.RoleTakeover, slow,
		"Drops files of the session on the page."),
	"control": accept[controlMessage](session.RoleTakeover, slow,
		"Takes, releases or keeps control: action is take, release or keep. keep refuses a person who asks for control."),
	"hold": accept[holdMessage](session.RoleControl, fast,
		"Holds what programs do, while no person needs to be in control: action is hold, pass (lets an action that waits pass), end (ends it with an error) or go_on. number says which action, 0 for the one that has waited longest."),
	"navigate": accept[navigateMessage](session.RoleTakeover, slow,
		"Navigates the shown tab: action is goto (with url), back, forward, reload or stop."),
	"tab": accept[tabMessage](session.RoleTakeover, slow,
		"Shows, closes or opens a tab: action is activate, close or new (with or without url)."),
	"clipboard": accept[clipboardMessage](session.RoleTakeover, fast,
		"Copies, cuts or pastes: action is copy, cut or paste. paste takes text, or the name of a picture among the session's files."),
	"select": accept[selectMessage](session.RoleTakeover, slow,
		"Answers a select message: the chosen values, or null to leave the field as it is."),
	"dialog": accept[dialogMessage](session.RoleTakeover, slow,
		"Answers a dialog message; text is for a prompt."),
	"chooser": accept[chooserMessage](session.RoleTakeover, slow,
		"Answers a chooser message: names of files of the session, or null to cancel."),
	"auth": accept[authMessage](session.RoleTakeover, slow,
		"Answers an auth message with a name and a password, or refuses."),
	"permission": accept[permissionMessage](session.RoleTakeover, slow,
		"Answers a permission message. When it grants geolocation, it may contain the position that the page gets."),
	"download": accept[downloadMessage](session.RoleTakeover, slow,
		"Cancels a download: action is cancel."),
	"takeover": accept[takeoverMessage](session.RoleTakeover, slow,
		"Acts on the open takeover: action is claim, extend, done or fail."),
}

type (
	helloMessage struct {
		Width  float64 `json:"width"`
		Height float64 `json:"height"`
		DPR    float64 `json:"dpr"`
		MaxFPS float64 `json:"maxFps"`
		Hidden bool    `json:"hidden"`
	}
	ackMessage struct {
		Seq uint32 `json:"seq"`
	}
	pingMessage struct {
		T jsontext.Value `json:"t"`
	}
	resizeMessage struct {
		Width  float64 `json:"width"`
		Height float64 `json:"height"`
		DPR    float64 `json:"dpr"`
		Hidden bool    `json:"hidden"`
	}
	mouseMessage struct {
		session.Mouse
		session.Stamp
	}
	keyMessage struct {
		session.Key
		session.Stamp
	}
	textMessage struct {
		session.Text
		session.Stamp
	}
	composeMessage struct {
		session.Compose
		session.Stamp
	}
	touchMessage struct {
		session.Touch
		session.Stamp
	}
	dropMessage struct {
		session.Drop
		session.Stamp
	}
	controlMessage struct {
		Action string `json:"action"`
	}
	holdMessage struct {
		Action string `json:"action"`
		Number uint64 `json:"number"`
	}
	navigateMessage struct {
		Action string `json:"action"`
		URL    string `json:"url"`
		Tab    uint32 `json:"tab"` // the tab that the person saw; 0 for the shown one
	}
	tabMessage struct {
		Action string `json:"action"`
		Tab    uint32 `json:"tab"`
		URL    string `json:"url"` // the address to open in a new tab
	}
	clipboardMessage struct {
		session.Clipboard
		session.Stamp
	}
	selectMessage struct {
		ID     string   `json:"id"`
		Values []string `json:"values"`
	}
	dialogMessage struct {
		ID     string `json:"id"`
		Accept bool   `json:"accept"`
		Text   string `json:"text"`
	}
	chooserMessage struct {
		ID    string   `json:"id"`
		Files []string `json:"files"`
	}
	authMessage struct {
		ID       string `json:"id"`
		Accept   bool   `json:"accept"`
		Username string `json:"username"`
		Password string `json:"password"`
	}
	permissionMessage struct {
		ID        string   `json:"id"`
		Allow     bool     `json:"allow"`
		Latitude  *float64 `json:"latitude"`
		Longitude *float64 `json:"longitude"`
		Accuracy  float64  `json:"accuracy"`
	}
	downloadMessage struct {
		ID     string `json:"id"`
		Action string `json:"action"`
	}
	takeoverMessage struct {
		Action string `json:"action"`
		ID     string `json:"id"`
		Note   string `json:"note"`
	}
)

func (m *helloMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Hello(screencast.View{Width: int(m.Width), Height: int(m.Height), PixelRatio: m.DPR, MaxRate: int(m.MaxFPS), Hidden: m.Hidden})
}

func (m *resizeMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Resize(screencast.View{Width: int(m.Width), Height: int(m.Height), PixelRatio: m.DPR, Hidden: m.Hidden})
}

//nolint:unparam // the table of messages needs the error
func (m *ackMessage) act(_ context.Context, v *session.Viewer) error {
	v.Ack(m.Seq)
	return nil
}

func (m *mouseMessage) act(_ context.Context, v *session.Viewer) error {
	err := v.Mouse(m.Mouse, m.Stamp)
	if m.Event == "move" && errors.Is(err, session.ErrNotController) {
		return nil // moving the pointer over the picture is not an attempt to act
	}
	return err
}

func (m *keyMessage) act(_ context.Context, v *session.Viewer) error { return v.Key(m.Key, m.Stamp) }

func (m *textMessage) act(_ context.Context, v *session.Viewer) error { return v.Text(m.Text, m.Stamp) }

func (m *composeMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Compose(m.Compose, m.Stamp)
}

func (m *touchMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Touch(m.Touch, m.Stamp)
}

func (m *dropMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Drop(m.Drop, m.Stamp)
}

func (m *controlMessage) act(_ context.Context, v *session.Viewer) error { return v.Control(m.Action) }

func (m *holdMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Hold(m.Action, m.Number)
}

func (m *navigateMessage) act(ctx context.Context, v *session.Viewer) error {
	return v.Navigate(ctx, m.Tab, m.Action, m.URL)
}

func (m *tabMessage) act(ctx context.Context, v *session.Viewer) error {
	if m.Action == "new" && m.URL != "" {
		return v.OpenTab(ctx, m.URL)
	}
	return v.Tab(ctx, m.Action, m.Tab)
}

func (m *clipboardMessage) act(ctx context.Context, v *session.Viewer) error {
	return v.Clipboard(ctx, m.Clipboard, m.Stamp)
}

func (m *selectMessage) act(ctx context.Context, v *session.Viewer) error {
	return v.Select(ctx, m.ID, m.Values)
}

func (m *dialogMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Dialog(m.ID, m.Accept, m.Text)
}

func (m *chooserMessage) act(ctx context.Context, v *session.Viewer) error {
	return v.Chooser(ctx, m.ID, m.Files)
}

func (m *authMessage) act(ctx context.Context, v *session.Viewer) error {
	return v.Auth(ctx, m.ID, m.Accept, m.Username, m.Password)
}

func (m *permissionMessage) act(ctx context.Context, v *session.Viewer) error {
	var place *session.Geolocation
	if m.Latitude != nil && m.Longitude != nil {
		place = &session.Geolocation{Latitude: *m.Latitude, Longitude: *m.Longitude, Accuracy: m.Accuracy}
	}
	return v.Permission(ctx, m.ID, m.Allow, place)
}

func (m *downloadMessage) act(ctx context.Context, v *session.Viewer) error {
	return v.Download(ctx, m.ID, m.Action)
}

func (m *takeoverMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Takeover(m.Action, m.ID, m.Note)
}

// act does nothing, because carryOut answers pings.
func (m *pingMessage) act(context.Context, *session.Viewer) error { return nil }

// parseAs decodes a message. It ignores unknown fields, so that a newer viewer
// works with an older server.
func parseAs[M any, P interface {
	*M
	message
}](raw []byte) (message, error) {
	var m M
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	return P(&m), nil
}

// parsed is a message with its entry in the table.
type parsed struct {
	kind    string
	slow    bool
	message message
}

// parse decodes a text message from a viewer with the given role.
// Viewers see its errors. From the message, they contain only names of fields and
// a shortened type.
func parse(raw []byte, role session.Role) (parsed, error) {
	var envelope struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return parsed{}, messageError("message", err)
	}
	row, ok := Received[envelope.Type]
	if !ok {
		if envelope.Type == "" {
			return parsed{}, errors.New("a message needs a type")
		}
		return parsed{}, fmt.Errorf("unknown type %.40q", envelope.Type)
	}
	if role.Rank() < row.Role.Rank() {
		return parsed{}, fmt.Errorf("%s: %w", envelope.Type, session.ErrRole)
	}
	m, err := row.parse(raw)
	if err != nil {
		return parsed{}, messageError(envelope.Type, err)
	}
	return parsed{kind: envelope.Type, slow: row.slow, message: m}, nil
}

// messageError names the invalid field, but not its content.
func messageError(kind string, err error) error {
	if bad := invalid.JSON(err); bad != nil && bad.Fields[0].Field != "" {
		return fmt.Errorf("%s: %s %s", kind, bad.Fields[0].Field, bad.Fields[0].Error)
	}
	return fmt.Errorf("%s: not a JSON object of the right form", kind)
}
