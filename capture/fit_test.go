package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestShrinkKeepsRequiredMembers checks that cut data still has the members that
// its type requires, and that the same data is cut in the same way.
func TestShrinkKeepsRequiredMembers(t *testing.T) {
	const limit = 4_000
	for eventType := range shapes {
		for name, junk := range map[string]any{"many": 1, "long": strings.Repeat("x", 400)} {
			members := map[string]any{}
			for i := range 400 {
				members[fmt.Sprintf("a_member_%05d", i)] = junk
			}
			for _, member := range required[eventType] {
				members[member] = "kept"
			}
			data, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			short := shrink(data, required[eventType], limit)
			if again := shrink(data, required[eventType], limit); !bytes.Equal(short, again) {
				t.Errorf("%s, %s: equal data was cut differently", eventType, name)
			}
			var left map[string]any
			if err := json.Unmarshal(short, &left); err != nil || len(short) > limit {
				t.Fatalf("%s, %s: %d bytes, %v", eventType, name, len(short), err)
			}
			for _, member := range required[eventType] {
				if left[member] != "kept" {
					t.Errorf("%s, %s: %s is gone", eventType, name, member)
				}
			}
			if len(left) <= len(required[eventType]) {
				t.Errorf("%s, %s: nothing but the required members is left", eventType, name)
			}
		}
	}
}

// TestFitOfDeepData checks an event that cutting alone cannot make small enough:
// only its required members are left, each as small as possible.
func TestFitOfDeepData(t *testing.T) {
	deep := any("fifteen letters")
	for range 4 {
		deep = []any{deep, deep, deep, deep, deep, deep, deep, deep, deep, deep, deep, deep, deep, deep, deep, deep}
	}
	data, err := json.Marshal(map[string]any{"level": "log", "text": strings.Repeat("y", 100), "args": deep, "stack_trace": "here"})
	if err != nil {
		t.Fatal(err)
	}
	e := Event{Type: TypeConsoleLog, Data: data}
	e.fit()
	if want := `{"args":[],"level":"log","text":"yyyyyyyyyyyyyyyy"}`; string(e.Data) != want || !e.Truncated {
		t.Errorf("got %.200s, want %s", e.Data, want)
	}
}
