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
// name, the name with the hash of its content, and for each script those that it
// imports.
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

// Imports returns the URL paths of the scripts without which the one with the
// given plain name cannot begin. A page that names them has them fetched at once
// and not one after the other.
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

// assets is what manifestName holds.
type assets struct {
	Names   map[string]string   `json:"names"`
	Imports map[string][]string `json:"imports"`
}

var manifest = sync.OnceValues(func() (*assets, error) {
	return readManifest(Files())
})

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
