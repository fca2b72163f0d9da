package browser_test

import (
	"os"
	"testing"

	"takeover/browser/browsertest"
)

// TestMain is the test binary, or, started again by a test, a server to be killed.
func TestMain(m *testing.M) {
	if root := os.Getenv(serverRoot); root != "" {
		serveUntilKilled(root)
		return
	}
	browsertest.Main(m)
}
