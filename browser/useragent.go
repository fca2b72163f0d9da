package browser

import (
	"context"
	"os/exec"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// versionPatience is how long an executable may take to say its version.
const versionPatience = 2 * time.Second

var (
	// agents remembers the user agent of each executable.
	agents sync.Map // executable path → string, "" for one that does not say

	// askingVersion is held while an executable is asked, so that one is asked for
	// all who want to know.
	askingVersion sync.Mutex
)

// majorVersion is in what `chromium --version` prints.
var majorVersion = regexp.MustCompile(`\b(\d+)\.\d+\.\d+\.\d+\b`)

// userAgent is what this Chromium calls itself with a window: without one it
// says HeadlessChrome, and many sites turn away whoever does, people who are
// here to sign in included. Chromium's reduced form names the major version and
// the same platform on every Linux. Empty leaves Chromium its own.
func userAgent(ctx context.Context, execPath string) string {
	if known, ok := agents.Load(execPath); ok {
		return known.(string)
	}
	if runtime.GOOS != "linux" {
		return ""
	}
	askingVersion.Lock()
	defer askingVersion.Unlock()
	if known, ok := agents.Load(execPath); ok {
		return known.(string)
	}
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, execPath, "--version")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with what it started
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "" // the start will say what is wrong with it
	}
	agent := ""
	if m := majorVersion.FindSubmatch(out); m != nil {
		agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/" + string(m[1]) + ".0.0.0 Safari/537.36"
	}
	agents.Store(execPath, agent)
	return agent
}
