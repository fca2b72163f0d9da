package web

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"takeover/questions"
	"takeover/session"
	"takeover/web/snippets"
	"takeover/web/views"
)

// docsSections divides the table of routes for /docs. A route that is not a page
// belongs to the first section whose pattern matches its path.
var docsSections = []struct {
	id, title string
	path      *regexp.Regexp
}{
	{"sessions", "Sessions", regexp.MustCompile(`^/v1/sessions(/(release|stream)|/:id(/(release|context|screenshot|thumbnail|picture|film(/:at)?|view|live-details))?)?$`)},
	{"programs", "CDP and Playwright", regexp.MustCompile(`^/v1/sessions/:id/(cdp|json|playwright)\b`)},
	{"scripts", "Scripts and runs", regexp.MustCompile(`^/v1/.*/?(scripts|runs)\b`)},
	{"takeovers", "Takeovers", regexp.MustCompile(`/takeovers\b`)},
	{"links", "Share links", regexp.MustCompile(`/links\b`)},
	{"files", "Files", regexp.MustCompile(`/files\b`)},
	{"events", "Events", regexp.MustCompile(`/(events|log\.md)\b`)},
	{"agents", "Agents", regexp.MustCompile(`^/mcp$|^/v1/(sessions/:id/)?(commands|actions|diagnose)$`)},
	{"profiles", "Profiles", regexp.MustCompile(`^/v1/profiles\b`)},
	{"trajectories", "Trajectories", regexp.MustCompile(`^/v1/(sessions/:id/(recording|assert|checkpoints.*)|trajectories.*)$`)},
	{"render", "Pages without a session", regexp.MustCompile(`^/v1/(scrape|screenshot|pdf|renders)$`)},
	{"browserless", "Browserless", regexp.MustCompile(`^/(json|json/(version|list|protocol|new)|chromium|chrome|sessions|kill/:id|content|screenshot|pdf|function)$`)},
	{"webhooks", "Webhooks", regexp.MustCompile(`^/v1/webhooks\b`)},
	{"server", "The server", regexp.MustCompile(`^/(v1/nodes(/:node/drain)?|healthz|readyz|metrics|version|openapi\.json|asyncapi\.json|debug/pprof/\*)$`)},
	{docsPages, "Pages", regexp.MustCompile(``)},
}

// docsPages is the section for pages that people open.
const docsPages = "pages"

