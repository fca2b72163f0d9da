package web

import (
	"cmp"
	"net/http"
	"slices"
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
	Words   string `json:"words,omitempty"` // what else it says
	Also    string `json:"also,omitempty"`  // what people call it: docsWords
	Twin    bool   `json:"twin,omitempty"`  // another call does the same, and is meant
	Address string `json:"address"`
	// Fields are those of an object, or of the request of a call.
	Fields []docsEntryField `json:"fields,omitempty"`
}

// docsEntryField is a field in the search of /docs. Without a description, does is its
// type.
type docsEntryField struct {
	Name string `json:"name"`
	Does string `json:"does"`
}

// docsHeadings are the parts of /docs that are neither calls nor errors.
var docsHeadings = []docsEntry{
	{ID: "begin", Kind: "Section", Title: "Quick start", Words: "How a program opens a browser, and a person answers its script.", Also: "begin tutorial first steps", Address: "/docs#begin"},
	{ID: "keys", Kind: "Section", Title: "Keys and links", Words: "How to send a key, and what a share link permits.", Also: "authorization authentication API key token role", Address: "/docs#keys"},
	{ID: "problems", Kind: "Section", Title: "Errors", Words: "What an error response says, and all kinds of errors.", Also: "problems failures status", Address: "/docs#problems"},
}

// isTwin reports whether a description says that another call does the same.
func isTwin(does string) bool {
	return strings.HasPrefix(does, "The same as ") || strings.HasPrefix(does, "Same as ")
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
	d, err := s.described()
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"calls": d.reference.entries(s.table)})
}

// entries lists what can be searched for, in the order of the pages. Sections, objects,
// messages and errors come after all calls.
func (f *reference) entries(table []route) []docsEntry {
	var calls, others []docsEntry
	for i, of := range docsSections {
		address := "/docs/" + of.id
		section := f.section(table, i, "")
		others = append(others, docsEntry{ID: of.id, Kind: "Group", Title: of.title, Words: of.does, Address: address})
		for _, c := range section.Calls {
			calls = append(calls, docsEntry{ID: c.ID, Kind: "Call", Method: c.Method, Path: c.Path, Title: c.Does, Fields: inputFields(c), Also: docsWords[c.ID], Twin: isTwin(c.Does), Address: address + "#" + c.ID})
		}
		for _, o := range section.Objects {
			others = append(others, docsEntry{ID: o.ID, Kind: "Object", Title: o.Name, Fields: entryFields(o.Fields), Address: address + "#" + o.ID})
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
	return slices.Concat(calls, docsHeadings, others)
}

// inputFields lists the fields of a call's request.
func inputFields(c views.DocsCall) (fields []docsEntryField) {
	for _, in := range c.Inputs {
		fields = append(fields, entryFields(in.Fields)...)
	}
	return fields
}

// entryFields lists fields for the search.
func entryFields(all []views.DocsField) []docsEntryField {
	fields := make([]docsEntryField, len(all))
	for i, field := range all {
		fields[i] = docsEntryField{field.Name, cmp.Or(field.Does, field.Type)}
	}
	return fields
}
