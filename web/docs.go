package web

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"

	"github.com/labstack/echo/v4"

	"takeover/door/viewer"
	"takeover/session"
	"takeover/web/apidoc"
	"takeover/web/snippets"
	"takeover/web/views"
)

// docsSections divides the table of routes for /docs: each section is a page. A route
// that is not a page belongs to the first section whose pattern matches its path.
var docsSections = []struct {
	under           string // the heading in the contents
	id, title, does string
	path            *regexp.Regexp
}{
	{"Browser", "sessions", "Sessions", "Start a browser, look at it, change it and end it.", regexp.MustCompile(`^/v1/sessions(/(release|stream)|/:id(/(release|forget|hold|context|live-details))?)?$`)},
	{"Browser", "pictures", "Pictures", "What a session shows now, and what it showed before.", regexp.MustCompile(`^/v1/sessions/:id/(screenshot|thumbnail|picture|film(/:at)?)$`)},
	{"Browser", "files", "Files", "Downloads, uploads, and what scripts wrote.", regexp.MustCompile(`^/v1/sessions/:id/files\b`)},
	{"Browser", "events", "Events", "What the page logged, requested and did: as a list, a stream or a file.", regexp.MustCompile(`^(/v1/sessions/:id)?/(events|log\.md|runs/:run/log\.md)\b`)},
	{"Programs", "programs", "CDP and Playwright", "Drive a session with the client that you have: Playwright, Puppeteer, Chrome’s DevTools.", regexp.MustCompile(`^/v1/sessions/:id/(cdp|json|playwright)\b`)},
	{"Programs", "scripts", "Scripts and runs", "Run a script, in a session or without one, and follow it to its end.", regexp.MustCompile(`^/v1/(sessions/:id/)?(scripts|runs)\b`)},
	{"Programs", "saved-scripts", "Saved scripts", "Keep scripts on the server, and run them by name.", regexp.MustCompile(`^/v1/saved-scripts\b`)},
	{"Programs", "agents", "Agents", "MCP, the socket for commands, debug actions, and finding out what is wrong with a page.", regexp.MustCompile(`^/mcp$|^/v1/(sessions/:id/)?(commands|actions|diagnose)$`)},
	{"People", "takeovers", "Takeovers", "Ask a person for help, wait for the answer, and answer such requests.", regexp.MustCompile(`/takeovers\b`)},
	{"People", "links", "Share links", "Let people without a key watch a session, or work in it.", regexp.MustCompile(`/links\b`)},
	{"People", docsSocket, "The viewer’s socket", "The live picture and the input of a person, message by message.", regexp.MustCompile(`^/v1/sessions/:id/view$`)},
	{"State and evidence", "profiles", "Profiles", "Cookies and storage that outlive a session.", regexp.MustCompile(`^/v1/profiles\b`)},
	{"State and evidence", "checkpoints", "Checkpoints", "Judge a page by a contract, keep how far a task has come, and go back there.", regexp.MustCompile(`^/v1/sessions/:id/(assert|checkpoints.*)$`)},
	{"State and evidence", "trajectories", "Trajectories", "Record what was done in a session, and keep the evidence.", regexp.MustCompile(`^/v1/(sessions/:id/recording|trajectories.*)$`)},
	{"Pages and Browserless", "render", "Pages without a session", "The content, a picture or a print of a page, with one call.", regexp.MustCompile(`^/v1/(scrape|screenshot|pdf|renders)$`)},
	{"Pages and Browserless", "browserless", "Browserless: pages", "A page’s markup, picture or print, or the value of a function, as with Browserless’ API.", regexp.MustCompile(`^/(content|screenshot|pdf|function)$`)},
	{"Pages and Browserless", "browserless-sessions", "Browserless: sessions", "Sockets and sessions, as with Browserless’ API and Chromium’s debugging port.", regexp.MustCompile(`^/(json|json/(version|list|protocol|new)|chromium|chrome|sessions|kill/:id)$`)},
	{"Operation", "webhooks", "Webhooks", "Where the server reports what happens, and what it could not deliver.", regexp.MustCompile(`^/v1/webhooks\b`)},
	{"Operation", "server", "The server", "Health, metrics, nodes, and this description for programs.", regexp.MustCompile(`^/(v1/nodes(/:node/drain)?|healthz|readyz|metrics|version|openapi\.json|asyncapi\.json|docs\.md|docs/calls\.json|debug/pprof/\*)$`)},
	{"Operation", docsPages, "Pages", "What people open in their browsers.", regexp.MustCompile(``)},
}

