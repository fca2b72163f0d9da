package cdp

import (
	"context"
	"slices"
	"strings"

	"takeover/cdp/policy"
	"takeover/session"
)

// ProtocolVersion is the version of the DevTools protocol, as Chromium reports it.
const ProtocolVersion = "1.3"

// Endpoint says under which addresses a session's browser is found.
type Endpoint struct {
	Socket string                     // the address of the browser's socket, with the caller's key if it came in the query
	Page   func(target string) string // the address of a page's socket, likewise
	Viewer string                     // the session's page
}

// Version is the answer of /json/version, in Chromium's form.
type Version struct {
	Browser   string `json:"Browser" doc:"Name and version of Chromium."`
	Protocol  string `json:"Protocol-Version" doc:"Version of the DevTools protocol."`
	UserAgent string `json:"User-Agent" doc:"The browser's User-Agent."`
	V8        string `json:"V8-Version" doc:"Version of V8."`
	WebKit    string `json:"WebKit-Version" doc:"Version of WebKit, as Chromium tells it."`
	Socket    string `json:"webSocketDebuggerUrl" doc:"The browser's socket."`
}

// DescribeBrowser returns the version of a session's Chromium. The errors are those
// of session.DescribeBrowser.
func DescribeBrowser(ctx context.Context, s *session.Session, at Endpoint) (Version, error) {
	b, err := session.DescribeBrowser(ctx, s)
	if err != nil {
		return Version{}, err
	}
	return Version{
		Browser: b.Product, Protocol: ProtocolVersion, UserAgent: b.UserAgent, V8: b.JSVersion, WebKit: b.WebKit(), Socket: at.Socket,
	}, nil
}

// Target is an entry of /json/list, in Chromium's form.
type Target struct {
	Description string `json:"description" doc:"Empty."`
	Frontend    string `json:"devtoolsFrontendUrl" doc:"The session's page on this server."`
	ID          string `json:"id" doc:"The page's id."`
	ParentID    string `json:"parentId,omitempty" doc:"The page that opened it."`
	Title       string `json:"title" doc:"The page's title."`
	Type        string `json:"type" doc:"page."`
	URL         string `json:"url" doc:"The page's address."`
	Socket      string `json:"webSocketDebuggerUrl" doc:"The page's socket."`
}

// ListTargets returns the pages of a session, the newest first. The errors are those
// of session.ListPages.
func ListTargets(ctx context.Context, s *session.Session, at Endpoint) ([]Target, error) {
	pages, err := session.ListPages(ctx, s)
	if err != nil {
		return nil, err
	}
	list := make([]Target, 0, len(pages))
	for _, p := range slices.Backward(pages) {
		list = append(list, Target{
			Frontend: at.Viewer, ID: p.ID, ParentID: p.Opener, Title: p.Title, Type: "page", URL: p.URL, Socket: at.Page(p.ID),
		})
	}
	return list, nil
}

// Protocol is the answer of /json/protocol: the commands and events of this
// endpoint, by domain. It has names only.
type Protocol struct {
	Version map[string]string `json:"version" doc:"{major, minor}."`
	Domains []Domain          `json:"domains" doc:"The domains, with their commands and events."`
}

// Domain is a domain of the protocol.
type Domain struct {
	Name     string   `json:"domain" doc:"The domain's name."`
	Commands []Member `json:"commands" doc:"Commands that clients may send."`
	Events   []Member `json:"events" doc:"Events that clients may get."`
}

// Member is a command or an event.
type Member struct {
	Name        string `json:"name" doc:"The name without the domain."`
	Description string `json:"description,omitempty" doc:"What it does."`
}

// DescribeProtocol returns what this endpoint understands. Refused commands are
// left out.
func DescribeProtocol() Protocol {
	p := Protocol{Version: map[string]string{"major": "1", "minor": "3"}}
	byName := map[string]int{}
	domain := func(method string) (*Domain, string) {
		name, member, _ := strings.Cut(method, ".")
		at, ok := byName[name]
		if !ok {
			at = len(p.Domains)
			byName[name] = at
			p.Domains = append(p.Domains, Domain{Name: name, Commands: []Member{}, Events: []Member{}})
		}
		return &p.Domains[at], member
	}
	for m := range policy.All() {
		if m.Client != policy.Refused {
			d, member := domain(m.Name)
			d.Commands = append(d.Commands, Member{Name: member, Description: m.Reason})
		}
	}
	for _, event := range policy.Events() {
		d, member := domain(event)
		d.Events = append(d.Events, Member{Name: member})
	}
	for name := range ownCommands {
		d, member := domain(name)
		d.Commands = append(d.Commands, Member{Name: member})
	}
	for _, event := range ownEvents {
		d, member := domain(event)
		d.Events = append(d.Events, Member{Name: member})
	}
	slices.SortFunc(p.Domains, func(a, b Domain) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range p.Domains {
		slices.SortFunc(d.Commands, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	}
	return p
}