// docsSection returns a route's section.
func docsSection(r route) int {
	for i, section := range docsSections {
		if section.id == docsPages || r.answers.mime != mimeHTML && section.path.MatchString(r.path) {
			return i
		}
	}
	return len(docsSections) - 1
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

// docs handles GET /docs.
func (s *Server) docs(c echo.Context) error {
	p := views.DocsPage{Page: s.page(c), BaseURL: s.baseURL(c.Request()), Sections: make([]views.DocsSection, len(docsSections))}
	for i, section := range docsSections {
		p.Sections[i] = views.DocsSection{ID: section.id, Title: section.title}
	}
	for _, r := range s.table {
		section := &p.Sections[docsSection(r)]
		section.Calls = append(section.Calls, s.reference.call(r, p.BaseURL))
	}
	p.Objects = s.reference.objects
	for _, one := range snippets.Languages {
		p.Languages = append(p.Languages, views.DocsCode{Language: one.Language, Label: one.Label})
	}
	for _, k := range anywhere {
		p.Anywhere = append(p.Anywhere, k.name)
	}
	p.FromClient, p.FromServer = clientDocs(), serverDocs()
	for _, k := range kinds {
		p.Problems = append(p.Problems, views.DocsProblem{ID: k.name, Status: k.status, Title: k.title})
	}
	return s.render(c, http.StatusOK, views.Docs(p))
}

// sentMessage is a type of message that the server sends to viewers.
type sentMessage struct {
	message any // an empty value, whose fields /docs lists
	does    string
}

// serverMessages lists the messages that the server sends, by type.
var serverMessages = map[string]sentMessage{
	"hello":      {session.HelloMessage{}, "The first message: who the viewer is and what its role is. resume is a secret for ?resume=, with which a new connection keeps control. taken is the number of the last input that was handled, field the field that the person pressed last, if that has the focus now; leaseGrace is how long (ms) control is kept for a connection that broke."},
	"control":    {session.ControlMessage{}, "Who is in control, and the epoch that input has to carry. Comes with each change. asked means that another person asks for control."},
	"tabs":       {session.TabsMessage{}, "The tabs, and which one is shown. Comes with each change."},
	"life":       {session.LifeMessage{}, "The time at which the session ends, and whether it is being recorded. Sent on each change."},
	"takeover":   {session.TakeoverMessage{}, "The open takeover, as in the API, or null."},
	"run":        {session.RunMessage{}, "A run that began, changed its status or ended, as in the API but without logs and steps."},
	"dialog":     {questions.DialogMessage{}, "A dialog of the page that needs an answer: kind is alert, confirm, prompt or beforeunload. closed means that it no longer needs an answer."},
	"select":     {questions.SelectMessage{}, "A list or picker of a field, for the viewer to draw. closed means that it no longer needs an answer."},
	"chooser":    {questions.ChooserMessage{}, "A page asks for files. closed means that it no longer needs an answer."},
	"auth":       {questions.AuthMessage{}, "A server or proxy asks for a name and a password. closed means that it no longer needs an answer."},
	"permission": {questions.PermissionMessage{}, "A page asks for a permission. closed means that it no longer needs an answer."},
	"download":   {session.DownloadMessage{}, "The state of a download: running, done, failed or cancelled. When it is done, it is the session's file of this name."},
	"menu":       {session.MenuMessage{}, "The person in control asked for a context menu: what is under the pointer."},
	"cursor":     {session.CursorMessage{}, "The shape of the remote pointer, a CSS keyword."},
	"focus":      {session.FocusMessage{}, "Whether typed text goes into a field, what kind of field that is, and where the field, what surrounds it and its caret are. field rises when another field or document has the focus."},
	"form":       {session.FormMessage{}, "The field that probably waits for the person who has just taken control, although none has the focus: a small screen may open on it. rect, element, around and text are as in focus."},
	"taken":      {session.TakenMessage{}, "All inputs up to this n were handled: the viewer need not send them again."},
	"untaken":    {session.UntakenMessage{}, "The inputs from one n to another had no effect: why is control (not in control any more), field (another field or document had the focus), tab (another tab was shown), page (no page could take it) or input (the message was wrong)."},
	"clipboard":  {session.ClipboardMessage{}, "What the page copied, for the person in control: text, or an image as a PNG in base64."},
	"stats":      {statsMessage{}, "Pictures sent per second, the time from a picture to its ack, pictures skipped since the last message, kilobits per second."},
	"pong":       {pongMessage{}, "The answer to ping."},
	"crashed":    {session.StateMessage{}, "The browser died. It is started again."},
	"waking":     {session.StateMessage{}, "The session hibernates. Its browser is started again, because you came."},
	"recovered":  {session.StateMessage{}, "The browser is back after it died, or after the session hibernated."},
	"error":      {session.ErrorMessage{}, "What the server refused, in words for a person."},
	"ended":      {session.EndedMessage{}, "The session ended: the last message, before close code 1000."},
}

// messageField is a field of a message, with its JSON name.
type messageField struct {
	name     string
	form     string // its type in words
	optional bool
}

// fieldsOf lists the fields of a struct without its type, with the fields of
// embedded structs in their place.
func fieldsOf(t reflect.Type) (fields []messageField) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			embedded := f.Type
			maybe := embedded.Kind() == reflect.Pointer // all of its fields may be missing
			if maybe {
				embedded = embedded.Elem()
			}
			for _, inner := range fieldsOf(embedded) {
				inner.optional = inner.optional || maybe
				fields = append(fields, inner)
			}
			continue
		}
		if name == "" || name == "-" || name == "type" {
			continue
		}
		fields = append(fields, messageField{name, formOf(f.Type), strings.HasPrefix(options, "omit")})
	}
	return fields
}

// formOf describes in words the JSON form of a value. Objects of the API have
// their names from openapi.json.
func formOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[jsontext.Value](), reflect.TypeFor[json.RawMessage]():
		return "any"
	case reflect.TypeFor[session.RunInfo](), reflect.TypeFor[session.TakeoverInfo]():
		return cmp.Or(componentName(t), t.Name())
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(textMarshaler) {
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return formOf(t.Elem()) + " or null"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "[" + formOf(t.Elem()) + "]"
	case reflect.Struct:
		return shapeOf(t)
	case reflect.Map, reflect.Interface:
		return "any"
	}
	return "number"
}

var textMarshaler = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()

// shapeOf lists a struct's fields with their forms. Names of optional fields have
// a question mark.
func shapeOf(t reflect.Type) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, f := range fieldsOf(t) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.name)
		if f.optional {
			b.WriteByte('?')
		}
		b.WriteString(": " + f.form)
	}
	return b.String() + "}"
}

// clientDocs describes the messages that viewers may send.
func clientDocs() (list []views.DocsMessage) {
	for _, kind := range slices.Sorted(maps.Keys(viewerMessages)) {
		m := viewerMessages[kind]
		list = append(list, views.DocsMessage{
			ID: "from-client-" + kind, Type: kind, Fields: shapeOf(reflect.TypeOf(m.message)), Does: m.does, Who: "needs role " + rolesFrom(m.role),
		})
	}
	return list
}

// serverDocs describes the messages that the server sends.
func serverDocs() (list []views.DocsMessage) {
	for _, kind := range slices.Sorted(maps.Keys(serverMessages)) {
		m := serverMessages[kind]
		list = append(list, views.DocsMessage{ID: "from-server-" + kind, Type: kind, Fields: shapeOf(reflect.TypeOf(m.message)), Does: m.does})
	}
	return list
}
