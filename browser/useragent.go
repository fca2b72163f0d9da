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

// versionPatience bounds how long an executable may take to print its version.
const versionPatience = 2 * time.Second

var (
	// agents remembers the user agent of each executable.
	agents sync.Map // executable path → string, "" when it printed none

	// askingVersion is held while an executable runs for its version, so that it
	// runs only once for all callers.
	askingVersion sync.Mutex
)

// majorVersion matches the output of `chromium --version`.
var majorVersion = regexp.MustCompile(`\b(\d+)\.\d+\.\d+\.\d+\b`)

// userAgent is the user agent of this Chromium with a window. Without a window
// Chromium says HeadlessChrome, and many sites refuse that, also to people who
// sign in. Chromium's reduced form has the major version and the same platform on
// every Linux. An empty text leaves Chromium's own.
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
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with its children
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "" // the start will report what is wrong
	}
	agent := ""
	if m := majorVersion.FindSubmatch(out); m != nil {
		agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/" + string(m[1]) + ".0.0.0 Safari/537.36"
	}
	agents.Store(execPath, agent)
	return agent
}
