package scripting

import (
	"embed"
	"io/fs"
	"sync"
)

//go:embed all:dist
var dist embed.FS

// Bundles returns the script API for a worker, as the npm step has built it:
// api.js, and the folders extras and locales. It is empty if that step was not
// run.
func Bundles() fs.FS {
	bundles, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is valid
	}
	return bundles
}

// built reports whether this binary contains the script API.
var built = sync.OnceValue(func() bool {
	_, err := fs.Stat(dist, "dist/api.js")
	return err == nil
})
