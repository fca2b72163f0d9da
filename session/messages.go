package session

import (
	"time"

	"takeover/control"
	"takeover/input"
)

// The kinds of input on a viewer's socket.
type (
	// Mouse is a mouse event.
	Mouse = input.Mouse
	// Key is a key that went down or up.
	Key = input.Key
	// Text is text without key presses.
	Text = input.Text
	// Compose is the unfinished text of an input method.
	Compose = input.Compose
	// Touch says which fingers went down, moved or went up.
	Touch = input.Touch
	// Drop is a drop of files on the page.
	Drop = input.Drop
)

// The messages to a viewer. Each marshals to its JSON form.
type (
	// HelloMessage is the first message.
	HelloMessage struct {
		Type     string `json:"type"` // hello
		Session  string `json:"session"`
		Viewer   string `json:"viewer"`
		Role     Role   `json:"role"`
		Protocol int    `json:"protocol"`
		Touch    bool   `json:"touch"`  // the page is made for touch, so touch messages reach it as touch
		Resume   string `json:"resume"` // a secret word: a new connection with ?resume= keeps this one's control
		// Taken is the number of the last input that was handled: 0 for a new view,
		// more for one that was resumed. Field is the field that the person pressed
		// last, as in FocusMessage: 0 if another one, or none, has the focus now.
		// LeaseGrace is how long (ms) a viewer in control may be away and keep it.
		Taken      uint64 `json:"taken"`
		Field      uint64 `json:"field,omitempty"`
		LeaseGrace int64  `json:"leaseGrace"`
	}
	// ControlMessage says who controls the session.
	ControlMessage struct {
		Type   string         `json:"type"` // control
		Holder control.Holder `json:"holder"`
		Epoch  uint64         `json:"epoch"`
		Mine   bool           `json:"mine"`
		Away   bool           `json:"away,omitempty"`  // the connection of the person in control broke
		Asked  *ControlAsked  `json:"asked,omitempty"` // another person asks for control
		Held   *ControlHeld   `json:"held,omitempty"`  // somebody who watches holds what programs do
	}
	// ErrorMessage says what was refused, in words for people.
	ErrorMessage struct {
		Type    string `json:"type"` // error
		Message string `json:"message"`
	}
	// ClipboardMessage is what the page copied, for the person in control: a text,
	// or an image as a PNG.
	ClipboardMessage struct {
		Type  string `json:"type"` // clipboard
		Text  string `json:"text"`
		Image []byte `json:"image,omitempty"`
	}
	// TakenMessage says that all inputs up to N were handled. The viewer need not
	// send them again.
	TakenMessage struct {
		Type string `json:"type"` // taken
		N    uint64 `json:"n"`
	}
	// UntakenMessage says that the inputs with the numbers From to To had no
	// effect on the page, and why. They count as handled.
	UntakenMessage struct {
		Type string `json:"type"` // untaken
		From uint64 `json:"from"`
		To   uint64 `json:"to"`
		Why  string `json:"why"` // control field tab page input
	}
	// TabsMessage lists the tabs.
	TabsMessage struct {
		Type   string `json:"type"` // tabs
		Tabs   []Tab  `json:"tabs"`
		Active uint32 `json:"active"`
	}
	// LifeMessage says when the session's time ends, and whether it is being recorded.
	LifeMessage struct {
		Type      string    `json:"type"` // life
		ExpiresAt time.Time `json:"expiresAt"`
		Timeout   int64     `json:"timeout"`  // ms of the session's life, without the time spent waiting for people
		Paused    bool      `json:"paused"`   // the clock is stopped, because a takeover is open
		Draining  bool      `json:"draining"` // the server stops, and ends the session when nobody works in it, at expiresAt at the latest
		Recording bool      `json:"recording"`
	}
	// TakeoverMessage is the open takeover, or null.
	TakeoverMessage struct {
		Type     string        `json:"type"` // takeover
		Takeover *TakeoverInfo `json:"takeover"`
	}
	// RunMessage describes a run that started, changed its status or ended,
	// without its logs and steps.
	RunMessage struct {
		Type string  `json:"type"` // run
		Run  RunInfo `json:"run"`
	}
	// DownloadMessage is the state of a download.
	DownloadMessage struct {
		Type     string        `json:"type"` // download
		ID       string        `json:"id"`
		State    DownloadState `json:"state"`
		Name     string        `json:"name"` // the suggested name or, for a finished download, the name of the session file
		URL      string        `json:"url"`
		Received int64         `json:"received"`        // bytes
		Total    int64         `json:"total,omitempty"` // bytes, when the server says
		Error    string        `json:"error,omitempty"` // why the download failed
	}
	// StateMessage says that the browser crashed or has recovered.
	StateMessage struct {
		Type string `json:"type"` // crashed recovered waking
	}
	// EndedMessage is the last message.
	EndedMessage struct {
		Type   string `json:"type"` // ended
		Reason string `json:"reason"`
	}
)

