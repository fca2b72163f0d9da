package browserless

import (
	"encoding/json"
	"regexp"
	"time"

	"takeover/invalid"
	"takeover/session"
)

// Version is the answer to GET /json/version.
type Version struct {
	Browser              string `json:"Browser" doc:"Name and version of Chromium. Until the server has started one, its own."`
	ProtocolVersion      string `json:"Protocol-Version" doc:"Version of the DevTools protocol."`
	UserAgent            string `json:"User-Agent,omitempty" doc:"The User-Agent of Chromium. This field and the next two are left out until the server has started one."`
	V8Version            string `json:"V8-Version,omitempty" doc:"Version of V8."`
	WebKitVersion        string `json:"WebKit-Version,omitempty" doc:"Version of WebKit, as Chromium tells it."`
	WebSocketDebuggerURL string `json:"webSocketDebuggerUrl" doc:"The socket. Each connection gets a session of its own."`
}

// Session is a live session in the list of GET /sessions.
type Session struct {
	ID                  string    `json:"id" doc:"The session's id."`
	BrowserID           string    `json:"browserId" doc:"The same as id."`
	Browser             string    `json:"browser" doc:"chromium."`
	Type                string    `json:"type" doc:"browser."`
	Running             bool      `json:"running" doc:"true."`
	URL                 string    `json:"url" doc:"The address of the shown tab."`
	Title               string    `json:"title" doc:"The title of the shown tab."`
	StartedOn           time.Time `json:"startedOn" doc:"When the session began."`
	TimeAliveMS         int64     `json:"timeAliveMs" doc:"Milliseconds since the beginning."`
	TimeToLiveMS        int64     `json:"timeToLive" doc:"Milliseconds until the end."`
	NumberConnected     int       `json:"numbConnected" doc:"How many people watch."`
	BrowserWSEndpoint   string    `json:"browserWSEndpoint" doc:"The browser's socket."`
	DevtoolsFrontendURL string    `json:"devtoolsFrontendUrl" doc:"The page in which people see the session and take it over."`
	KillURL             string    `json:"killURL" doc:"The call that ends the session."`
	UserDataDir         *string   `json:"userDataDir" doc:"null: callers may not read it."`
}

// SessionOf describes a session. The addresses are those of its socket, of its page
// and of the call that ends it.
func SessionOf(s *session.Session, socket, page, kill string) Session {
	info := s.Info()
	return Session{
		ID: info.ID, BrowserID: info.ID, Browser: "chromium", Type: "browser", Running: !info.Status.Ended(), URL: info.URL, Title: info.Title,
		StartedOn: info.CreatedAt, TimeAliveMS: time.Since(info.CreatedAt).Milliseconds(), TimeToLiveMS: time.Until(info.ExpiresAt).Milliseconds(),
		NumberConnected: info.Viewers, BrowserWSEndpoint: socket, DevtoolsFrontendURL: page, KillURL: kill,
	}
}

// FunctionRequest is the body of POST /function, unless that is the code itself.
type FunctionRequest struct {
	Code    string          `json:"code" doc:"A module that exports a function: export default async ({ page, context }) => ({ data, type })." required:"true"`
	Context json.RawMessage `json:"context,omitempty" doc:"The function's argument of that name: any JSON value."`
}

// exported matches what makes a function the module's value.
var exported = regexp.MustCompile(`(?m)^[ \t]*(?:export\s+default\s+|module\.exports\s*=\s*)`)

// Script returns a script that calls the function with the page and the context.
// The page is one of Playwright, and the script has the context as args. The error
// is an *invalid.Error.
func (r *FunctionRequest) Script() (string, error) {
	at := exported.FindStringIndex(r.Code)
	if at == nil {
		return "", invalid.Field("code", "must export a function: export default async ({ page, context }) => { … }")
	}
	return r.Code[:at[0]] + "const exportedFunction = " + r.Code[at[1]:] + "\n;return await exportedFunction({ page, context: args ?? {} })", nil
}

// FunctionAnswer reads the value of a function: {data, type}, or any other value,
// which is sent as JSON.
func FunctionAnswer(result json.RawMessage) (*Answer, error) {
	var value struct {
		Data json.RawMessage `json:"data"`
		Type string          `json:"type"`
	}
	if json.Unmarshal(result, &value) != nil || value.Type == "" {
		if len(result) == 0 {
			result = json.RawMessage("null")
		}
		return &Answer{Type: "application/json", Body: result}, nil
	}
	var text string
	if json.Unmarshal(value.Data, &text) == nil && value.Type != "application/json" {
		return &Answer{Type: value.Type, Body: []byte(text)}, nil
	}
	return &Answer{Type: value.Type, Body: value.Data}, nil
}
