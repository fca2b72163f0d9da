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
	Browser              string `json:"Browser"`
	ProtocolVersion      string `json:"Protocol-Version"`
	WebSocketDebuggerURL string `json:"webSocketDebuggerUrl"` // each connection gets a session of its own
}

// Session is a live session in the list of GET /sessions.
type Session struct {
	ID                  string    `json:"id"`
	BrowserID           string    `json:"browserId"`
	Browser             string    `json:"browser"`
	Type                string    `json:"type"`
	Running             bool      `json:"running"`
	URL                 string    `json:"url"`
	Title               string    `json:"title"`
	StartedOn           time.Time `json:"startedOn"`
	TimeAliveMS         int64     `json:"timeAliveMs"`
	TimeToLiveMS        int64     `json:"timeToLive"` // ms
	NumberConnected     int       `json:"numbConnected"`
	BrowserWSEndpoint   string    `json:"browserWSEndpoint"`
	DevtoolsFrontendURL string    `json:"devtoolsFrontendUrl"` // the page in which people see and take over the session
	KillURL             string    `json:"killURL"`
	UserDataDir         *string   `json:"userDataDir"` // null: no caller may read it
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
	Code    string          `json:"code"`
	Context json.RawMessage `json:"context,omitempty"` // the function's argument of that name
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
