package browser

import (
	"encoding/json"
	"fmt"
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

// FuzzStat checks the kernel's line about a process, whose name the process chooses.
func FuzzStat(f *testing.F) {
	for _, name := range []string{"chrome", "a) S 1 2 3", "(", "\n", ")))", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		stat, err := parseStat(fmt.Appendf(nil, "17 (%s) S 4 5 5 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n", name))
		if err != nil || stat.name != name || stat.state != 'S' || stat.parent != 4 || stat.group != 5 || stat.startTime != 4711 {
			t.Errorf("%q: %+v, %v", name, stat, err)
		}
		_, _ = parseStat([]byte(name)) // must not panic
	})
}
