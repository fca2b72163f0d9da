package web

import "testing"

// TestLimitedAs checks that the owner of an IPv6 network has no more tries than
// the owner of one address.
func TestLimitedAs(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:1234":            "192.0.2.7",
		"[::ffff:192.0.2.7]:1234":   "::ffff:192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64",
		"[2001:db8:1:2::9]:80":      "2001:db8:1:2::/64",
		"[2001:db8:1:3::9]:80":      "2001:db8:1:3::/64",
		"[fe80::1%eth0]:80":         "fe80::/64",
		"@":                         "@", // a Unix socket
	} {
		if got := limitedAs(remote); got != want {
			t.Errorf("%s counts as %s, want %s", remote, got, want)
		}
	}
}