// ControlAsked describes a request to the person in control.
type ControlAsked struct {
	By    control.Holder `json:"by"`
	Mine  bool           `json:"mine"`  // the receiver of the message asks
	Until time.Time      `json:"until"` // when control passes on unless the person refuses
}

// Tab is a tab of a session. Numbers rise by one and are never reused.
type Tab struct {
	Tab     uint32   `json:"tab" doc:"The tab's number."`
	URL     string   `json:"url" doc:"The tab's address."`
	Title   string   `json:"title" doc:"The page's title."`
	Favicon string   `json:"favicon" doc:"The page's icon, as a data: address."`
	Loading bool     `json:"loading" doc:"Whether the page is loading."`
	State   TabState `json:"state" doc:"live, or crashed."`
}

// TabState says whether a tab shows its page.
type TabState string

// The states of a tab.
const (
	TabLive    TabState = "live"
	TabCrashed TabState = "crashed" // its renderer has died; the tab shows nothing until it is loaded again
)

// Status is the state of a session.
type Status string

// The states of a session: the last two are final.
const (
	StatusStarting Status = "starting"
	StatusLive     Status = "live"
	StatusCrashed  Status = "crashed"
	StatusReleased Status = "released"
	StatusFailed   Status = "failed"
)

// Ended reports whether a session has ended.
func (s Status) Ended() bool { return s == StatusReleased || s == StatusFailed }

// Info describes a session as the API does, without the fields that only the
// server around it knows.
type Info struct {
	ID           string         `json:"id" doc:"The session's id, a UUID."`
	SessionID    string         `json:"sessionId" doc:"The same as id."`
	Status       Status         `json:"status" doc:"starting, live or crashed; released or failed at the end."`
	Hibernates   bool           `json:"hibernates,omitempty" doc:"The session is without a browser, which comes back with its tabs when somebody uses it."`
	CreatedAt    time.Time      `json:"createdAt" doc:"When the session began."`
	ExpiresAt    time.Time      `json:"expiresAt" doc:"When the session ends, unless it is extended."`
	EndedAt      *time.Time     `json:"endedAt" doc:"When the session ended; null before."`
	EndReason    string         `json:"endReason" doc:"Why the session ended, in words."`
	Duration     int64          `json:"duration" doc:"Milliseconds since the beginning."`
	Timeout      int64          `json:"timeout" doc:"The session's life from its start, in milliseconds."`
	Dimensions   Dimensions     `json:"dimensions" doc:"The page's viewport, in CSS pixels."`
	IsMobile     bool           `json:"isMobile,omitempty" doc:"The page is shown as on a phone: touch, and the viewport that pages ask for."`
	StartURL     string         `json:"startUrl" doc:"The address with which the session began. Not for share links."`
	UserAgent    string         `json:"userAgent" doc:"The User-Agent of requests."`
	URL          string         `json:"url" doc:"The address of the shown tab."`
	Title        string         `json:"title" doc:"The title of the shown tab."`
	Tabs         []Tab          `json:"tabs" doc:"The open tabs."`
	Controller   control.Holder `json:"controller" doc:"Who is in control: a person, a script or another program."`
	Held         bool           `json:"held,omitempty" doc:"Somebody who watches holds what programs do."`
	Viewers      int            `json:"viewers" doc:"How many people watch."`
	Takeover     *TakeoverInfo  `json:"takeover" doc:"The open takeover, or null."`
	EventCount   uint64         `json:"eventCount" doc:"Number of captured events."`
	ProxyTxBytes int64          `json:"proxyTxBytes" doc:"Bytes that the session has sent."`
	ProxyRxBytes int64          `json:"proxyRxBytes" doc:"Bytes that the session has received."`
	Metadata     map[string]any `json:"metadata" doc:"The values that came with the create."`
}
