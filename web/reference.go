package web

import (
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"takeover/control"
	"takeover/session"
	"takeover/web/apidoc"
	"takeover/web/snippets"
	"takeover/web/views"
)

// reference describes the calls and their objects for /docs, from the table of
// routes and the types that /openapi.json describes.
type reference struct {
	objects [][]views.DocsObject // by section
	places  map[reflect.Type]place
}

// place is where a type is described: at an object of its own, or at the call that has
// it as its body.
type place struct{ name, address string }

// fewFields is how many fields a nested object of a request may have to be
// described in its place.
const fewFields = 6

// newReference collects the objects of a table: those that a field or an answer
// refers to. The first section with calls that return an object describes it, or else the
// first that refers to it.
func newReference(table []route) *reference {
	f := &reference{objects: make([][]views.DocsObject, len(docsSections)), places: map[reflect.Type]place{}}
	for _, r := range table {
		if t := typeOfBody(r.body); t != nil && apidoc.Component(t) != "" && len(apidoc.Fields(t)) > fewFields && f.places[t].address == "" {
			f.places[t] = place{"object", docsAddress(docsSection(r), r.name)} // the call describes its body
		}
	}
	owners := map[reflect.Type]int{}
	for _, r := range table {
		t := reflect.TypeOf(r.answers.body)
		if t == nil {
			continue
		}
		if _, ok := owners[apidoc.Element(t)]; !ok {
			owners[apidoc.Element(t)] = docsSection(r)
		}
	}
	for _, r := range table {
		section := docsSection(r)
		if t := typeOfBody(r.body); t != nil {
			for _, field := range apidoc.Fields(t) {
				f.add(field.Kind, section, owners)
			}
		}
		if r.answers.body != nil {
			f.add(reflect.TypeOf(r.answers.body), section, owners)
		}
	}
	return f
}

// section describes the routes of a section.
func (f *reference) section(table []route, at int, base string) *views.DocsSection {
	of := docsSections[at]
	section := &views.DocsSection{ID: of.id, Title: of.title, Does: of.does, Objects: f.objects[at]}
	for _, r := range table {
		if docsSection(r) == at {
			section.Calls = append(section.Calls, f.call(r, base))
		}
	}
	if of.id == docsSocket {
		section.FromClient, section.FromServer = clientDocs(), serverDocs()
	}
	return section
}

// typeOfBody returns the struct of a request's body, or nil.
func typeOfBody(body any) reflect.Type {
	if t := reflect.TypeOf(body); t != nil && t.Kind() == reflect.Struct && t != reflect.TypeFor[uploadForm]() {
		return t
	}
	return nil
}

// add describes a type and the types of its fields, unless they are plain values.
func (f *reference) add(t reflect.Type, section int, owners map[reflect.Type]int) {
	t = apidoc.Element(t)
	if !apidoc.IsObject(t) || f.places[t].address != "" {
		return
	}
	if owner, ok := owners[t]; ok {
		section = owner
	}
	name := apidoc.Component(t)
	at, id := len(f.objects[section]), "object-"+name
	f.places[t] = place{name, docsAddress(section, id)}
	f.objects[section] = append(f.objects[section], views.DocsObject{ID: id, Name: name})
	for _, field := range apidoc.Fields(t) {
		f.add(field.Kind, section, owners)
	}
	f.objects[section][at].Fields = f.fields(t, "")
}

// fields describes a struct's fields, each with a prefix before its name.
func (f *reference) fields(t reflect.Type, prefix string) (list []views.DocsField) {
	for _, field := range apidoc.Fields(t) {
		form, address := f.form(field.Kind)
		list = append(list, views.DocsField{Name: prefix + field.Name, Type: form, Object: address, Bounds: apidoc.BoundsInWords(field.Bounds), Does: field.Does, Required: field.Required})
	}
	return list
}

// form names a type in words, and returns the address of its description.
func (f *reference) form(t reflect.Type) (words, address string) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "time", ""
	case reflect.TypeFor[json.RawMessage]():
		return "any JSON", ""
	case reflect.TypeFor[session.Role]():
		return "view, control or takeover", ""
	case reflect.TypeFor[control.Holder]():
		return "string", ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		return f.form(t.Elem())
	case reflect.Slice, reflect.Array:
		words, address = f.form(t.Elem())
		return "list of " + words, address
	case reflect.Bool:
		return "boolean", ""
	case reflect.String:
		return "string", ""
	case reflect.Float32, reflect.Float64:
		return "number", ""
	case reflect.Struct:
		if at := f.places[t]; at.address != "" {
			return at.name, at.address
		}
		return "object", ""
	case reflect.Map, reflect.Interface:
		return "object", ""
	}
	return "integer", ""
}

