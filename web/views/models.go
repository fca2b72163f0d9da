// Package views contains the server-rendered pages. The types here are the data
// for each page. They are plain, so that pages can be rendered from any source,
// for example in tests. Everything that is shown is escaped, because titles,
// addresses and reasons come from outside.
package views

import (
	"strconv"
	"time"
)

// Page is the data that every page needs.
type Page struct {
	// Asset returns the URL path of a built asset by its plain name, or "" if the
	// assets are not built. In the server it is static.Asset.
	Asset func(name string) string
	// Imports returns the URL paths of a script's imports. In the server it is
	// static.Imports. Without it, a page loads the same scripts, but later.
	Imports func(name string) []string
	// Nonce is the nonce in this response's Content-Security-Policy.
	Nonce string
	// SignedIn shows what only an operator can use: navigation and signing out.
	SignedIn bool
	// Demo shows a link to the demo site.
	Demo bool
	// Embed lists the sites that may frame this page, separated by spaces, or is
	// empty.
	Embed string
	// Version of the server, for the account menu. May be empty.
	Version string
	// Now is the time that relative times count from. Zero means time.Now.
	Now time.Time
}

// SessionsPage is `/`: the open takeovers, the live sessions and the ended ones.
type SessionsPage struct {
	Page
	Waiting []Waiting     // oldest first
	Live    []SessionInfo // newest first; of very many, only those that the page shows
	Ended   []SessionInfo // last ended first; the page shows all of them
	// LiveTotal is how many sessions are live.
	LiveTotal int
	// EndedTotal is how many ended sessions are kept, with or without the filter.
	EndedTotal int
	// FailedTotal is how many sessions failed, also live ones: see Failed.
	FailedTotal int
	// Found has how many entries are in each state that the rest of the filter finds.
	Found map[string]int
	// Scripts has how many sessions ran a script last, by its name.
	Scripts map[string]int
	// Since has how many sessions were live in each of the filter's times.
	Since  map[string]int
	Filter Filter
	// Taken of the server's Most browsers are in use. A cluster's are in Nodes.
	Taken, Most int
	Nodes       []Node // of the cluster, by name; empty without one
	// BaseURL of the server, without a slash at the end, for the examples of
	// the empty page.
	BaseURL string
	// SessionTimeout is the default life of a session, TakeoverTimeout the
	// default timeout of a takeover.
	SessionTimeout, TakeoverTimeout time.Duration
}

// Node is a server of the cluster.
type Node struct {
	Name       string
	Live, Most int // sessions
	Waiting    int // requests for a session
	Ends       bool
	Silent     bool // what it has is not on the page
}

// words says how much a node does.
func (n Node) words() string {
	switch {
	case n.Silent:
		return "does not answer: its sessions are not shown"
	case n.Ends:
		return strconv.Itoa(n.Live) + " sessions, takes no new ones"
	}
	text := strconv.Itoa(n.Live) + " of " + strconv.Itoa(n.Most)
	if n.Waiting > 0 {
		text += ", " + strconv.Itoa(n.Waiting) + " waiting"
	}
	return text
}

// SettingsPage is `/settings`.
type SettingsPage struct {
	Page
	Facts       []Fact // facts about the server, read-only
	Webhooks    []Webhook
	Connections []Connection // to a new session
}

// Connection says how one kind of program connects.
type Connection struct {
	ID, Label string
	Language  string // of the code; empty for an address
	Code      string // names the variable that has the key, never a key
}

// Webhook is an address that receives webhooks.
type Webhook struct {
	Name          string
	Pending, Dead int
	LastError     string
}

// Fact is a fact about the server.
type Fact struct{ Name, Value string }

// Waiting is one open takeover in the inbox.
type Waiting struct {
	ID          string
	SessionID   string
	Reason      string
	RequestedBy string // "script", "api", …
	Claimed     bool   // a person is working on it
	Script      string // name of the session's newest run's script; empty if it has none
	PageURL     string // address of the session's page
	Link        string // the link for a person; if its fragment has no secret, a secret is created when the link is copied
	CreatedAt   time.Time
	Deadline    time.Time
}

// SessionInfo is one session in a list.
type SessionInfo struct {
	ID         string
	Status     string // starting live crashed released failed
	Title      string
	URL        string
	IdleSince  time.Time // when it was last used; zero while somebody uses it
	Hibernates bool      // it is without a browser until somebody uses it
	TabCrashed bool      // the renderer of the shown page has died
	Controller string    // "", "script", "viewer:…", "client:…"
	Held       bool      // somebody holds what programs do
	Viewers    int
	Runs       int
	RunsFailed int
	LastRun    string // status of the newest run; empty without one
	Script     string // name of the newest run's script; empty if it has none
	Comment    string // what that script's first comment says, or empty
	Helped     bool   // a person did what one of its takeovers asked for
	NoPicture  bool   // it has ended, and left no picture
	Failure    string // first line of the error of the newest run that failed, or empty
	Events     uint64
	CreatedAt  time.Time
	ExpiresAt  time.Time
	EndedAt    time.Time // zero while it is live
	EndReason  string
}

