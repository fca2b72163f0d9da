//go:build dev

package static

import (
	"io/fs"
	"os"
)

// Files returns the built assets as one flat folder, which is read from disk
// below the working directory.
func Files() fs.FS { return os.DirFS("static/dist") }

func manifest() (*assets, error) { return readManifest(Files()) }
