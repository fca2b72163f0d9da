package chromium

import (
	"context"
	"os/exec"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// versionPatience bounds how long an executable may take to print its version.
const versionPatience = 2 * time.Second

var (
	// agents remembers the user agent of each executable.
	agents sync.Map // executable path → string, "" when it printed none

	// askingVersion is held while an executable runs to print its version, so
	// that it runs only once for all callers.
	askingVersion sync.Mutex
)

// majorVersion matches the output of `chromium --version`.
var majorVersion = regexp.MustCompile(`\b(\d+)\.\d+\.\d+\.\d+\b`)

// userAgent returns the user agent that this Chromium would have with a window.
// Without a window, Chromium calls itself HeadlessChrome, which many sites
// refuse, even when a person signs in. Chromium's reduced form has the major
// version, and the same platform on every Linux. If the result is empty,
// Chromium's own user agent is used.
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
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // also kills its children
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "" // the start will report the problem
	}
	agent := ""
	if m := majorVersion.FindSubmatch(out); m != nil {
		agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/" + string(m[1]) + ".0.0.0 Safari/537.36"
	}
	agents.Store(execPath, agent)
	return agent
}
