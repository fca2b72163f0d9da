// Package views holds the server-rendered pages. The types here say what each
// page needs; they are plain data, so that the pages can be rendered from
// anything, a test included. Everything that is shown is escaped: titles,
// addresses and reasons come from outside.
package views

import "time"

// Page is what every page needs.
type Page struct {
	// Asset gives the URL path of a built asset by its plain name, and "" when
	// the assets are not built. It is static.Asset in the server.
	Asset func(name string) string
	// Imports gives the URL paths of what a script imports. It is static.Imports in
	// the server; without it a page loads no less, only later.
	Imports func(name string) []string
	// Nonce is the one of this answer's Content-Security-Policy.
	Nonce string
	// SignedIn shows what only an operator can use: navigation, signing out.
	SignedIn bool
	// Embed is the sites that may frame this page, with spaces between, or empty.
	Embed string
	// Version of the server, for the account menu. May be empty.
	Version string
	// Now is the time that relative times count from. Zero means time.Now.
	Now time.Time
}

// SessionsPage is `/`: who waits for a person, what is live, what has ended.
type SessionsPage struct {
	Page
	Waiting []Waiting     // oldest first
	Live    []SessionInfo // newest first
	Ended   []SessionInfo // the last to end first; the page shows as many as it is given
	// EndedTotal is how many ended sessions are kept, whatever the filter shows.
	EndedTotal int
	Filter     Filter
	// BaseURL of the server, without a slash at the end, for the examples of
	// the empty page.
	BaseURL string
	// SessionTimeout is how long a session lives that says nothing else,
	// TakeoverTimeout how long a request in it waits for a person.
	SessionTimeout, TakeoverTimeout time.Duration
}

// SettingsPage is `/settings`.
type SettingsPage struct {
	Page
	Facts    []Fact // of the server, to be read only
	Webhooks []Webhook
}

// Webhook is an address that is told what happens.
type Webhook struct {
	Name          string
	Pending, Dead int
	LastError     string
}

// Fact is one thing that the server says of itself.
type Fact struct{ Name, Value string }

// Waiting is one open takeover in the inbox.
type Waiting struct {
	ID          string
	SessionID   string
	Reason      string
	RequestedBy string // "script", "api", …
	Claimed     bool   // somebody is on it
	PageURL     string // where the browser is
	Link        string // the link for a person; without a secret in its fragment one is made when it is copied
	CreatedAt   time.Time
	Deadline    time.Time
}

// SessionInfo is one session in a list.
type SessionInfo struct {
	ID         string
	Status     string // starting live crashed released failed
	Title      string
	URL        string
	TabCrashed bool   // the page that is shown has no renderer any more
	Controller string // "", "script", "viewer:…", "client:…"
	Viewers    int
	Runs       int
	RunsFailed int
	LastRun    string // status of the newest run; empty without one
	Failure    string // first line of the error of the newest run that failed, or empty
	Events     uint64
	CreatedAt  time.Time
	ExpiresAt  time.Time
	EndedAt    time.Time // zero while it lives
	EndReason  string
}

// DocsPage is `/docs`.
type DocsPage struct {
	Page
	BaseURL  string // of the server, without a slash at the end
	Sections []DocsSection
	Problems []DocsProblem
	// FromClient and FromServer are the messages of the viewer's socket.
	FromClient, FromServer []DocsMessage
}

// DocsSection is some of the calls, in the order they are shown.
type DocsSection struct {
	ID, Title string
	Calls     []DocsCall
}

// DocsCall is one call of the API. ID is its anchor.
type DocsCall struct {
	ID, Method, Path, Does string
	Answers                int // status of success
	Who                    string
}

// DocsMessage is one message of the viewer's socket. ID is its anchor.
type DocsMessage struct {
	ID, Type string
	Fields   string // with their forms
	Does     string
	Who      string // who may send it; empty for the server's
}

// DocsProblem is one class of failure. ID is its anchor, to which the type of
// such an answer leads.
type DocsProblem struct {
	ID     string
	Status int
	Title  string
}

// SessionPage is `/sessions/:id`.
type SessionPage struct {
	Page
	Session SessionInfo
	// Width and Height of the page's viewport in CSS pixels, so that the layout
	// stands before the first picture. Zero means 1280×720.
	Width, Height int
	// Sample is the script that the editor starts with.
	Sample string
	// Capture is what the panel of events captures, as the API's JSON.
	Capture string
	// Ended leaves out of the panel of events what only a live session has.
	Ended bool
	// Guest leaves out what a share link does not give: scripts, events,
	// sharing and ending the session.
	Guest bool
}

// TakeoverPage is `/takeover/:id`, for the one person who was asked.
type TakeoverPage struct {
	Page
	ID        string
	SessionID string
	Reason    string
	Note      string // more than the reason, or empty
	State     string // pending claimed done failed expired cancelled
	Deadline  time.Time
	// Width and Height as in SessionPage.
	Width, Height int
}

// LockedPage stands in for a page whose visitor has not been let in yet. With a
// share link, whose secret is in the address's fragment, its script trades the
// secret by `POST /v1/links/redeem` for a cookie and loads the page again.
// Without one it offers to sign in.
type LockedPage struct {
	Page
	// Next is the path to come back to after signing in.
	Next string
	// Lost says why a link that once let them in does so no more, or is empty.
	Lost string
	// Following is the plain name of the script of the page that follows.
	Following string
}

// LoginPage is `/login`. Its form posts "key" and "next" to `/login`.
type LoginPage struct {
	Page
	Next  string // path to go to afterwards, or empty
	Error string // why the last attempt failed, or empty
}

// ProblemPage says what happened, what is safe and what to do.
type ProblemPage struct {
	Page
	Status int // HTTP status, shown small; 0 shows none
	Title  string
	Detail string
	// Action is what to do; empty ActionURL shows none.
	ActionURL  string
	ActionText string
}

// The problems that have words of their own.

// NotFound is for an address that leads nowhere.
func NotFound(p Page) ProblemPage {
	return ProblemPage{
		Page: p, Status: 404, Title: "Page not found",
		Detail:    "The address may be mistyped, or the page was removed.",
		ActionURL: "/", ActionText: "All sessions",
	}
}

// SessionEnded is for a session that is over; reason may be empty.
func SessionEnded(p Page, reason string) ProblemPage {
	detail := "Its browser is closed. Its runs and events are still available through the API."
	if reason != "" {
		detail = "Reason: " + reason + ". " + detail
	}
	return ProblemPage{Page: p, Status: 410, Title: "This session has ended", Detail: detail, ActionURL: "/", ActionText: "All sessions"}
}

// LinkExpired is for a share link that no longer opens anything.
func LinkExpired(p Page) ProblemPage {
	return ProblemPage{
		Page: p, Status: 410, Title: "This link no longer works",
		Detail: "It was used up or revoked, or it has expired. Ask the person who sent it for a new one.",
	}
}

// Forbidden is for a visitor who may not see a page.
func Forbidden(p Page) ProblemPage {
	return ProblemPage{
		Page: p, Status: 403, Title: "You cannot open this page",
		Detail:    "Your link or key does not give access to this page.",
		ActionURL: "/login", ActionText: "Sign in with a key",
	}
}

// maxScriptName is what session allows.
const maxScriptName = 100

// ScriptsPage is the page of saved scripts, the newest change first.
type ScriptsPage struct {
	Page
	Scripts []SavedScript
}

// SavedScript is one of them; Args is JSON.
type SavedScript struct {
	ID, Name, Code, Args string
	UpdatedAt            time.Time
}
