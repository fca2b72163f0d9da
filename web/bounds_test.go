package web

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"takeover/invalid"
	"takeover/web/apidoc"
)

// TestBoundsAreKept sends values beyond each bound that /docs and /openapi.json name
// for the fields of bodies. The server must refuse them by the field's name.
func TestBoundsAreKept(t *testing.T) {
	s := startServer(t, withProfiles(t))
	run := &exampleRunner{testServer: s}
	checked := 0
	for _, r := range s.table {
		body := typeOfBody(r.body)
		if body == nil {
			continue
		}
		for _, f := range apidoc.Fields(body) {
			for _, one := range beyond(f, "") {
				checked++
				run.refuses(t, r, one)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d bounds were found", checked)
	}
}

// outside is a value beyond a bound of a field. The name of a field in an object
// follows that of the object and a dot.
type outside struct {
	field string
	value any
}

// beyond returns values beyond a field's bounds, and those of the fields within.
func beyond(f apidoc.Field, prefix string) (list []outside) {
	name := prefix + f.Name
	for keyword, by := range map[string]float64{"minimum": -1, "maximum": 1} {
		switch bound := f.Bounds[keyword].(type) {
		case int64:
			list = append(list, outside{name, bound + int64(by)})
		case float64:
			list = append(list, outside{name, bound + by})
		}
	}
	if longest, ok := f.Bounds["maxLength"].(int64); ok {
		list = append(list, outside{name, strings.Repeat("a", int(longest)+1)})
	}
	if f.Bounds["enum"] != nil {
		list = append(list, outside{name, "none of them"})
	}
	inner := apidoc.Element(f.Kind)
	if prefix == "" && inner.Kind() == reflect.Struct && f.Kind.Kind() != reflect.Slice && len(apidoc.Fields(inner)) <= fewFields {
		for _, field := range apidoc.Fields(inner) {
			list = append(list, beyond(field, name+".")...)
		}
	}
	return list
}

// refuses sends the example of a call with a value beyond a bound.
func (run *exampleRunner) refuses(t *testing.T, r route, beyond outside) {
	t.Helper()
	body := map[string]any{}
	if r.sample.body != "" {
		if err := json.Unmarshal([]byte(r.sample.body), &body); err != nil {
			t.Fatal(err)
		}
	}
	at, name := body, beyond.field
	if object, field, nested := strings.Cut(beyond.field, "."); nested {
		inside, ok := body[object].(map[string]any)
		if !ok {
			inside = map[string]any{}
			body[object] = inside
		}
		at, name = inside, field
	}
	at[name] = beyond.value
	path := variablesIn(r)
	for name, value := range run.prepare(t, r) {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	got := run.do(request{method: r.method, path: path, body: body})
	var p problem
	got.decode(&p)
	named := slices.ContainsFunc(p.Errors, func(e invalid.FieldError) bool { return e.Field == beyond.field })
	if got.status != 400 || !named {
		text, _ := json.Marshal(beyond.value) // a number or a text
		t.Errorf("%s with %s: %.40s answers %d: %.300s", r.name, beyond.field, text, got.status, got.body)
	}
}
