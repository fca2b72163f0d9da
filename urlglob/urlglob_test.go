package urlglob_test

import (
	"encoding/json"
	"os"
	"testing"

	"takeover/urlglob"
)

// TestGlobs tests the matcher with globs.json, which also tests scripts
// (scripting/globs_e2e_test.go).
func TestGlobs(t *testing.T) {
	data, err := os.ReadFile("globs.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Glob, Base, Error string
		Yes, No           []string // paths on http://a.test
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		p, err := urlglob.Compile(c.Glob, c.Base)
		if c.Error != "" {
			if err == nil || err.Error() != c.Error {
				t.Errorf("%s gave error %v, want %s", c.Glob, err, c.Error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Glob, err)
			continue
		}
		for _, path := range c.Yes {
			if !p.Match("http://a.test" + path) {
				t.Errorf("%s does not match %s", c.Glob, path)
			}
		}
		for _, path := range c.No {
			if p.Match("http://a.test" + path) {
				t.Errorf("%s matches %s", c.Glob, path)
			}
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`http{,s}://*.a.test:80/**/x\?{b,c}?d=[e]`, "http://a.test/dir/")
	f.Fuzz(func(t *testing.T, glob, base string) {
		p, err := urlglob.Compile(glob, base)
		if err == nil && !p.Match(glob) {
			t.Errorf("%q does not match itself", glob)
		}
	})
}
