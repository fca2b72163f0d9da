//go:build !dev

package static

import (
	"embed"
	"io/fs"
	"sync"
)

//go:embed all:dist
var embedded embed.FS

// Files returns the built assets as one flat folder. Every name except Viewer and
// the manifest's contains a hash of the content, so responses may be cached for ever.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "dist")
	if err != nil { // the folder is part of the source tree
		panic(err)
	}
	return files
}

var manifest = sync.OnceValues(func() (*assets, error) {
	return readManifest(Files())
})
