// Package limits counts how often the limits of the server are reached.
//
// Each limit at which the running server drops, refuses or cuts something has a
// name here. /metrics shows the counts as takeover_limit_hits_total{limit="…"},
// and docs/limits.md lists the bounds with their names.
package limits

import "sync/atomic"

// Name is the name of a limit in /metrics.
type Name string

// The limits that are counted.
const (
	Sessions           Name = "sessions"             // requests for a session that a full server refused
	KeySessions        Name = "key-sessions"         // requests for a session that were refused because the key has all that it may have
	Creates            Name = "creates"              // requests for a session that were refused because the caller made too many
	Connections        Name = "connections"          // connections closed or refused because there are too many
	SignIns            Name = "sign-ins"             // wrong keys of callers who tried too many
	Viewers            Name = "viewers"              // viewers refused by a session
	Guests             Name = "guests"               // viewers with links refused by a session
	Links              Name = "links"                // links refused by a session
	LinkUses           Name = "link-uses"            // uses refused because a link is opened too often
	Tabs               Name = "tabs"                 // tabs refused to people and to pages
	Profile            Name = "profile"              // sessions ended because Chromium stored too much
	ProfileFilling     Name = "profile-filling"      // Chromiums that stored 80 % of what they may
	Profiles           Name = "profiles"             // saved profiles refused
	ProfileSize        Name = "profile-size"         // saved profiles that lack a state or a user data directory, because it is too large
	Files              Name = "files"                // files refused in a session
	GuestFiles         Name = "guest-files"          // files refused to people with links
	Memory             Name = "memory"               // times that the kernel ended a part of a Chromium that used all the memory that it may
	Restarts           Name = "restarts"             // sessions ended because Chromium died too often
	Runs               Name = "runs"                 // runs of a session forgotten to make room for newer ones
	RunEvents          Name = "run-events"           // steps and log lines omitted from a run
	Takeovers          Name = "takeovers"            // takeovers of a session forgotten to make room for newer ones
	Downloads          Name = "downloads"            // downloads that later viewers are not told about
	Programs           Name = "programs"             // programs refused by a session
	Waiting            Name = "waiting-commands"     // commands of programs refused because too many wait for a person
	ProgramOutbox      Name = "program-outbox"       // programs disconnected because they do not read
	Trajectory         Name = "trajectory"           // events, pictures and documents that a trajectory lacks
	Trajectories       Name = "trajectories"         // bundles that were removed to make room
	Trace              Name = "trace-bytes"          // traces of programs that lack events or are refused, because too much is kept
	Messages           Name = "large-messages"       // sockets of programs closed because large messages did not fit into memory or did not arrive whole
	MCPClients         Name = "mcp-clients"          // clients of MCP that were forgotten or refused because too many are connected
	Playwright         Name = "playwright"           // clients of Playwright's protocol refused because too many are connected
	PlaywrightFiles    Name = "playwright-files"     // such clients disconnected because their files are too large
	Permissions        Name = "permissions"          // permissions that people could not give
	SignInLinks        Name = "sign-in-links"        // how often all open sign-in links were dropped
	Secrets            Name = "secrets"              // typed secrets forgotten to make room for newer ones
	Asked              Name = "typed-keys"           // keys of people for which the focused field is not known
	ViewerMessages     Name = "viewer-messages"      // messages of viewers that were read with a delay
	ViewerActs         Name = "viewer-acts"          // slow messages of viewers that were refused
	ViewerOutbox       Name = "viewer-outbox"        // viewers disconnected because they do not read
	Pictures           Name = "pictures"             // viewers disconnected because they acknowledge no pictures
	Stalls             Name = "stalls"               // viewers and readers disconnected because they read nothing
	CaptureQueue       Name = "capture-queue"        // browser messages dropped before they became events
	CaptureCut         Name = "capture-cut"          // events with a part cut off
	CaptureInteraction Name = "capture-interactions" // interactions with pages that were dropped
	CaptureTables      Name = "capture-tables"       // frames, contexts, requests, sockets and downloads not followed
	EventsMemory       Name = "events-memory"        // events that a reader missed because they no longer fitted into memory
	Disk               Name = "disk"                 // writes of the store refused because the disk is full
	EventsRefused      Name = "events-refused"       // events refused by the durable stream or S2
	ConsoleRate        Name = "console-rate"         // lines dropped from the background log
	ConsoleRealms      Name = "console-realms"       // pages and workers that the background log does not listen to
	ConsoleKept        Name = "console-kept"         // lines and sections omitted from the background log
	Egress             Name = "egress-connections"   // connections to the network refused to a session
	Renders            Name = "renders"              // pictures and documents of pages forgotten to make room for newer ones
	ProxyHead          Name = "proxy-heads"          // tunnels refused because the upstream proxy's answer is too long
	SavedScripts       Name = "saved-scripts"        // saved scripts refused
	WebhookQueue       Name = "webhook-queue"        // webhooks refused because too many wait
	WebhookDead        Name = "webhook-dead"         // failed webhooks forgotten to make room for newer ones
	WebhookBody        Name = "webhook-body"         // webhooks sent without their data
)

// Names lists every limit, in the order of /metrics.
var Names = []Name{
	Sessions, KeySessions, Creates, Connections, SignIns, Viewers, Guests, Links, LinkUses, Tabs, Profile, ProfileFilling, Profiles, ProfileSize, Files, GuestFiles, Memory, Restarts, Runs, RunEvents, Takeovers, Downloads, Programs, Waiting, ProgramOutbox, Trajectory, Trajectories, Trace, Messages, MCPClients, Playwright, PlaywrightFiles, Permissions, SignInLinks, Secrets, Asked,
	ViewerMessages, ViewerActs, ViewerOutbox, Pictures, Stalls,
	CaptureQueue, CaptureCut, CaptureInteraction, CaptureTables, EventsMemory, Disk, EventsRefused, ConsoleRate, ConsoleRealms, ConsoleKept,
	Egress, ProxyHead, Renders, SavedScripts, WebhookQueue, WebhookDead, WebhookBody,
}

// Hits counts the hits of every limit. A nil Hits counts nothing. Its methods may
// be called from any goroutine.
type Hits struct{ counts map[Name]*atomic.Uint64 }

// New returns Hits in which every limit has been reached 0 times.
func New() *Hits {
	h := &Hits{counts: make(map[Name]*atomic.Uint64, len(Names))}
	for _, name := range Names {
		h.counts[name] = new(atomic.Uint64)
	}
	return h
}

// Add counts n hits of a limit.
func (h *Hits) Add(name Name, n uint64) {
	if h != nil {
		h.counts[name].Add(n)
	}
}

// Count returns how often a limit was reached.
func (h *Hits) Count(name Name) uint64 {
	if h == nil {
		return 0
	}
	return h.counts[name].Load()
}
