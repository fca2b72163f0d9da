package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// TestClientExamples runs the programs in docs/clients.md against a server. Each asks
// for a person and prints where.
func TestClientExamples(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, "docs/clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	server := startProcess(t, t.TempDir())
	ran := map[string]bool{}
	for _, b := range guideBlocks(t, string(raw)) {
		if b.language == "sh" || b.language == "html" {
			continue // how to get the clients, and what e2e/component.spec.ts does
		}
		b.prints = []string{"/takeover/"}
		t.Run(fmt.Sprintf("line %d (%s)", b.line, b.language), func(t *testing.T) {
			switch b.language {
			case "go":
				b.run(t, server, t.TempDir(), "block.go", "go", "run", "-C", root)
			case "ts", "js":
				built := api.Build(api.BuildOptions{
					Stdin: &api.StdinOptions{Contents: b.code, Loader: api.LoaderTS}, Bundle: true,
					Alias:  map[string]string{"takeover-client": filepath.Join(root, "clients/typescript/client.ts")},
					Format: api.FormatESModule, Platform: api.PlatformNode, Target: api.ES2022,
				})
				if len(built.Errors) > 0 {
					t.Fatalf("%+v", built.Errors)
				}
				b.code = string(built.OutputFiles[0].Contents)
				b.run(t, server, t.TempDir(), "block.mjs", "node")
			default:
				t.Fatalf("no test runs blocks in %q", b.language)
			}
			ran[b.language] = true
		})
	}
	if !ran["go"] || !ran["ts"] {
		t.Errorf("ran %v", ran)
	}
}
