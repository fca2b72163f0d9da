package source

import (
	"fmt"
	"strings"
)

// modules are the modules that scripts may import.
var modules = map[string]bool{"playwright": true, "playwright-core": true, "@playwright/test": true, "playwright/test": true}

// Advice on what to use instead of modules.
const (
	insteadOfFiles    = "for files, give setInputFiles(), saveAs() or path: the name of one of the session's files"
	insteadOfMachine  = "scripts have no machine to reach; pass values as args"
	insteadOfRequests = "fetch() and request are there already"
	insteadOfOthers   = "a script is one file: bring along what it needs"
)

// instead maps a module's name, without the prefix node: and anything after a
// slash, to the advice on what to use instead.
var instead = map[string]string{
	"fs":            insteadOfFiles,
	"path":          "the session's files have names and no folders; join texts with + or `${}`",
	"url":           "URL and URLSearchParams are there already",
	"querystring":   "URLSearchParams is there already",
	"buffer":        "Buffer is there already",
	"crypto":        "crypto.randomUUID() and crypto.getRandomValues() are there already",
	"timers":        "setTimeout() and its like are there already",
	"util":          "TextEncoder, TextDecoder and structuredClone() are there already",
	"events":        "EventTarget is there already",
	"perf_hooks":    "performance is there already",
	"console":       "console is there already",
	"assert":        "use expect()",
	"chai":          "use expect()",
	"http":          insteadOfRequests,
	"https":         insteadOfRequests,
	"axios":         insteadOfRequests,
	"node-fetch":    insteadOfRequests,
	"undici":        insteadOfRequests,
	"os":            insteadOfMachine,
	"process":       insteadOfMachine,
	"child_process": insteadOfMachine,
	"dotenv":        insteadOfMachine,
}

// CannotImport returns the error message for a refused module. where describes
// the position, or is empty if it is unknown.
func CannotImport(name, where string) string {
	base, _, _ := strings.Cut(strings.TrimPrefix(name, "node:"), "/")
	use, ok := instead[base]
	if !ok {
		use = insteadOfOthers
	}
	return fmt.Sprintf("cannot import %q%s: scripts may import playwright, playwright-core, playwright/test and @playwright/test only; %s", name, where, use)
}
