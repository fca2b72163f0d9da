package scripting

import (
	"embed"
	"sync"
)

//go:embed all:dist
var dist embed.FS

// apiSource is the bundled API; empty when the npm step was not run.
var apiSource = sync.OnceValue(func() string { return distFile("api.js") })

// extraSource is the bundle of the globals that are loaded when first used.
var extraSource = sync.OnceValue(func() string { return distFile("extras.js") })

func distFile(name string) string {
	text, err := dist.ReadFile("dist/" + name)
	if err != nil {
		return ""
	}
	return string(text)
}
