package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"takeover/capture"
	"takeover/door/actions"
	"takeover/web/apidoc"
)

type object = apidoc.Object

// queryParams describes the query parameters of routes.
var queryParams = map[string]object{
	"limit":     {"description": "Length of a page of the list.", "schema": object{"type": "integer", "minimum": 1, "maximum": listMax, "default": listDefault}},
	"cursor":    {"description": "The value of next from the previous page of the list.", "schema": object{"type": "string"}},
	"status":    {"description": "Only sessions with this status.", "schema": object{"type": "string", "enum": statuses}},
	"state":     {"description": "Only takeovers in this state.", "schema": object{"type": "string", "enum": takeoverStates}},
	"dead":      {"description": "Only deliveries that failed for good, or only others.", "schema": object{"type": "boolean"}},
	"format":    {"description": "Image format.", "schema": object{"type": "string", "enum": []string{"png", "jpeg", "webp"}, "default": "png"}},
	"fullPage":  {"description": "The whole page instead of what is in view.", "schema": object{"type": "boolean", "default": false}},
	"wait":      {"description": "How long to wait for the end, with its unit, such as 60s or 500ms.", "schema": object{"type": "string"}},
	"since":     {"description": "Only events with a greater seq.", "schema": object{"type": "integer", "minimum": 0}},
	"from":      {"description": "From this time on, in milliseconds since 1970.", "schema": object{"type": "integer", "minimum": 0}},
	"to":        {"description": "Up to this time, in milliseconds since 1970.", "schema": object{"type": "integer", "minimum": 0}},
	"type":      {"description": "Only events of these types, separated by commas.", "schema": object{"type": "string"}},
	"category":  {"description": "Only events of these categories, separated by commas.", "schema": object{"type": "string"}},
	"timeout":   {"description": "Milliseconds: how long to wait, or how long a session lives that the call opens.", "schema": object{"type": "integer", "minimum": 0}},
	"blockAds":  {"description": "Whether the session that the call opens refuses hosts of advertising and tracking.", "schema": object{"type": "boolean", "default": false}},
	"launch":    {"description": "Options of puppeteer.launch as JSON, or that in base64: defaultViewport, and args that a session takes.", "schema": object{"type": "string"}},
	"profile":   {"description": "A profile for the session that the call opens.", "schema": object{"type": "string"}},
	"persist":   {"description": "Whether the session's state goes back into the profile at its end.", "schema": object{"type": "boolean", "default": false}},
	"proxyUrl":  {"description": "The proxy of the session that the call opens.", "schema": object{"type": "string"}},
	"userAgent": {"description": "The User-Agent of the session that the call opens.", "schema": object{"type": "string"}},
	"viewport":  {"description": "The size of the session's page, such as 1280x720.", "schema": object{"type": "string"}},
	"replay":    {"description": "all begins with the oldest event that is kept.", "schema": object{"type": "string", "enum": []string{"all"}}},
	"session":   {"description": "The session; may be left out while just one is live.", "schema": object{"type": "string"}},
	"resume":    {"description": "The secret resume from the hello message of an earlier connection. If that connection broke while it was in control, the new one keeps its viewer id and its control, for as long as the server waits (--lease-grace).", "schema": object{"type": "string"}},
	"tools":     {"description": "Sets of tools, separated by commas: core, input, code, network, takeover, diagnose, record, sessions, which are the default; emulate, mouse, storage, routes, verify, performance; or default, or all.", "schema": object{"type": "string"}},
	"name":      {"description": "The file's name. In a form, a field called name or the name in the file's part can give it instead.", "schema": object{"type": "string"}},
	"add":       {"description": "Whether to keep a file of the same name. If the content differs, the new file gets a number in its name.", "schema": object{"type": "boolean", "default": false}},
	"unscanned": {"description": "Also a bundle that nobody has searched for secrets, because the server ended while it recorded.", "schema": object{"type": "boolean", "default": false}},
	"next":      {"description": "The path on this server to open after the sign-in.", "schema": object{"type": "string"}},
	"group":     {"description": "The id of a group of calls, such as takeovers.", "schema": object{"type": "string"}},
	"code":      {"description": "The code of a sign-in link, for one use.", "schema": object{"type": "string"}},
}

// openAPI describes the routes as an OpenAPI 3.1 document.
func openAPI(table []route, version string) ([]byte, error) {
	var bodies []reflect.Type
	for _, r := range table {
		if r.body != nil {
			bodies = append(bodies, reflect.TypeOf(r.body))
		}
	}
	g := apidoc.NewSchemas(bodies...)
	paths := map[string]object{}
	problemRef := g.Of(reflect.TypeFor[problem]())
	for _, r := range table {
		path, params := specPath(r.path)
		if paths[path] == nil {
			paths[path] = object{}
		}
		op, err := operation(g, r, params, problemRef)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
		paths[path][strings.ToLower(r.method)] = op
	}
	components, err := g.Components()
	if err != nil {
		return nil, err
	}
	const overHTTPS = "Over HTTPS the name begins with " + hostPrefix + "."
	doc := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Takeover", "version": version, "license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "A remote browser that scripts drive and people take over. Durations are milliseconds, times ISO 8601.",
		},
		"paths": paths,
		"components": object{
			"schemas": components,
			"securitySchemes": object{
				"bearer": object{"type": "http", "scheme": "bearer"},
				"header": object{"type": "apiKey", "in": "header", "name": keyHeader},
				"cookie": object{"type": "apiKey", "in": "cookie", "name": signInCookie, "description": overHTTPS},
				"token":  object{"type": "apiKey", "in": "query", "name": "token"},
				"link":   object{"type": "apiKey", "in": "cookie", "name": linkCookiePrefix + "{id}", "description": overHTTPS},
			},
		},
	}
	return json.MarshalIndent(doc, "", " ")
}

