package questions

import "testing"

// TestRealm parses challenges of servers.
func TestRealm(t *testing.T) {
	for challenge, want := range map[string]string{
		`Basic realm="a b"`: "a b", `digest qop="auth", Realm="r"`: "r", `Basic`: "", `Basic realm="open`: "open", `Bearer realm="x"`: "-", `Negotiate`: "-", ``: "-",
	} {
		realm, ok := realmOf([]string{challenge})
		if !ok {
			realm = "-"
		}
		if realm != want {
			t.Errorf("%q is for %q, want %q", challenge, realm, want)
		}
	}
}
