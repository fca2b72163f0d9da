package chromium

import (
	"fmt"
	"testing"
)

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