// specPath converts a path of Echo to OpenAPI's form, and lists its parameters.
func specPath(path string) (string, []string) {
	var params []string
	parts := strings.Split(path, "/")
	for i, p := range parts {
		name, isParam := strings.CutPrefix(p, ":")
		if p == "*" {
			name, isParam = "path", true
		}
		if isParam {
			params = append(params, name)
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/"), params
}

func operation(g *apidoc.Schemas, r route, pathParams []string, problemRef object) (object, error) {
	op := object{"operationId": r.name, "summary": r.does, "tags": []string{docsSections[docsSection(r)].id}, "security": security(r)}
	params := []object{}
	for _, name := range pathParams {
		params = append(params, object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, name := range r.query {
		doc, ok := queryParams[name]
		if !ok {
			return nil, fmt.Errorf("query parameter %s is not described", name)
		}
		params = append(params, object{"name": name, "in": "query", "description": doc["description"], "schema": doc["schema"]})
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	switch r.body.(type) {
	case nil:
	case uploadForm:
		binary := object{"type": "string", "format": "binary"}
		op["requestBody"] = object{"content": object{
			"multipart/form-data":      object{"schema": object{"type": "object", "properties": object{"file": binary, "name": object{"type": "string"}}, "required": []string{"file"}}},
			"application/octet-stream": object{"schema": binary},
		}}
	case actions.Body:
		op["requestBody"] = object{"required": true, "content": object{
			"application/json": object{"schema": g.Of(reflect.TypeOf(r.body))},
			"application/xml":  object{"schema": object{"type": "string", "description": "One or several elements browser_action, whose attributes are the fields and options of an action, under any root or none."}},
		}}
	default:
		op["requestBody"] = object{"content": object{"application/json": object{"schema": g.Of(reflect.TypeOf(r.body))}}}
	}
	content := object{mimeProblem: object{"schema": problemRef}}
	responses := object{
		strconv.Itoa(r.answers.code()): answerSchema(g, r.answers),
		"default":                      object{"description": "A problem (RFC 9457).", "content": content},
	}
	for _, k := range r.problems() {
		status := strconv.Itoa(k.status)
		if described, ok := responses[status].(object); ok {
			described["description"] = described["description"].(string) + "; " + k.name
			continue
		}
		responses[status] = object{"description": k.name, "content": content}
	}
	op["responses"] = responses
	return op, nil
}

func (a answer) code() int {
	if a.status == 0 {
		return http.StatusOK
	}
	return a.status
}

func answerSchema(g *apidoc.Schemas, a answer) object {
	out := object{"description": http.StatusText(a.code())}
	mime := a.mime
	var schema object
	switch {
	case a.list != "":
		schema = listSchema(g, a)
	case a.body != nil:
		schema = g.Of(reflect.TypeOf(a.body))
	case mime == "":
		return out
	default:
		schema = object{"type": "string"}
	}
	if mime == "" {
		mime = "application/json"
	}
	out["content"] = object{mime: object{"schema": schema}}
	return out
}

// listSchema describes a page of a list.
func listSchema(g *apidoc.Schemas, a answer) object {
	required := []string{a.list, "next"}
	props := object{
		a.list: object{"type": "array", "items": g.Of(reflect.TypeOf(a.body))},
		"next": object{"type": []string{"string", "null"}, "description": "The cursor for the next page of the list; null at the end."},
	}
	if a.ofNodes {
		props["missing"] = object{"type": "array", "items": object{"type": "string"}, "description": "In a cluster: the names of the servers that did not answer, and whose items are not here."}
	}
	if reflect.TypeOf(a.body) == reflect.TypeFor[capture.Event]() {
		props["next"] = object{"type": "integer", "description": "The since for the next page of the list."}
		props["missed"] = object{"type": "integer", "description": "How many events after since are no longer kept."}
		required = append(required, "missed")
	}
	return object{"type": "object", "properties": props, "required": required}
}

func security(r route) []object {
	if r.access == public {
		return []object{}
	}
	out := []object{{"bearer": []string{}}, {"header": []string{}}, {"cookie": []string{}}}
	if r.kind != plain {
		out = append(out, object{"token": []string{}})
	}
	if r.access == guests {
		out = append(out, object{"link": []string{}})
	}
	return out
}
