package main

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestParseProxies(t *testing.T) {
	got, err := parseProxies([]string{"10.1.2.3/8", " 192.0.2.7", "fd00::1"})
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("fd00::1/128")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, wrong := range []string{"", "proxy.example", "10.0.0.0/33", "10.0.0"} {
		if _, err := parseProxies([]string{wrong}); err == nil || !strings.Contains(err.Error(), "--trusted-proxies") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
