package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"takeover/web/views"
)

// docsEntry is what the search of /docs knows of a call, an object, a message or an
// error.
type docsEntry struct {
	ID      string `json:"id"` // its anchor, which is also its name
	Kind    string `json:"kind"`
	Method  string `json:"method,omitempty"`
	Path    string `json:"path,omitempty"`
	Title   string `json:"title"`
	Words   string `json:"words,omitempty"` // the names of its fields
	Also    string `json:"also,omitempty"`  // what people call it: docsWords
	Address string `json:"address"`
}

// docsWords is what people search for when they mean a call, by the name of its route.
// Such words count more than the names of calls.
var docsWords = map[string]string{
	"createSession":   "create start open launch a new session, a browser",
	"releaseSession":  "end close stop finish quit kill release a session, a browser",
	"runScript":       "run execute start a script, code",
	"cancelRun":       "stop end cancel a script, a run",
	"requestTakeover": "ask for a takeover, a person, a human, help",
	"getTakeover":     "wait for a takeover, a person, the answer; read poll",
	"createLink":      "share invite watch: a link to a session",
	"startEvents":     "capture record events: console, network, logs",
	"createProfile":   "keep save a login, cookies, a profile; stay signed logged in",
	"listProfiles":    "keep login: profiles",
}

// docsCalls handles GET /docs/calls.json.
func (s *Server) docsCalls(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]any{"calls": s.reference.entries(s.table)})
}

// entries lists what can be searched for, in the order of the pages. Objects, messages
// and errors come after all calls.
func (f *reference) entries(table []route) []docsEntry {
	var calls, others []docsEntry
	for i, of := range docsSections {
		address := "/docs/" + of.id
		section := f.section(table, i, "")
		others = append(others, docsEntry{ID: of.id, Kind: "Group", Title: of.title, Words: of.does, Address: address})
		for _, c := range section.Calls {
			calls = append(calls, docsEntry{ID: c.ID, Kind: "Call", Method: c.Method, Path: c.Path, Title: c.Does, Words: inputNames(c), Also: docsWords[c.ID], Address: address + "#" + c.ID})
		}
		for _, o := range section.Objects {
			others = append(others, docsEntry{ID: o.ID, Kind: "Object", Title: o.Name, Words: fieldNames(o.Fields), Address: address + "#" + o.ID})
		}
		for _, m := range section.FromClient {
			others = append(others, docsEntry{ID: m.ID, Kind: "Message", Title: m.Type + ", from viewers", Words: m.Does, Address: address + "#" + m.ID})
		}
		for _, m := range section.FromServer {
			others = append(others, docsEntry{ID: m.ID, Kind: "Message", Title: m.Type + ", to viewers", Words: m.Does, Address: address + "#" + m.ID})
		}
	}
	for _, k := range problemDocs() {
		others = append(others, docsEntry{ID: k.ID, Kind: "Error", Title: k.ID, Words: k.Title, Address: "/docs#" + k.ID})
	}
	return append(calls, others...)
}

// inputNames lists the names of the fields of a call's request.
func inputNames(c views.DocsCall) string {
	var names []string
	for _, in := range c.Inputs {
		names = append(names, fieldNames(in.Fields))
	}
	return strings.Join(names, " ")
}

// fieldNames lists the names of fields.
func fieldNames(fields []views.DocsField) string {
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
	}
	return strings.Join(names, " ")
}
