package session

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExamples runs the scripts of examples/ that need no person.
func TestExamples(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t) + "/a"})
	for _, name := range []string{"title.ts", "library.ts"} {
		code, err := os.ReadFile(filepath.Join("..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		r := startRun(t, s, string(code))
		if info := endOf(t, r); info.Status != RunSucceeded {
			t.Errorf("%s: %s: %+v", name, info.Status, info.Error)
		}
	}
}
