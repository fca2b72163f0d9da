package web

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/screencast"
	"takeover/session"
)

// messageLimit bounds a text message of a viewer, in bytes.
const messageLimit = 1 << 20

// viewerMessage is a parsed message from a viewer.
type viewerMessage interface {
	act(ctx context.Context, v *session.Viewer) error
}

// viewerMessages maps each type of message to its parser, to the least role that
// may send it, and to whether it may take long and must not delay input.
var viewerMessages = map[string]struct {
	role  session.Role
	slow  bool
	parse func(raw []byte) (viewerMessage, error)
}{
	"hello":      {session.RoleView, false, parseAs[helloMessage]},
	"ack":        {session.RoleView, false, parseAs[ackMessage]},
	"ping":       {session.RoleView, false, parseAs[pingMessage]},
	"resize":     {session.RoleView, false, parseAs[resizeMessage]},
	"mouse":      {session.RoleTakeover, false, parseAs[mouseMessage]},
	"key":        {session.RoleTakeover, false, parseAs[keyMessage]},
	"text":       {session.RoleTakeover, false, parseAs[textMessage]},
	"compose":    {session.RoleTakeover, false, parseAs[composeMessage]},
	"touch":      {session.RoleTakeover, false, parseAs[touchMessage]},
	"drop":       {session.RoleTakeover, true, parseAs[dropMessage]},
	"control":    {session.RoleTakeover, true, parseAs[controlMessage]},
	"navigate":   {session.RoleTakeover, true, parseAs[navigateMessage]},
	"tab":        {session.RoleTakeover, true, parseAs[tabMessage]},
	"clipboard":  {session.RoleTakeover, false, parseAs[clipboardMessage]},
	"select":     {session.RoleTakeover, true, parseAs[selectMessage]},
	"dialog":     {session.RoleTakeover, true, parseAs[dialogMessage]},
	"chooser":    {session.RoleTakeover, true, parseAs[chooserMessage]},
	"auth":       {session.RoleTakeover, true, parseAs[authMessage]},
	"permission": {session.RoleTakeover, true, parseAs[permissionMessage]},
	"download":   {session.RoleTakeover, true, parseAs[downloadMessage]},
	"takeover":   {session.RoleTakeover, true, parseAs[takeoverMessage]},
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
		Epoch uint64 `json:"epoch"`
	}
	keyMessage struct {
		session.Key
		Epoch uint64 `json:"epoch"`
	}
	textMessage struct {
		session.Text
		Epoch uint64 `json:"epoch"`
	}
	composeMessage struct {
		session.Compose
		Epoch uint64 `json:"epoch"`
	}
	touchMessage struct {
		session.Touch
		Epoch uint64 `json:"epoch"`
	}
	dropMessage struct {
		session.Drop
		Epoch uint64 `json:"epoch"`
	}
	controlMessage struct {
		Action string `json:"action"`
	}
	navigateMessage struct {
		Action string `json:"action"`
		URL    string `json:"url"`
	}
	tabMessage struct {
		Action string `json:"action"`
		Tab    uint32 `json:"tab"`
		URL    string `json:"url"` // to open in a new tab
	}
	clipboardMessage struct {
		session.Clipboard
		Epoch uint64 `json:"epoch"`
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
	err := v.Mouse(m.Mouse, m.Epoch)
	if m.Event == "move" && errors.Is(err, session.ErrNotController) {
		return nil // skipping a picture is no attempt to act
	}
	return err
}

func (m *keyMessage) act(_ context.Context, v *session.Viewer) error { return v.Key(m.Key, m.Epoch) }

func (m *textMessage) act(_ context.Context, v *session.Viewer) error { return v.Text(m.Text, m.Epoch) }

func (m *composeMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Compose(m.Compose, m.Epoch)
}

func (m *touchMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Touch(m.Touch, m.Epoch)
}

func (m *dropMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Drop(m.Drop, m.Epoch)
}

func (m *controlMessage) act(_ context.Context, v *session.Viewer) error { return v.Control(m.Action) }

func (m *navigateMessage) act(ctx context.Context, v *session.Viewer) error {
	return v.Navigate(ctx, m.Action, m.URL)
}

func (m *tabMessage) act(ctx context.Context, v *session.Viewer) error {
	if m.Action == "new" && m.URL != "" {
		return v.OpenTab(ctx, m.URL)
	}
	return v.Tab(ctx, m.Action, m.Tab)
}

func (m *clipboardMessage) act(ctx context.Context, v *session.Viewer) error {
	return v.Clipboard(ctx, m.Clipboard, m.Epoch)
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
	var place *session.Place
	if m.Latitude != nil && m.Longitude != nil {
		place = &session.Place{Latitude: *m.Latitude, Longitude: *m.Longitude, Accuracy: m.Accuracy}
	}
	return v.Permission(ctx, m.ID, m.Allow, place)
}

func (m *downloadMessage) act(ctx context.Context, v *session.Viewer) error {
	return v.Download(ctx, m.ID, m.Action)
}

func (m *takeoverMessage) act(_ context.Context, v *session.Viewer) error {
	return v.Takeover(m.Action, m.ID, m.Note)
}

// act does nothing, because the writer answers a ping.
func (m *pingMessage) act(context.Context, *session.Viewer) error { return nil }

// parseAs decodes a message. It ignores unknown fields, so that a newer viewer
// can talk to an older server.
func parseAs[M any, P interface {
	*M
	viewerMessage
}](raw []byte) (viewerMessage, error) {
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
	message viewerMessage
}

// parseViewerMessage decodes a text message from a viewer with the given role.
// Its errors are for the viewer; of the message, they contain only names of
// fields and a short type.
func parseViewerMessage(raw []byte, role session.Role) (parsed, error) {
	var envelope struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return parsed{}, messageError("message", err)
	}
	row, ok := viewerMessages[envelope.Type]
	if !ok {
		if envelope.Type == "" {
			return parsed{}, errors.New("a message needs a type")
		}
		return parsed{}, fmt.Errorf("unknown type %.40q", envelope.Type)
	}
	if rank(role) < rank(row.role) {
		return parsed{}, fmt.Errorf("%s: %w", envelope.Type, session.ErrRole)
	}
	m, err := row.parse(raw)
	if err != nil {
		return parsed{}, messageError(envelope.Type, err)
	}
	return parsed{kind: envelope.Type, slow: row.slow, message: m}, nil
}

// messageError names the invalid field without its content.
func messageError(kind string, err error) error {
	f := asFailure(decodeFailure(err))
	if len(f.fields) > 0 && f.fields[0].Field != "" {
		return fmt.Errorf("%s: %s %s", kind, f.fields[0].Field, f.fields[0].Error)
	}
	return fmt.Errorf("%s: not a JSON object of the right form", kind)
}
