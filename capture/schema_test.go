package capture

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"
)

var (
	docsRow   = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\|(.*)\\|$")
	docsField = regexp.MustCompile("`([a-z_]+)`(\\??)")
	inParens  = regexp.MustCompile(`\([^)]*\)`)
)

// TestDocsHaveTheSchema checks that the docs name each type, its category, and
// exactly the fields of its data. A question mark follows an optional field.
func TestDocsHaveTheSchema(t *testing.T) {
	docs, err := os.ReadFile("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, row := range docsRow.FindAllStringSubmatch(string(docs), -1) {
		eventType, category := row[1], row[2]
		described[eventType] = true
		if want := categories[eventType]; category != want {
			t.Errorf("%s is in the category %q, the docs say %q", eventType, want, category)
		}
		data, ok := shapes[eventType]
		if !ok {
			if category != CategoryControl { // TestControlEvents covers the session's own events
				t.Errorf("%s has no mapping", eventType)
			}
			continue
		}
		var told []string
		for _, f := range docsField.FindAllStringSubmatch(inParens.ReplaceAllString(row[3], ""), -1) {
			told = append(told, f[1]+f[2])
		}
		if has := marked(reflect.TypeOf(data)); !slices.Equal(told, has) {
			t.Errorf("%s has %q, the docs say %q", eventType, has, told)
		}
	}
	for eventType := range categories {
		if !described[eventType] {
			t.Errorf("the docs do not have %s", eventType)
		}
	}
}

// marked returns the JSON names of a struct's members, with a question mark after
// optional ones.
func marked(of reflect.Type) (names []string) {
	for _, m := range fieldsOf(of) {
		if m.optional {
			m.name += "?"
		}
		names = append(names, m.name)
	}
	return names
}