const (
	docsSocket = "socket" // the section with the messages of the viewer's socket
	docsPages  = "pages"  // the section for pages that people open
)

// docsSection returns a route's section.
func docsSection(r route) int {
	for i, section := range docsSections {
		if section.id == docsPages || r.answers.mime != mimeHTML && section.path.MatchString(r.path) {
			return i
		}
	}
	return len(docsSections) - 1
}

// docsAddress returns the address of the description of a call, an object or a message.
func docsAddress(section int, anchor string) string {
	return "/docs/" + docsSections[section].id + "#" + anchor
}

// whoMay describes in words who may call a route.
func (r route) whoMay() string {
	switch r.access {
	case public:
		return "open to everybody"
	case guests:
		return "needs a key, or a link with role " + rolesFrom(r.role)
	default:
		return "needs a key"
	}
}

// rolesFrom lists a role and the roles that include it.
func rolesFrom(least session.Role) string {
	switch least {
	case session.RoleView:
		return "view, takeover or control"
	case session.RoleTakeover:
		return "takeover or control"
	default:
		return string(least)
	}
}

// description is what the API says of itself. It is made when somebody first asks for it,
// because it takes longer than the rest of a server's start.
type description struct {
	spec      []byte     // /openapi.json
	sockets   []byte     // /asyncapi.json
	reference *reference // what /docs shows of the calls
}

func describeAPI(table []route, version string) (*description, error) {
	spec, err := openAPI(table, version)
	if err != nil {
		return nil, fmt.Errorf("describe API: %w", err)
	}
	sockets, err := asyncAPI(version)
	if err != nil {
		return nil, fmt.Errorf("describe the viewer's socket: %w", err)
	}
	return &description{spec, sockets, newReference(table)}, nil
}

// docs handles GET /docs.
func (s *Server) docs(c echo.Context) error {
	p := s.docsPage(c)
	life, _ := s.manager.Timeouts()
	p.SessionLife = lengthWords(life)
	p.Problems = problemDocs()
	for _, k := range anywhere {
		p.Anywhere = append(p.Anywhere, k.name)
	}
	return s.render(c, http.StatusOK, views.Docs(p))
}

// docsGroup handles GET /docs/:group.
func (s *Server) docsGroup(c echo.Context) error {
	p := s.docsPage(c)
	at := slices.IndexFunc(p.Sections, func(section views.DocsSection) bool { return section.ID == c.Param("group") })
	if at < 0 {
		return &failure{kind: kindNotFound, detail: "The API has no group of calls with this name."}
	}
	d, err := s.described()
	if err != nil {
		return err
	}
	p.Open = d.reference.section(s.table, at, p.BaseURL)
	return s.render(c, http.StatusOK, views.DocsGroup(p))
}

// docsPage returns what all pages about the API show.
func (s *Server) docsPage(c echo.Context) views.DocsPage {
	p := views.DocsPage{Page: s.page(c), BaseURL: s.baseURL(c.Request())}
	last := ""
	for _, section := range docsSections {
		one := views.DocsSection{ID: section.id, Title: section.title, Does: section.does}
		if section.under != last {
			one.Under, last = section.under, section.under
		}
		p.Sections = append(p.Sections, one)
	}
	for _, one := range snippets.Languages {
		p.Languages = append(p.Languages, views.DocsCode{Language: one.Language, Label: one.Label})
	}
	return p
}

// problemDocs describes the classes of failure.
func problemDocs() (list []views.DocsProblem) {
	for _, k := range kinds {
		list = append(list, views.DocsProblem{ID: k.name, Status: k.status, Title: k.title})
	}
	return list
}

// clientDocs describes the messages that viewers may send.
func clientDocs() (list []views.DocsMessage) {
	for _, kind := range slices.Sorted(maps.Keys(viewer.Received)) {
		m := viewer.Received[kind]
		list = append(list, views.DocsMessage{
			ID: "from-client-" + kind, Type: kind, Fields: apidoc.Shape(reflect.TypeOf(m.Empty)), Does: m.Does, Who: "needs role " + rolesFrom(m.Role),
		})
	}
	return list
}

// serverDocs describes the messages that the server sends.
func serverDocs() (list []views.DocsMessage) {
	for _, kind := range slices.Sorted(maps.Keys(viewer.Sent)) {
		m := viewer.Sent[kind]
		list = append(list, views.DocsMessage{ID: "from-server-" + kind, Type: kind, Fields: apidoc.Shape(reflect.TypeOf(m.Empty)), Does: m.Does})
	}
	return list
}
