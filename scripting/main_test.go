package scripting_test

import (
	"os"
	"testing"

	"takeover/browser/browsertest"
	"takeover/scripting"
	"takeover/scripting/worker"
)

// TestMain lets the test binary be its own worker, like the server's binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == scripting.Subcommand {
		worker.Main(scripting.Bundles())
	}
	if len(os.Args) > 2 && os.Args[1] == scripting.HostileSubcommand {
		scripting.Hostile(os.Args[2])
	}
	browsertest.Main(m)
}
