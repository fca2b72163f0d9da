// Package static holds the scripts, the stylesheet and the pictures of the web
// pages: their sources in src, and the built form, which npm writes to dist and
// which is embedded here. With the build tag dev they are read from disk each
// time, so that `make dev` need not build the program again.
//
// Go compiles without the npm step. Built reports whether it was run. Without it,
// Asset returns an empty string, and the pages say what is missing.
package static

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Prefix is the URL path under which Files must be served.
const Prefix = "/static/"

// Viewer is the file with the web component <takeover-viewer>. Pages of other sites
// load it, so its name contains no hash.
const Viewer = "takeover-viewer.js"

// manifestName is the file in which the build records the hashed name of each
// asset, and the imports of each script.
const manifestName = "manifest.json"

// ErrNotBuilt means that the npm step was not run before Go was compiled.
var ErrNotBuilt = errors.New("web assets are not built: run `make generate`")

// Built reports whether the assets exist.
func Built() bool { return Check() == nil }

// Check returns nil when the assets exist, ErrNotBuilt when the npm step was not
// run, and another error when the assets cannot be read.
func Check() error {
	_, err := manifest()
	return err
}

// Asset returns the URL path of an asset by its plain name, for example
// "session.js" or "takeover.css". It is empty when the asset does not exist or
// nothing was built.
func Asset(name string) string {
	m, err := manifest()
	if err != nil {
		return ""
	}
	hashed, ok := m.Names[name]
	if !ok {
		return ""
	}
	return Prefix + hashed
}

// Imports returns the URL paths of the scripts that the script with the given
// plain name imports. If a page lists them, the browser can fetch all of them at
// once.
func Imports(name string) []string {
	m, err := manifest()
	if err != nil {
		return nil
	}
	var paths []string
	for _, hashed := range m.Imports[name] {
		paths = append(paths, Prefix+hashed)
	}
	return paths
}

// assets is the content of manifestName.
type assets struct {
	Names   map[string]string   `json:"names"`
	Imports map[string][]string `json:"imports"`
}

func readManifest(files fs.FS) (*assets, error) {
	data, err := fs.ReadFile(files, manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotBuilt
	}
	if err != nil {
		return nil, fmt.Errorf("read asset manifest: %w", err)
	}
	m := &assets{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("read asset manifest: %w", err)
	}
	return m, nil
}
