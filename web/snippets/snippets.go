// Package snippets writes a call of the API as short programs: for curl, in
// JavaScript, Python and Go. Each program is whole: it reads the key and the ids
// from the environment, makes the call, prints the answer, and fails if the call
// does.
package snippets

import (
	"fmt"
	"net/http"
	"strings"
)

// Call is a call of the API. Its path may have parameters, such as {SESSION}, which
// the programs read from environment variables of these names.
type Call struct {
	Base   string // address of the server, without a slash at the end
	Method string
	Path   string // with the query
	Open   bool   // needs no key
	Mime   string // media type of the body; none if there is no body
	Accept string // media types of the answer; default: any
	Body   string // JSON, unless Mime says otherwise; for a socket, the first message
	Answer Answer
	File   string // name of the file for an answer of kind File
	// Subprotocol is that of a socket, if it needs one.
	Subprotocol string
}

// Answer is a kind of answer, which decides what a program does with it.
type Answer int

// The kinds of answers.
const (
	JSON   Answer = iota // a JSON value, which is printed
	Text                 // a text, which is printed
	File                 // written to a file
	Stream               // server-sent events, which are printed as they come
	Empty                // has no body
	Socket               // a WebSocket: its first message is printed
)

// KeyVariable is the environment variable with the key.
const KeyVariable = "TAKEOVER_API_KEY"

// Snippet is a program.
type Snippet struct {
	Language string // curl, javascript, python or go
	Label    string // the language's name
	Code     string
}

// Languages lists the languages in their order.
var Languages = []Snippet{{Language: "curl", Label: "curl"}, {Language: "javascript", Label: "JavaScript"}, {Language: "python", Label: "Python"}, {Language: "go", Label: "Go"}}

// Of returns the programs that make a call, in the order of Languages. curl opens no
// sockets.
func Of(c Call) []Snippet {
	writers := map[string]func(Call) string{"curl": curl, "javascript": javascript, "python": python, "go": golang}
	var list []Snippet
	for _, one := range Languages {
		if c.Answer == Socket && one.Language == "curl" {
			continue
		}
		one.Code = writers[one.Language](c)
		list = append(list, one)
	}
	return list
}

// piece is a part of a path: a literal text, or a variable.
type piece struct{ text, variable string }

