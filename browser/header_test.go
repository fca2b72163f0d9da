package browser

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzHeaders checks what the headers of a request may look like when a page has
// taken over the Chromium that reports them.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{`{"A":"b","c":"d\ne"}`, `{"a":1,"b":null}`, `{"a":[1,2],"b":"c"}`, `{"a":{"b":[]}}`, `[]`, `{`, `{"a":[`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		headers := parseHeaders(object)
		var want map[string]string
		if json.Unmarshal(object, &want) != nil || strings.Contains(string(object), "null") {
			return
		}
		got := map[string]string{}
		for _, h := range headers {
			if before, again := got[h.Name]; again {
				got[h.Name] = before + "\n" + h.Value
			} else {
				got[h.Name] = h.Value
			}
		}
		for name, value := range want {
			if !strings.HasSuffix(got[name], value) { // a name may come twice
				t.Errorf("%s: %q, want %q", name, got[name], value)
			}
		}
	})
}
