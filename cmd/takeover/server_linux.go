package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"takeover/automation"
	"takeover/chromium"
	"takeover/confine"
	"takeover/scripting"
	"takeover/scripting/worker"
)

// hasServer says whether the program contains the server.
const hasServer = true

// startServer is the advice when no server answers.
const startServer = "Start one with takeover serve"

// serverCommands are the commands of the server, and of the processes that it
// starts.
type serverCommands struct {
	Serve  serveCommand  `cmd:"" help:"Run the server."`
	Doctor doctorCommand `cmd:"" help:"Check that this machine has what the server needs, and say how to fix what is missing."`

	ScriptWorker     struct{} `cmd:"" hidden:"" help:"The worker process that the server starts for each run."`
	ChromiumLauncher struct{} `cmd:"" hidden:"" help:"The process that confines a Chromium and starts it."`
}

// workerCommand is the hidden subcommand that runs a script; the server starts
// one for each run.
const workerCommand = "script-worker"

// launcher is the command that confines a Chromium and starts it. This path also
// works where Chromium's user may not search the program's folder.
var launcher = []string{"/proc/self/exe", confine.Command}

// runAsChild does the work of a process that the server starts, and ends it. In
// any other process, it returns.
func runAsChild(args []string) {
	if len(args) != 1 {
		return
	}
	switch args[0] {
	case confine.Command:
		confine.Main() // does not return
	case workerCommand:
		worker.Main(scripting.Bundles()) // does not return
	}
}

// chromiumTime is how long Chromium may take to print its version.
const chromiumTime = 10 * time.Second

// chromiumVersion returns the version and the path of the Chromium that serve
// would start. Both are empty if there is none.
func chromiumVersion(ctx context.Context) (found, path string) {
	path = os.Getenv("TAKEOVER_CHROMIUM")
	if path == "" {
		var err error
		if path, err = chromium.FindExecutable(); err != nil {
			return "", ""
		}
	}
	ctx, cancel := context.WithTimeout(ctx, chromiumTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output() //nolint:gosec // the operator's own choice of Chromium
	if err != nil {
		return "", ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(printable(line)), path
}

// pageNotices returns the licences of the scripts that the server puts into pages,
// and of the program itself.
func pageNotices() string { return automation.Notices() }
