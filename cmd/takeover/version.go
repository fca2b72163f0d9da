package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
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

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(ctx context.Context, c *cli, std streams) error {
	fields := map[string]string{"version": version(), "go": runtime.Version()}
	text := fmt.Sprintf("takeover %s %s\n", version(), runtime.Version())
	if hasServer {
		found, path := chromiumVersion(ctx)
		fields["chromium"], fields["chromiumPath"] = found, path
		if found == "" {
			text += "no Chromium found: install it, or name it with TAKEOVER_CHROMIUM\n"
		} else {
			text += fmt.Sprintf("%s (%s)\n", found, path)
		}
	}
	if c.JSON {
		return json.NewEncoder(std.out).Encode(fields)
	}
	_, err := fmt.Fprint(std.out, text)
	return err
}

// versionFlag is --version. It does the same as the command.
type versionFlag bool

// BeforeReset prints the version and ends the program.
func (versionFlag) BeforeReset(ctx *kong.Context) error {
	err := versionCommand{}.Run(context.Background(), &cli{}, streams{out: ctx.Stdout, err: ctx.Stderr})
	ctx.Exit(exitOK)
	return err
}
