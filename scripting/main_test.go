package scripting

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary its own worker, as the server's binary is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Subcommand {
		WorkerMain()
	}
	goleak.VerifyTestMain(m)
}
