package apidoc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"takeover/door/steel"
	"takeover/links"
	"takeover/profiles"
	"takeover/savedscripts"
	"takeover/session"
)

// Object is a JSON object, such as a schema.
type Object = map[string]any

// Schemas describes Go types as JSON schemas. Named structs become components, which its
// schemas refer to.
type Schemas struct {
	components Object
	types      map[string]reflect.Type // of the components
	clash      error                   // two types have the name of one component
	requests   map[reflect.Type]bool   // types of requests: they may leave out fields, and may have no others
}

// NewSchemas returns schemas without components. The structs in bodies, and those in their
// fields, are of requests: they may leave out fields, and may have no others.
func NewSchemas(bodies ...reflect.Type) *Schemas {
	return &Schemas{components: Object{}, types: map[string]reflect.Type{}, requests: requestTypes(bodies)}
}

// Components returns the components so far by name, or an error if two types have the
// same name.
func (g *Schemas) Components() (Object, error) { return g.components, g.clash }

// requestTypes returns the structs in the bodies of requests.
func requestTypes(bodies []reflect.Type) map[reflect.Type]bool {
	found := map[reflect.Type]bool{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || found[t] {
			return
		}
		found[t] = true
		for _, f := range Fields(t) {
			add(f.Kind)
		}
	}
	for _, t := range bodies {
		add(t)
	}
	return found
}

// Of describes a Go type. Named structs become components.
func (g *Schemas) Of(t reflect.Type) Object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return Object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[jsontext.Value]():
		return Object{}
	case reflect.TypeFor[session.Role]():
		return Object{"type": "string", "enum": []string{"view", "control", "takeover"}}
	}
	if t.Kind() != reflect.Pointer && t.Implements(textMarshaler) {
		return Object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return Object{"anyOf": []Object{g.Of(t.Elem()), {"type": "null"}}}
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.String:
		return Object{"type": "string"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Object{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return Object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return Object{"type": "array", "items": g.Of(t.Elem())}
	case reflect.Map:
		return Object{"type": "object", "additionalProperties": g.Of(t.Elem())}
	case reflect.Struct:
		return g.structSchema(t)
	}
	return Object{}
}

func (g *Schemas) structSchema(t reflect.Type) Object {
	name := Component(t)
	if name == "" {
		props, _ := g.Properties(t)
		return Object{"type": "object", "properties": props}
	}
	ref := Object{"$ref": "#/components/schemas/" + name}
	if _, known := g.components[name]; known {
		if g.types[name] != t {
			g.clash = fmt.Errorf("%v and %v have the same name %s", g.types[name], t, name)
		}
		return ref
	}
	g.types[name] = t
	g.components[name] = Object{} // ends the recursion for types that contain themselves
	props, required := g.Properties(t)
	schema := Object{"type": "object", "properties": props}
	if len(required) > 0 {
		schema["required"] = required
	}
	if g.requests[t] {
		schema["additionalProperties"] = false
	}
	g.components[name] = schema
	return ref
}

// Properties describes a struct's fields by their JSON names.
func (g *Schemas) Properties(t reflect.Type) (props Object, required []string) {
	props = Object{}
	for _, f := range Fields(t) {
		props[f.Name] = g.Property(f)
		if f.Required || f.Always && !g.requests[t] {
			required = append(required, f.Name)
		}
	}
	return props, required
}

// Property describes a field: its type, and the text and the bounds in its tags.
func (g *Schemas) Property(f Field) Object {
	schema := g.Of(f.Kind)
	for keyword, value := range f.Bounds {
		schema[keyword] = value
	}
	if f.Does != "" {
		schema["description"] = f.Does
	}
	return schema
}

// componentNames are names for structs whose Go names are unclear outside their
// package.
var componentNames = map[reflect.Type]string{
	reflect.TypeFor[links.Info]():          "Link",
	reflect.TypeFor[links.Visit]():         "LinkVisit",
	reflect.TypeFor[links.Grant]():         "LinkGrant",
	reflect.TypeFor[savedscripts.Script](): "SavedScript",
	reflect.TypeFor[profiles.Profile]():    "Profile",
	reflect.TypeFor[steel.Link]():          "PageLink",
}

// componentPrefixes precede the names of structs in packages whose names others have,
// too.
var componentPrefixes = map[string]string{"takeover/background": "Background", "takeover/door/browserless": "Browserless"}

// Component returns the name of a struct in the document, with a capital
// first letter.
func Component(t reflect.Type) string {
	if name := componentNames[t]; name != "" {
		return name
	}
	name := t.Name()
	if name == "" {
		return ""
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, "Info"), "View")
	if prefix := componentPrefixes[t.PkgPath()]; prefix != "" {
		return prefix + name
	}
	return string(unicode.ToUpper(rune(name[0]))) + name[1:]
}

// Element returns what a pointer points to or a list has.
func Element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t != reflect.TypeFor[json.RawMessage]() {
		t = t.Elem()
	}
	return t
}

// IsObject reports whether values of a type are JSON objects with known fields and a
// name.
func IsObject(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && Component(t) != "" && len(Fields(t)) > 0 && t != reflect.TypeFor[time.Time]()
}
