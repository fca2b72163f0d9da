package browsertest

import (
	"os"
	"os/exec"
	"testing"

	"takeover/chromium"
)

// shellPlace is where Debian's package chromium-headless-shell puts its program.
const shellPlace = "/usr/lib/chromium/chromium-headless-shell"

// Shell returns the path of Chromium's headless shell. Without one it returns "", and the
// tests start Chromium itself. The shell is the same engine without the parts around the
// page (profile services, extensions, the print dialog), starts in half the processor
// time and runs in less. It is for tests of what this program does with a browser: of
// sessions, HTTP, doors and scripts. Tests of the browser (browser, chromium, automation, capture,
// input, screencast, widget, conformance and the pages) run Chromium itself.
// With TAKEOVER_TEST_SHELL=no, all of them do.
func Shell() string {
	path, err := exec.LookPath(shellPlace)
	if err != nil || os.Getenv("TAKEOVER_TEST_SHELL") == "no" {
		return ""
	}
	return path
}

// Chromium returns the path of Chromium itself, for a test that depends on what the
// headless shell does another way (rooms, profiles, sign-in of HTTP, secrets in pictures,
// what happens around a crash), and for those that SECURITY.md names.
func Chromium(t testing.TB) string {
	t.Helper()
	path, err := chromium.FindExecutable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
