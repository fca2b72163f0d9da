package scripting

import (
	"embed"
	"sync"
)

//go:embed all:dist
var dist embed.FS

// apiSource is the bundled API; empty when the npm step was not run.
var apiSource = sync.OnceValue(func() string { return distFile("api.js") })

// extraSource is one of the bundles of globals that are loaded when first used.
func extraSource(name string) string { return distFile("extras/" + name + ".js") }

func distFile(name string) string {
	text, err := dist.ReadFile("dist/" + name)
	if err != nil {
		return ""
	}
	return string(text)
}
