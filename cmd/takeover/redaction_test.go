package main

import (
	"slices"
	"strings"
	"testing"
)

func TestParseRedaction(t *testing.T) {
	o, err := parseRedaction([]string{"Badge-Number", " iban"}, []string{"ACME-[0-9]{4,6}", "a(b)\n\n c,d "})
	var patterns []string
	for _, p := range o.Patterns {
		patterns = append(patterns, p.String())
	}
	if err != nil || !slices.Equal(o.Keys, []string{"Badge-Number", "iban"}) || !slices.Equal(patterns, []string{"ACME-[0-9]{4,6}", "a(b)", "c,d"}) {
		t.Errorf("got %q and %q, %v", o.Keys, patterns, err)
	}
	for _, key := range []string{"", "-", "x", "é"} {
		if _, err := parseRedaction([]string{key}, nil); err == nil || !strings.Contains(err.Error(), "--redact-keys") {
			t.Errorf("the key %q: %v", key, err)
		}
	}
	for _, pattern := range []string{"(", "x*", "|a"} {
		if _, err := parseRedaction(nil, []string{pattern}); err == nil || !strings.Contains(err.Error(), "--redact-patterns") {
			t.Errorf("the pattern %q: %v", pattern, err)
		}
	}
}

// TestServeNamesWrongSettings checks that an invalid setting prevents the start,
// and that the error names the setting.
func TestServeNamesWrongSettings(t *testing.T) {
	for setting, value := range map[string]string{
		"--redact-keys": "x", "--redact-patterns": "(", "--trusted-proxies": "10.0.0.0/99", "--allowed-origins": "*",
	} {
		code, _, errs := command(t, "", "serve", "--addr", "127.0.0.1:0", "--warm", "0", "--data-dir", t.TempDir(), setting+"="+value)
		if code == 0 || !strings.Contains(errs, setting) {
			t.Errorf("%s: code %d, %s", setting, code, errs)
		}
	}
	t.Setenv("TAKEOVER_REDACT_PATTERNS", "a{1,2}\nb(")
	if _, _, errs := command(t, "", "serve", "--addr", "127.0.0.1:0", "--warm", "0", "--data-dir", t.TempDir()); !strings.Contains(errs, `--redact-patterns: "b("`) {
		t.Errorf("from the environment: %s", errs)
	}
}
