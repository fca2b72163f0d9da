package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"takeover/browser"
)

// release is the version of a release; make sets it.
var release = ""

// version returns the version of the release, or the commit that was built.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+"
		}
	}
	if commit == "" {
		return "dev"
	}
	return "dev-" + commit + dirty
}

// chromiumTime is how long Chromium may take to print its version.
const chromiumTime = 10 * time.Second

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(ctx context.Context, c *cli, std streams) error {
	found, path := chromiumVersion(ctx)
	if c.JSON {
		return json.NewEncoder(std.out).Encode(map[string]string{"version": version(), "go": runtime.Version(), "chromium": found, "chromiumPath": path})
	}
	if found == "" {
		found = "no Chromium found: install it, or name it with TAKEOVER_CHROMIUM"
	} else {
		found += " (" + path + ")"
	}
	_, err := fmt.Fprintf(std.out, "takeover %s %s\n%s\n", version(), runtime.Version(), found)
	return err
}

// chromiumVersion returns the version and the path of the Chromium that serve
// would start. Both are empty if there is none.
func chromiumVersion(ctx context.Context) (found, path string) {
	path = os.Getenv("TAKEOVER_CHROMIUM")
	if path == "" {
		var err error
		if path, err = browser.FindExecutable(); err != nil {
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

// versionFlag is --version. It does the same as the command.
type versionFlag bool

// BeforeReset prints the version and ends the program.
func (versionFlag) BeforeReset(ctx *kong.Context) error {
	err := versionCommand{}.Run(context.Background(), &cli{}, streams{out: ctx.Stdout, err: ctx.Stderr})
	ctx.Exit(exitOK)
	return err
}
