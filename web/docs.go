package web

import (
	"net/http"
	"regexp"

	"github.com/labstack/echo/v4"

	"takeover/web/views"
)

// docsSections divides the table for /docs: the first section whose pattern
// matches a route's path takes it, unless it is a page.
var docsSections = []struct {
	id, title string
	path      *regexp.Regexp
}{
	{"sessions", "Sessions", regexp.MustCompile(`^(/v1)?/sessions(/(release|stream)|/:id(/(release|context|screenshot|thumbnail|picture|view))?)?$`)},
	{"scripts", "Scripts and runs", regexp.MustCompile(`^/v1/.*/?(scripts|runs)\b`)},
	{"takeovers", "Takeovers", regexp.MustCompile(`/takeovers\b`)},
	{"links", "Share links", regexp.MustCompile(`/links\b`)},
	{"files", "Files", regexp.MustCompile(`/files\b`)},
	{"events", "Events", regexp.MustCompile(`/(events|log\.md)\b`)},
	{"webhooks", "Webhooks", regexp.MustCompile(`^/v1/webhooks\b`)},
	{"server", "The server", regexp.MustCompile(`^/(healthz|readyz|metrics|version|openapi\.json)$`)},
	{docsPages, "Pages", regexp.MustCompile(``)},
}

// docsPages is the section of what people open.
const docsPages = "pages"

// docsSection finds a route's section.
func docsSection(r route) int {
	for i, section := range docsSections {
		if section.id == docsPages || r.answers.mime != mimeHTML && section.path.MatchString(r.path) {
			return i
		}
	}
	return len(docsSections) - 1
}

// whoMay says in words who may call a route.
func (r route) whoMay() string {
	switch r.access {
	case public:
		return "everybody"
	case guests:
		return "a key; a link with role " + string(r.role) + " or more"
	default:
		return "a key"
	}
}

// docs is GET /docs.
func (s *Server) docs(c echo.Context) error {
	p := views.DocsPage{Page: s.page(c), BaseURL: s.baseURL(c.Request()), Sections: make([]views.DocsSection, len(docsSections))}
	for i, section := range docsSections {
		p.Sections[i] = views.DocsSection{ID: section.id, Title: section.title}
	}
	for _, r := range s.table {
		section := &p.Sections[docsSection(r)]
		section.Calls = append(section.Calls, views.DocsCall{ID: r.name, Method: r.method, Path: r.path, Does: r.does, Answers: r.answers.code(), Who: r.whoMay()})
	}
	for _, k := range kinds {
		p.Problems = append(p.Problems, views.DocsProblem{ID: k.name, Status: k.status, Title: k.title})
	}
	return s.render(c, http.StatusOK, views.Docs(p))
}