// call describes a route.
func (f *reference) call(r route, base string) views.DocsCall {
	c := views.DocsCall{ID: r.name, Method: r.method, Path: r.path, Does: r.does, Who: r.whoMay(), Answer: f.answer(r), WhyNoExample: withoutExample[r.name]}
	for _, in := range []views.DocsFields{{Title: "In the path", Fields: pathFields(r)}, {Title: "In the query", Fields: queryFields(r)}, {Title: "In the body", Fields: f.body(r)}} {
		if len(in.Fields) > 0 {
			c.Inputs = append(c.Inputs, in)
		}
	}
	for _, k := range r.problems() {
		c.Problems = append(c.Problems, views.DocsProblem{ID: k.name, Status: k.status, Title: k.title})
	}
	if example, ok := r.example(base); ok {
		for _, one := range snippets.Of(example) {
			c.Examples = append(c.Examples, views.DocsCode{Language: one.Language, Label: one.Label, Code: one.Code})
		}
	}
	return c
}

// pathParams describes the parameters in paths.
var pathParams = map[string]string{
	"id": "The session's id.", "tid": "The takeover's id.", "lid": "The link's id.", "cid": "The checkpoint's id.", "trajectory": "The bundle's id.", "run": "The run's id.", "script": "The saved script's id.",
	"profile": "The profile's id or name.", "delivery": "The delivery's id.", "target": "The page's id, from /json/list.", "name": "The file's name.",
	"node": "The node's name or id.", "at": "When the picture was taken, in milliseconds since 1970, as the film strip lists it.",
	"path":  "The rest of the path.",
	"group": "The group's id, such as takeovers.",
}

func pathFields(r route) (list []views.DocsField) {
	_, params := specPath(r.path)
	for _, name := range params {
		does := pathParams[name]
		if r.byTakeover && name == "id" {
			does = pathParams["tid"]
		}
		list = append(list, views.DocsField{Name: name, Type: "string", Does: does, Required: true})
	}
	return list
}

func queryFields(r route) (list []views.DocsField) {
	for _, name := range r.query {
		described := queryParams[name]
		schema, _ := described["schema"].(object)
		does, _ := described["description"].(string)
		form, _ := schema["type"].(string)
		list = append(list, views.DocsField{Name: name, Type: form, Bounds: apidoc.BoundsInWords(schema), Does: does})
	}
	return list
}

// body describes the fields of a request's body. Those of small objects follow their
// object.
func (f *reference) body(r route) (list []views.DocsField) {
	if _, isForm := r.body.(uploadForm); isForm {
		return []views.DocsField{
			{Name: "file", Type: "file", Does: "In a multipart form: the content. Without a form, the body is the content."},
			{Name: "name", Type: "string", Does: "In a multipart form: the file's name."},
		}
	}
	t := typeOfBody(r.body)
	if t == nil {
		return nil
	}
	own := f.fields(t, "")
	for i, field := range apidoc.Fields(t) {
		inner := apidoc.Element(field.Kind)
		nested := inner.Kind() == reflect.Struct && len(apidoc.Fields(inner)) > 0 && len(apidoc.Fields(inner)) <= fewFields && field.Kind.Kind() != reflect.Slice
		if nested {
			own[i].Type, own[i].Object = "object", ""
		}
		list = append(list, own[i])
		if nested {
			list = append(list, f.fields(inner, field.Name+".")...)
		}
	}
	return list
}

// answer describes a route's answer.
func (f *reference) answer(r route) views.DocsAnswer {
	a := views.DocsAnswer{Status: r.answers.code(), Form: r.answers.mime, Example: apidoc.Example(reflect.TypeOf(r.answers.body), r.answers.list)}
	switch {
	case r.kind == webSocket:
		a.Form = "WebSocket"
	case r.answers.list != "":
		_, a.Object = f.form(reflect.TypeOf(r.answers.body))
		one, _ := f.form(reflect.TypeOf(r.answers.body))
		a.Form = "{" + r.answers.list + ": list of " + one + ", next}"
	case r.answers.body != nil:
		a.Form, a.Object = f.form(reflect.TypeOf(r.answers.body))
	case a.Form == "" && a.Status == http.StatusNoContent:
		a.Form = "no body"
	}
	return a
}
