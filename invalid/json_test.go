package invalid_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"takeover/invalid"
)

// TestJSON checks which field an error of package json is said to be about.
func TestJSON(t *testing.T) {
	var into struct {
		Size  struct{ Width int }
		Names []struct{ First string }
		Ratio float64
		Wide  *bool
	}
	for text, want := range map[string]string{
		`{"Size":{"Width":"wide"}}`:  "Size.Width: must be an integer",
		`{"Names":[{},{"First":3}]}`: "Names[1].First: must be a string",
		`{"Names":{}}`:               "Names: must be an array",
		`{"Ratio":[]}`:               "Ratio: must be a number",
		`{"Wide":"yes"}`:             "Wide: must be true or false",
		`{"Size":1}`:                 "Size: must be an object",
		`{"Height":1}`:               "Height: unknown field",
		`{"Ratio":1,"Ratio":2}`:      "Ratio: given twice",
		`{"Ratio":`:                  "",
		`{"Ratio":1,"Size":{Width:2`: "",
	} {
		got := ""
		if bad := invalid.JSON(json.Unmarshal([]byte(text), &into, json.RejectUnknownMembers(true))); bad != nil {
			got = bad.Error()
		}
		if got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}
