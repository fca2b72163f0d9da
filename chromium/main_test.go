package chromium_test

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"takeover/browser/browsertest"
	"takeover/confine"
)

// TestMain runs the tests. When a test starts this binary again, it is a server
// that the test kills.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == confine.Command {
		leaveFirstThread()
		confine.Main()
	}
	if root := os.Getenv(serverRoot); root != "" {
		serveUntilKilled(root)
		return
	}
	for _, arg := range os.Args[1:] {
		if goals, ok := strings.CutPrefix(arg, trialSwitch); ok {
			tryEscapes(goals)
		}
	}
	if limits := os.Getenv(confinementTrial); limits != "" && limits != "itself" {
		startWithLimits(limits)
		return
	}
	browsertest.Main(m)
}

// leaveFirstThread does what a busy machine does to a program: its main goroutine goes
// on in another thread than the first, unless it is locked to that.
func leaveFirstThread() {
	var others sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		others.Go(func() {
			for range 100 {
				runtime.Gosched()
			}
		})
	}
	others.Wait()
}
