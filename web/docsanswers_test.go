package web

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestExampleAnswers checks that each example of an answer is a value of its type, and
// how an example of a takeover reads.
func TestExampleAnswers(t *testing.T) {
	s := startServer(t, nil)
	for _, r := range s.table {
		text := exampleAnswer(r.answers)
		if text == "" {
			if r.answers.body != nil && reflect.TypeOf(r.answers.body).Kind() != reflect.Map {
				t.Errorf("%s has no example of its answer", r.name)
			}
			continue
		}
		body := []byte(text)
		if r.answers.list != "" {
			var page map[string]json.RawMessage
			if err := json.Unmarshal(body, &page); err != nil {
				t.Fatal(err)
			}
			var items []json.RawMessage
			if err := json.Unmarshal(page[r.answers.list], &items); err != nil || len(items) != 1 {
				t.Fatalf("%s: %d items: %v", r.name, len(items), err)
			}
			body = items[0]
		}
		strict := json.NewDecoder(bytes.NewReader(body))
		strict.DisallowUnknownFields()
		if err := strict.Decode(reflect.New(reflect.TypeOf(r.answers.body)).Interface()); err != nil {
			t.Errorf("%s: %v in\n%s", r.name, err, body)
		}
		if lines := strings.Count(text, "\n"); lines > 80 {
			t.Errorf("the example of %s has %d lines", r.name, lines)
		}
	}
}
