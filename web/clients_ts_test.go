package web

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"takeover/browser/browsertest"
)

// TestTypeScriptClient runs a program in Node that uses the generated client. esbuild
// bundles it, because not every Node reads TypeScript.
func TestTypeScriptClient(t *testing.T) {
	program := filepath.Join(t.TempDir(), "client.mjs")
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{"testdata/clients/client.ts"}, Outfile: program, Write: true, Bundle: true,
		Format: api.FormatESModule, Platform: api.PlatformNode, Target: api.ES2022, Sourcemap: api.SourceMapInline,
	})
	if len(built.Errors) > 0 {
		t.Fatalf("%+v", built.Errors)
	}
	packages, err := filepath.Abs("client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t, nil)
	out, err := exec.CommandContext(browsertest.Context(t, "the client"), "node", "--enable-source-maps", program, s.base, testKey, packages).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
