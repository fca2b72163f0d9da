// Package browsertest gives tests a real Chromium: one per test binary, started
// by the first test that asks, and one page per test, in a browser context of its
// own. It also checks that a test binary leaves nothing behind.
//
// A package's TestMain is
//
//	func TestMain(m *testing.M) { browsertest.Main(m) }
//
// Packages that package browser imports must use it from their external test
// package (package x_test).
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"takeover/chromium"

	"go.uber.org/goleak"
)

// shared is the one Chromium of this test binary.
var shared struct {
	mu      sync.Mutex // guards process and err
	process *chromium.Process
	err     error
}

// Main runs the tests of a binary and exits. Temporary files go to a folder of
// the binary. Main exits with 1 if a test fails, and also if a goroutine, a
// Chromium process or a file in that folder is left over.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is like Main, but returns the exit code, for a TestMain that has more to
// do. After the tests, it ends what they shared.
func Run(m *testing.M, ends ...func() error) int {
	root, err := os.MkdirTemp("", "takeover-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// A Chromium under another uid must reach its own folder below this one.
	if err := errors.Join(os.Chmod(root, 0o711), os.Setenv("TMPDIR", root)); err != nil { //nolint:gosec // see above
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	for _, end := range append(ends, closeShared) {
		err = errors.Join(err, end())
	}
	if code == 0 {
		err = errors.Join(err, goleak.Find(), leftProcesses(root), leftFiles(root))
	}
	if err = errors.Join(err, os.RemoveAll(root)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// Start returns the binary's shared Chromium, which Main ends. A test must not
// end it or change what others share: use Launch for that.
func Start(t testing.TB) *chromium.Process {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.process == nil && shared.err == nil {
		dir := filepath.Join(os.TempDir(), "shared")
		shared.process, shared.err = chromium.Launch(context.WithoutCancel(t.Context()), chromium.LaunchOptions{Dir: dir})
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.process
}

// Launch starts a Chromium for this test alone, and ends it at the end of the test.
// If Dir is empty, the Chromium gets a folder that is then removed.
func Launch(t testing.TB, o chromium.LaunchOptions) *chromium.Process {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	p, err := chromium.Launch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func closeShared() error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.process == nil {
		return nil
	}
	if err := shared.process.Close(); err != nil {
		return fmt.Errorf("close the shared chromium: %w", err)
	}
	return os.RemoveAll(filepath.Join(os.TempDir(), "shared"))
}

// Patience bounds how long a test waits. Even a busy machine needs only part of
// it; only a test that hangs uses all of it.
const Patience = time.Minute

// Context returns a context that ends with the test, or after Patience with an
// error that says what the test waited for.
func Context(t testing.TB, what string) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), Patience, fmt.Errorf("%s: not within %v", what, Patience))
	t.Cleanup(cancel)
	return ctx
}
