package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version of a release; make sets it.
var release = ""

// version is the release, or the commit that was built.
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
func (versionCommand) Run(c *cli, std streams) error {
	if c.JSON {
		return json.NewEncoder(std.out).Encode(map[string]string{"version": version(), "go": runtime.Version()})
	}
	_, err := fmt.Fprintln(std.out, "takeover", version(), runtime.Version())
	return err
}
