package views

import "strings"

// DocsPage is `/docs` or, with an open section, `/docs/:group`.
type DocsPage struct {
	Page
	BaseURL     string        // of the server, without a slash at the end
	SessionLife string        // how long sessions live that say nothing else, such as "5 min"
	Sections    []DocsSection // all, without calls and objects
	Open        *DocsSection  // the one that the page shows; nil on the overview
	Problems    []DocsProblem
	Anywhere    []string   // names of the problems that any call may answer
	Languages   []DocsCode // of the examples, without code
}

// DocsSection is a group of calls, in the order in which they are shown, with the
// objects that it is the first to refer to.
type DocsSection struct {
	Under           string // the heading above it and those that follow; "" if it stands below that of the one before
	ID, Title, Does string
	Calls           []DocsCall
	Objects         []DocsObject
	// FromClient and FromServer are the messages of the viewer's socket.
	FromClient, FromServer []DocsMessage
}

// DocsCall is one call of the API. ID is its anchor.
type DocsCall struct {
	ID, Method, Path, Does string
	Who                    string
	Inputs                 []DocsFields // in the path, the query and the body; those without fields are left out
	Answer                 DocsAnswer
	Problems               []DocsProblem
	Examples               []DocsCode // one for each language that can make the call
	WhyNoExample           string     // why there is none
}

// name is the beginning of a call's description, for the contents, such as "The session's
// takeovers, oldest first".
func (c DocsCall) name() string {
	name := strings.TrimPrefix(c.Does, "Page: ")
	for _, end := range []string{"; ", ". ", ": "} {
		before, _, found := strings.Cut(name, end)
		if found && (end != ": " || strings.Count(before, " ") > 1) { // "The same" says too little
			name = before
		}
	}
	return capital(strings.TrimSuffix(name, "."))
}

// DocsFields are fields under a title.
type DocsFields struct {
	Title  string
	Fields []DocsField
}

// DocsField is a field of a request or an answer.
type DocsField struct {
	Name, Type string
	Object     string // address of the description of its type, if it has one
	Bounds     string // what values it may have
	Does       string
	Required   bool
}

// DocsAnswer is a call's answer if it succeeds.
type DocsAnswer struct {
	Status int
	Form   string // what the body is: a type or a media type; empty for none
	Object string // address of the description of its type, if it has one
	// Example is such a body, if it is JSON.
	Example string
}

// DocsObject is a kind of JSON object in requests and answers. ID is its anchor.
type DocsObject struct {
	ID, Name string
	Fields   []DocsField
}

// DocsCode is an example in a language.
type DocsCode struct{ Language, Label, Code string }

// grammar returns the language of the code itself.
func (c DocsCode) grammar() string {
	if c.Language == "curl" {
		return "bash"
	}
	return c.Language
}

// DocsMessage is one message of the viewer's socket. ID is its anchor.
type DocsMessage struct {
	ID, Type string
	Fields   string // with their types
	Does     string
	Who      string // who may send it; empty for messages from the server
}

// DocsProblem is one class of failure. ID is its anchor. The type of an error
// response links to it.
type DocsProblem struct {
	ID     string
	Status int
	Title  string
}
