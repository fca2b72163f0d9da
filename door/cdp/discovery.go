package cdp

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

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

// chromiumProtocol is what the debugging port of the Chromium that methods.txt was last
// compared with answers at /json/protocol, compressed by gzip. It is under Chromium's
// licence (BSD, The Chromium Authors). TestEveryCommandIsClassified writes it with
// -update.
//
//go:embed protocol.json.gz
var chromiumProtocol []byte

// Protocol is the answer of /json/protocol: the domains of this endpoint in Chromium's
// own form.
type Protocol struct {
	Version map[string]string `json:"version" doc:"{major, minor}."`
	Domains []Domain          `json:"domains" doc:"The domains, with their types, commands and events."`
}

// Domain is a domain of the protocol.
type Domain struct {
	Name         string            `json:"domain" doc:"The domain's name."`
	Description  string            `json:"description,omitempty" doc:"What it is for."`
	Experimental bool              `json:"experimental,omitempty" doc:"It may change."`
	Deprecated   bool              `json:"deprecated,omitempty" doc:"It may go."`
	Dependencies []string          `json:"dependencies,omitempty" doc:"Domains whose types it uses."`
	Types        []json.RawMessage `json:"types,omitempty" doc:"Its types, as Chromium describes them."`
	Commands     []Member          `json:"commands" doc:"Commands that clients may send."`
	Events       []Member          `json:"events" doc:"Events that clients may get."`
}

// Member is a command or an event.
type Member struct {
	Name         string            `json:"name" doc:"The name without the domain."`
	Description  string            `json:"description,omitempty" doc:"What it does."`
	Experimental bool              `json:"experimental,omitempty" doc:"It may change."`
	Deprecated   bool              `json:"deprecated,omitempty" doc:"It may go."`
	Redirect     string            `json:"redirect,omitempty" doc:"The domain that has it now."`
	Parameters   []json.RawMessage `json:"parameters,omitempty" doc:"Its parameters, as Chromium describes them."`
	Returns      []json.RawMessage `json:"returns,omitempty" doc:"The fields of its result, likewise."`
}

// DescribeProtocol returns what this endpoint understands. Refused commands are left
// out. The caller must not change it.
var DescribeProtocol = sync.OnceValue(func() Protocol {
	p, err := readProtocol()
	if err != nil {
		panic(err) // the file is part of the program, and the tests read it
	}
	for i := range p.Domains {
		d := &p.Domains[i]
		if d.Commands == nil {
			d.Commands = []Member{}
		}
		if d.Events == nil {
			d.Events = []Member{}
		}
		d.Commands = slices.DeleteFunc(d.Commands, func(m Member) bool {
			known, ok := policy.Find(d.Name + "." + m.Name)
			return !ok || known.Client == policy.Refused
		})
		d.Events = slices.DeleteFunc(d.Events, func(m Member) bool { return !slices.Contains(policy.Events(), d.Name+"."+m.Name) })
	}
	// A program finds out by a domain's presence what it may use.
	p.Domains = slices.DeleteFunc(p.Domains, func(d Domain) bool {
		return len(d.Commands) == 0 && len(d.Events) == 0 && !slices.ContainsFunc(p.Domains, func(other Domain) bool { return slices.Contains(other.Dependencies, d.Name) })
	})
	// Other versions of Chromium have more, and the door has its own.
	for m := range policy.All() {
		if m.Client != policy.Refused {
			p.add(m.Name, func(d *Domain) *[]Member { return &d.Commands })
		}
	}
	for name := range ownCommands {
		p.add(name, func(d *Domain) *[]Member { return &d.Commands })
	}
	for _, name := range slices.Concat(policy.Events(), ownEvents) {
		p.add(name, func(d *Domain) *[]Member { return &d.Events })
	}
	byName := func(a, b Member) int { return strings.Compare(a.Name, b.Name) }
	for _, d := range p.Domains {
		slices.SortFunc(d.Commands, byName)
		slices.SortFunc(d.Events, byName)
	}
	slices.SortFunc(p.Domains, func(a, b Domain) int { return strings.Compare(a.Name, b.Name) })
	return p
})

func readProtocol() (p Protocol, err error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(chromiumProtocol))
	if err != nil {
		return p, err
	}
	return p, json.NewDecoder(unzipped).Decode(&p)
}

// add adds a member that is known by its name alone, unless it is there.
func (p *Protocol) add(method string, list func(*Domain) *[]Member) {
	name, member, _ := strings.Cut(method, ".")
	at := slices.IndexFunc(p.Domains, func(d Domain) bool { return d.Name == name })
	if at < 0 {
		at = len(p.Domains)
		p.Domains = append(p.Domains, Domain{Name: name, Commands: []Member{}, Events: []Member{}})
	}
	to := list(&p.Domains[at])
	if !slices.ContainsFunc(*to, func(m Member) bool { return m.Name == member }) {
		*to = append(*to, Member{Name: member})
	}
}
