package playwright

import "testing"

// TestWithoutHARPath checks which messages are changed.
func TestWithoutHARPath(t *testing.T) {
	for message, want := range map[string]string{
		`{"id":1,"method":"harStart","params":{"options":{"harPath":"/a.har","mode":"full"}}}`: `{"id":1,"method":"harStart","params":{"options":{"mode":"full"}}}`,
		`{"id":1,"method":"harStart","params":{"options":{"mode":"full"}}}`:                    `{"id":1,"method":"harStart","params":{"options":{"mode":"full"}}}`,
		`{"id": 1, "params": {"value": "\"harPath\""}}`:                                        `{"id": 1, "params": {"value": "\"harPath\""}}`,
		`{"id": 1, "params": {"harPath": 1}}`:                                                  `{"id": 1, "params": {"harPath": 1}}`,
		`"harPath"`:                                                                            `"harPath"`,
		`{"harPath" broken`:                                                                    `{"harPath" broken`,
	} {
		if got := string(withoutHARPath([]byte(message))); got != want {
			t.Errorf("%s became %s, want %s", message, got, want)
		}
	}
}
