package web

import (
	"regexp"
	"strings"

	"takeover/door/viewer"
	"takeover/web/snippets"
)

// sample is what a call's example on /docs sends.
type sample struct {
	query  string // without the question mark
	body   string // JSON, unless mime says otherwise; for a socket, the first message
	mime   string
	accept string
}

// withoutExample lists the calls that a short program cannot make, with the reason.
var withoutExample = map[string]string{
	"redeemLink": "The page of a link makes this call, with the secret from its own address.",
	"getRender":  "The answers of these calls have the whole address.",
	"mcpStream":  "Clients of older versions of the protocol make this call, in a session of the protocol.",
	"mcpEnd":     "Clients of older versions of the protocol make this call, in a session of the protocol.",
	"playwright": "Playwright's chromium.connect makes this call.",
	"drainNode":  "takeover nodes drain makes this call. The node takes sessions again when it is started again.",
	"login":      "The sign-in page sends this form.",
	"logout":     "The pages' menu sends this form.",
}

// example returns the call that a route's example makes, and whether it has one.
func (r route) example(base string) (snippets.Call, bool) {
	if withoutExample[r.name] != "" || docsSections[docsSection(r)].id == docsPages {
		return snippets.Call{}, false
	}
	path := variablesIn(r)
	if r.sample.query != "" {
		path += "?" + r.sample.query
	}
	c := snippets.Call{Base: base, Method: r.method, Path: path, Open: r.access == public, Body: r.sample.body, Mime: r.sample.mime, Accept: r.sample.accept}
	if c.Mime == "" && c.Body != "" {
		c.Mime = "application/json"
	}
	c.Answer, c.File = r.printed()
	if c.Answer == snippets.Socket && r.name == "view" {
		c.Subprotocol = viewer.Subprotocol
	}
	return c, true
}

// parameter matches a parameter in the path of a route.
var parameter = regexp.MustCompile(`:(\w+)|\*`)

// variablesIn returns a route's path with the environment variables of its example in
// place of parameters.
func variablesIn(r route) string {
	return parameter.ReplaceAllStringFunc(r.path, func(p string) string {
		switch {
		case p == "*" && strings.HasPrefix(r.path, "/v1/trajectories"):
			return "meta.json"
		case p == "*":
			return "heap"
		case p == ":tid" || r.byTakeover:
			return "{TAKEOVER}"
		case p == ":lid":
			return "{LINK}"
		case p == ":id":
			return "{SESSION}"
		case p == ":name":
			return "{FILE}"
		}
		return "{" + strings.ToUpper(p[1:]) + "}"
	})
}

// answerFiles has names for answers that are written to files, by media type.
var answerFiles = map[string]string{
	"image/png": "picture.png", "image/jpeg": "picture.jpg", "application/pdf": "page.pdf", "application/zip": "files.zip",
	"application/octet-stream": "file",
}

// printed returns what an example does with a route's answer, and the name of the
// file for it.
func (r route) printed() (snippets.Answer, string) {
	switch mime := r.answers.mime; {
	case r.kind == webSocket:
		return snippets.Socket, ""
	case r.answers.status == 204:
		return snippets.Empty, ""
	case r.kind == stream || mime == mimeSSE:
		return snippets.Stream, ""
	case r.name == "getScreenshot" && strings.Contains(r.sample.query, "jpeg"):
		return snippets.File, "picture.jpg"
	case answerFiles[mime] != "":
		return snippets.File, answerFiles[mime]
	case mime == "":
		return snippets.JSON, ""
	}
	return snippets.Text, ""
}
