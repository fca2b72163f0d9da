package static

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestReadManifestWithoutBuild(t *testing.T) {
	_, err := readManifest(fstest.MapFS{".keep": {}})
	if !errors.Is(err, ErrNotBuilt) {
		t.Fatalf("got %v, want ErrNotBuilt", err)
	}
}

func TestReadManifestBroken(t *testing.T) {
	_, err := readManifest(fstest.MapFS{manifestName: {Data: []byte("{")}})
	if err == nil || errors.Is(err, ErrNotBuilt) {
		t.Fatalf("got %v, want an error about the manifest itself", err)
	}
}

// TestAssets checks the built assets. In a tree without the npm step, it checks
// that all three functions report that.
func TestAssets(t *testing.T) {
	pages := []string{"takeover.css", "theme.js", "sessions.js", "session.js", "takeover.js", "locked.js", "login.js", "settings.js", "icon.svg", "icon-waiting.svg", Viewer}
	if !Built() {
		if !errors.Is(Check(), ErrNotBuilt) {
			t.Fatalf("Check: %v, want ErrNotBuilt", Check())
		}
		for _, name := range pages {
			if got := Asset(name); got != "" {
				t.Errorf("Asset(%q) = %q without a build", name, got)
			}
		}
		return
	}
	for _, name := range pages {
		path := Asset(name)
		file, ok := strings.CutPrefix(path, Prefix)
		if !ok {
			t.Errorf("Asset(%q) = %q, want a path under %s", name, path, Prefix)
			continue
		}
		if _, err := fs.Stat(Files(), file); err != nil {
			t.Errorf("Asset(%q): %v", name, err)
		}
	}
	for _, name := range []string{"session.js", "takeover.js", "locked.js"} {
		own, err := fs.ReadFile(Files(), strings.TrimPrefix(Asset(name), Prefix))
		if err != nil {
			t.Fatal(err)
		}
		named := Imports(name)
		for _, path := range named {
			if _, err := fs.Stat(Files(), strings.TrimPrefix(path, Prefix)); err != nil {
				t.Errorf("Imports(%q): %v", name, err)
			}
		}
		for _, imported := range regexp.MustCompile(`from"(/static/[^"]+)"`).FindAllStringSubmatch(string(own), -1) {
			if !slices.Contains(named, imported[1]) {
				t.Errorf("Imports(%q) = %q, without %s", name, named, imported[1])
			}
		}
		if len(named) == 0 || len(named) > 20 {
			t.Errorf("Imports(%q) = %q", name, named)
		}
	}
	if got := Asset(Viewer); got != Prefix+Viewer {
		t.Errorf("the web component is %q, which must not change", got)
	}
	if got := Asset("../manifest.json"); got != "" {
		t.Errorf("an unknown name gave %q", got)
	}
}