// pieces divides a path at its parameters.
func pieces(path string) (list []piece) {
	for path != "" {
		before, rest, found := strings.Cut(path, "{")
		if before != "" {
			list = append(list, piece{text: before})
		}
		if !found {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		list = append(list, piece{variable: name})
		path = after
	}
	return list
}

// variables lists the environment variables that a program reads.
func (c Call) variables() (names []string) {
	if !c.Open {
		names = append(names, KeyVariable)
	}
	for _, p := range pieces(c.Path) {
		if p.variable != "" {
			names = append(names, p.variable)
		}
	}
	return names
}

// address returns the address with each variable in the form that write gives it.
func (c Call) address(write func(variable string) string) string {
	var b strings.Builder
	b.WriteString(c.Base)
	for _, p := range pieces(c.Path) {
		if p.variable != "" {
			b.WriteString(write(p.variable))
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// socketAddress returns the address of a socket, with the key in its query.
func (c Call) socketAddress(write func(variable string) string) string {
	return "ws" + strings.TrimPrefix(c.address(write), "http") + "?token=" + write(KeyVariable)
}

// header is a header of a request. A variable follows the value.
type header struct{ name, value, variable string }

func (c Call) headers() (list []header) {
	if !c.Open {
		list = append(list, header{"Authorization", "Bearer ", KeyVariable})
	}
	if c.Mime != "" {
		list = append(list, header{"Content-Type", c.Mime, ""})
	}
	if c.Accept != "" {
		list = append(list, header{"Accept", c.Accept, ""})
	}
	return list
}

// isJSON reports whether the body is a JSON value.
func (c Call) isJSON() bool { return strings.HasSuffix(c.Mime, "json") }

// curl writes a command for a shell.
func curl(c Call) string {
	variable := func(name string) string { return "$" + name }
	parts := []string{"curl"}
	if c.Answer == Stream {
		parts[0] += " -N"
	}
	if c.Method != http.MethodGet && (c.Method != http.MethodPost || c.Body == "") {
		parts[0] += " -X " + c.Method
	}
	if c.Answer == File {
		parts[0] += " -o " + c.File
	}
	parts[0] += ` "` + c.address(variable) + `"`
	for _, h := range c.headers() {
		value := h.value
		if h.variable != "" {
			value += variable(h.variable)
		}
		parts = append(parts, `-H "`+h.name+": "+value+`"`)
	}
	if c.Body != "" {
		parts = append(parts, "-d '"+strings.ReplaceAll(lines(c.Body, c.isJSON()), "'", `'\''`)+"'")
	}
	return strings.Join(parts, " \\\n  ")
}

// javascript writes a module for Node.js. Those that open a socket need version 22
// or newer.
func javascript(c Call) string {
	variable := func(name string) string { return "${" + name + "}" }
	var b strings.Builder
	if c.Answer == File {
		b.WriteString("import { writeFile } from 'node:fs/promises';\n\n")
	}
	if names := c.variables(); len(names) > 0 {
		fmt.Fprintf(&b, "const { %s } = process.env;\n\n", strings.Join(names, ", "))
	}
	if c.Answer == Socket {
		protocol := ""
		if c.Subprotocol != "" {
			protocol = ", '" + c.Subprotocol + "'"
		}
		fmt.Fprintf(&b, "const socket = new WebSocket(`%s`%s);\n", c.socketAddress(variable), protocol)
		fmt.Fprintf(&b, "socket.onopen = () => socket.send(JSON.stringify(%s));\n", literal(c.Body, jsStyle))
		b.WriteString("socket.onmessage = ({ data }) => {\n  console.log(data);\n  socket.close();\n};\n")
		b.WriteString("socket.onerror = ({ message }) => { throw new Error(message); };")
		return b.String()
	}
	fmt.Fprintf(&b, "const response = await fetch(`%s`", c.address(variable))
	var options []string
	if c.Method != http.MethodGet {
		options = append(options, "method: '"+c.Method+"'")
	}
	var headers []string
	for _, h := range c.headers() {
		name := h.name
		if strings.Contains(name, "-") {
			name = "'" + name + "'"
		}
		value := "'" + h.value + "'"
		if h.variable != "" {
			value = "`" + h.value + variable(h.variable) + "`"
		}
		headers = append(headers, name+": "+value)
	}
	switch {
	case len(headers) == 1:
		options = append(options, "headers: { "+headers[0]+" }")
	case len(headers) > 1:
		options = append(options, "headers: {\n    "+strings.Join(headers, ",\n    ")+",\n  }")
	}
	if c.Body != "" {
		body := quote(c.Body, '\'')
		if c.isJSON() {
			body = "JSON.stringify(" + indented(literal(c.Body, jsStyle), "  ") + ")"
		}
		options = append(options, "body: "+body)
	}
	if len(options) > 0 {
		b.WriteString(", {\n")
		for _, option := range options {
			b.WriteString("  " + option + ",\n")
		}
		b.WriteString("}")
	}
	b.WriteString(");\nif (!response.ok) throw new Error(await response.text());\n")
	switch c.Answer {
	case JSON:
		b.WriteString("console.log(await response.json());")
	case Text:
		b.WriteString("console.log(await response.text());")
	case File:
		fmt.Fprintf(&b, "await writeFile('%s', Buffer.from(await response.arrayBuffer()));", c.File)
	case Stream:
		b.WriteString("for await (const text of response.body.pipeThrough(new TextDecoderStream())) console.log(text);")
	default:
		b.WriteString("console.log(response.status);")
	}
	return b.String()
}

// python writes a program for Python 3 that needs no package. Those that open a
// socket need the package websockets.
func python(c Call) string {
	variable := func(name string) string { return "{os.environ['" + name + "']}" }
	formatted := func(text string) string {
		if strings.Contains(text, "{os.") {
			return `f"` + text + `"`
		}
		return `"` + text + `"`
	}
	var b strings.Builder
	if c.Answer == Socket {
		protocol := ""
		if c.Subprotocol != "" {
			protocol = `, subprotocols=["` + c.Subprotocol + `"]`
		}
		b.WriteString("import json, os\nfrom websockets.sync.client import connect\n\n")
		fmt.Fprintf(&b, "with connect(%s%s) as socket:\n", formatted(c.socketAddress(variable)), protocol)
		fmt.Fprintf(&b, "    socket.send(json.dumps(%s))\n    print(socket.recv())", literal(c.Body, pythonStyle))
		return b.String()
	}
	modules := []string{}
	if c.isJSON() || c.Answer == JSON {
		modules = append(modules, "json")
	}
	if len(c.variables()) > 0 {
		modules = append(modules, "os")
	}
	fmt.Fprintf(&b, "import %s\n\n", strings.Join(append(modules, "urllib.request"), ", "))
	fmt.Fprintf(&b, "request = urllib.request.Request(\n    %s,\n", formatted(c.address(variable)))
	if c.Method != http.MethodGet {
		fmt.Fprintf(&b, "    method=\"%s\",\n", c.Method)
	}
	var headers []string
	for _, h := range c.headers() {
		value := h.value
		if h.variable != "" {
			value += variable(h.variable)
		}
		headers = append(headers, `"`+h.name+`": `+formatted(value))
	}
	switch {
	case len(headers) == 1:
		fmt.Fprintf(&b, "    headers={%s},\n", headers[0])
	case len(headers) > 1:
		fmt.Fprintf(&b, "    headers={\n        %s,\n    },\n", strings.Join(headers, ",\n        "))
	}
	switch {
	case c.isJSON():
		fmt.Fprintf(&b, "    data=json.dumps(%s).encode(),\n", indented(literal(c.Body, pythonStyle), "    "))
	case c.Body != "":
		fmt.Fprintf(&b, "    data=b%s,\n", quote(c.Body, '"'))
	}
	b.WriteString(")\nwith urllib.request.urlopen(request) as response:\n")
	switch c.Answer {
	case JSON:
		b.WriteString("    print(json.load(response))")
	case Text:
		b.WriteString("    print(response.read().decode())")
	case File:
		fmt.Fprintf(&b, "    with open(\"%s\", \"wb\") as file:\n        file.write(response.read())", c.File)
	case Stream:
		b.WriteString("    for line in response:\n        print(line.decode(), end=\"\", flush=True)")
	default:
		b.WriteString("    print(response.status)")
	}
	return b.String()
}
