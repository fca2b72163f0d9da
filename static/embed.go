// Package static holds the scripts, the stylesheet and the pictures of the web
// pages: their sources in src, and the built form, which npm leaves in dist and
// which is embedded here.
//
// Go compiles without the npm step. Built says whether it was run; without it
// Asset returns an empty string and the pages say plainly what is missing.
package static

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

// Prefix is the URL path under which Files has to be served.
const Prefix = "/static/"

// manifestName is the file in which the build records, for each asset's plain
// name, the name with the hash of its content.
const manifestName = "manifest.json"

// ErrNotBuilt means that the npm step has not been run before Go was compiled.
var ErrNotBuilt = errors.New("web assets are not built: run `make generate`")

//go:embed all:dist
var embedded embed.FS

// Files returns the built assets, one flat folder. Every name but the
// manifest's carries a hash of the content, so answers may be cached for ever.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "dist")
	if err != nil { // the folder is part of the source tree
		panic(err)
	}
	return files
}

// Built reports whether the assets are there.
func Built() bool { return Check() == nil }

// Check returns nil when the assets are there, ErrNotBuilt when the npm step
// was not run, and another error when its outcome cannot be read.
func Check() error {
	_, err := manifest()
	return err
}

// Asset returns the URL path of an asset by its plain name, for example
// "session.js" or "takeover.css". It is empty when there is no such asset or
// when nothing was built.
func Asset(name string) string {
	names, err := manifest()
	if err != nil {
		return ""
	}
	hashed, ok := names[name]
	if !ok {
		return ""
	}
	return Prefix + hashed
}

var manifest = sync.OnceValues(func() (map[string]string, error) {
	return readManifest(Files())
})

func readManifest(files fs.FS) (map[string]string, error) {
	data, err := fs.ReadFile(files, manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotBuilt
	}
	if err != nil {
		return nil, fmt.Errorf("read asset manifest: %w", err)
	}
	var names map[string]string
	if err := json.Unmarshal(data, &names); err != nil {
		return nil, fmt.Errorf("read asset manifest: %w", err)
	}
	return names, nil
}
