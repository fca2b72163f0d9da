package chromium_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/chromium"
)

// TestTrace starts a Chromium with TraceVariable set.
func TestTrace(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cdp.jsonl")
	t.Setenv(chromium.TraceVariable, name)
	p, err := chromium.Launch(browsertest.Context(t, "launch"), chromium.LaunchOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("others may read the trace: %v", mode)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"method":"Browser.getVersion"`, `"to":"server"`, `"product":"Chrome/`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the trace has no %s: %.500s", want, text)
		}
	}
}
