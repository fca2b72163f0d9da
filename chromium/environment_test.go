package chromium

import (
	"slices"
	"strings"
	"testing"
)

// TestGuardedEnvironment checks that a Chromium with a proxy of the server does not
// get the passwords of other proxies.
func TestGuardedEnvironment(t *testing.T) {
	t.Setenv("https_proxy", "http://user:secret@proxy.test")
	f := &folder{dir: t.TempDir()}
	for guarded, want := range map[bool]bool{true: false, false: true} {
		got := slices.ContainsFunc(f.environment(guarded), func(v string) bool { return strings.Contains(v, "secret") })
		if got != want {
			t.Errorf("guarded %v: the password is passed on: %v", guarded, got)
		}
	}
}