// SessionPage is `/sessions/:id`.
type SessionPage struct {
	Page
	Session SessionInfo
	// Width and Height are the size of the page's viewport in CSS pixels, so that
	// the layout is right before the first picture. Zero means 1280×720.
	Width, Height int
	// Sample is the script that the editor starts with.
	Sample string
	// Capture is the capture configuration of the events panel, as JSON for the
	// API.
	Capture     string
	Connections []Connection // to this session; none for a guest
	// Ended hides the parts of the events panel that only a live session has.
	Ended bool
	// Guest hides what a share link does not permit: scripts, events, sharing and
	// ending the session.
	Guest bool
	// Watch hides what acts in the session as well, for a guest who may only watch.
	Watch bool
}

// TakeoverPage is `/takeover/:id`, for the person who was asked.
type TakeoverPage struct {
	Page
	ID        string
	SessionID string
	Reason    string
	Note      string // text in addition to the reason, or empty
	Kept      bool   // what the person does is kept as steps of a script
	For       string // the name of who asked, or empty
	State     string // pending claimed done failed expired cancelled
	Deadline  time.Time
	// Width and Height as in SessionPage.
	Width, Height int
}

// LockedPage is shown to a visitor who has no access yet. If the address has the
// secret of a share link in its fragment, the page's script exchanges the secret
// for a cookie by `POST /v1/links/redeem` and loads the page again. Otherwise the
// page offers to sign in.
type LockedPage struct {
	Page
	// Next is the path to return to after signing in.
	Next string
	// Lost says why the visitor's link no longer works, or is empty.
	Lost string
	// Following is the plain name of the script of the page that is shown after
	// access is granted.
	Following string
}

// LoginPage is `/login`. Its form posts "key" and "next" to `/login`.
type LoginPage struct {
	Page
	Next  string // path to go to afterwards, or empty
	Code  string // of a sign-in link; the page sends it instead of a key
	Error string // why the last attempt failed, or empty
}

// ProblemPage says what happened, what is not affected, and what to do.
type ProblemPage struct {
	Page
	Status int // HTTP status, shown small; 0 shows none
	Title  string
	Detail string
	// Action is what to do. An empty ActionURL hides it.
	ActionURL  string
	ActionText string
}

// The problems that have texts of their own.

// NotFound returns the page for an address that does not exist.
func NotFound(p Page) ProblemPage {
	return ProblemPage{
		Page: p, Status: 404, Title: "Page not found",
		Detail:    "The address may be mistyped, or the page was removed.",
		ActionURL: "/", ActionText: "All sessions",
	}
}

// NotKept returns the page for an id that no session has, or no request for a person: what
// is "session" or "request". The server keeps most ended sessions, each for keptFor, and
// their requests with them.
func NotKept(p Page, what string, most int, keptFor time.Duration) ProblemPage {
	page := ProblemPage{
		Page: p, Status: 404, Title: "This " + what + " is not there",
		Detail: "Sessions are kept for " + inWords(keptFor) + " after their end, the last " + strconv.Itoa(most) +
			" of them, unless somebody deletes them. It may be gone, or the address may be mistyped.",
		ActionURL: "/", ActionText: "All sessions",
	}
	if what == "request" {
		page.Detail = "A request for a person is kept as long as its session. " + page.Detail
		page.ActionURL, page.ActionText = "/takeovers", "All takeovers"
	}
	return page
}

// SessionEnded returns the page that a guest gets for a session that has ended;
// reason may be empty. The page has no button, because a guest cannot open another
// page.
func SessionEnded(p Page, reason string) ProblemPage {
	why := "Its browser is closed."
	switch reason {
	case "":
	case "timeout":
		why = "The session reached its time limit, and its browser is closed."
	case "idle timeout":
		why = "Nobody used it for a while, so its browser is closed."
	case "drained":
		why = "Its server was stopped, and its browser is closed."
	case "released":
		why = "A program ended it over the API, and its browser is closed."
	case endedByPerson:
		why = "A person ended it, and its browser is closed."
	default:
		why += " Reason: " + reason + "."
	}
	return ProblemPage{
		Page: p, Status: 410, Title: "This session has ended",
		Detail: why + " If you need to continue, ask the person who sent you the link for a new one.",
	}
}

// LinkExpired returns the page for a share link that no longer opens anything.
func LinkExpired(p Page) ProblemPage {
	return ProblemPage{
		Page: p, Status: 410, Title: "This link no longer works",
		Detail: "It was used up or revoked, or it has expired. Ask the person who sent it for a new one.",
	}
}

// Forbidden returns the page for a visitor who may not see a page.
func Forbidden(p Page) ProblemPage {
	return ProblemPage{
		Page: p, Status: 403, Title: "You cannot open this page",
		Detail:    "Your link or key does not give access to this page.",
		ActionURL: "/login", ActionText: "Sign in with a key",
	}
}

// maxScriptName is the longest name of a script, in characters. Package
// savedscripts has the same limit.
const maxScriptName = 100

// ScriptsPage is the page of saved scripts, the last changed first.
type ScriptsPage struct {
	Page
	Filter  Filter
	Scripts []SavedScript
	Samples []SampleScript // which the page offers as long as nothing is saved
}

// SampleScript is a script to begin with.
type SampleScript struct{ Title, Code string }

// SavedScript is a saved script. Args is JSON.
type SavedScript struct {
	ID, Name, Code, Args string
	UpdatedAt            time.Time
	Last                 LastRun // empty if no run of it is kept
}

// LastRun is the newest run of a script.
type LastRun struct {
	ID, SessionID string
	Status        string
	At            time.Time // of its end, or of its start while it runs
}
