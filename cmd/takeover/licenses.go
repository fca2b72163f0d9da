package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
)

type licensesCommand struct{}

// Run prints the licences of the program and of the parts that it contains.
func (licensesCommand) Run(std streams) error {
	notices := pageNotices()
	if hasServer && notices == "" {
		return errors.New("this program was built without the page scripts, so their licences are missing: build it with make")
	}
	var b strings.Builder
	if hasServer {
		b.WriteString("Takeover is under the Apache License, Version 2.0, whose text follows.\n\n")
	} else {
		b.WriteString("Takeover is under the Apache License, Version 2.0: https://www.apache.org/licenses/LICENSE-2.0\n\n")
	}
	b.WriteString("It contains these Go modules, each under the licence that is shown there:\n\n")
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			fmt.Fprintf(&b, "  %s %s\n    https://pkg.go.dev/%s@%s?tab=licenses\n", m.Path, m.Version, m.Path, m.Version)
		}
	}
	if hasServer {
		b.WriteString("\nScripts that it puts into pages are taken from Playwright and from the npm package yaml:\n\n")
		b.WriteString(notices)
		b.WriteString("\nIts description of the DevTools protocol is Chromium's, under Chromium's licence: https://chromium.googlesource.com/chromium/src/+/HEAD/LICENSE\n")
	}
	_, err := fmt.Fprint(std.out, b.String())
	return err
}
