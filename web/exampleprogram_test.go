package web

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"takeover/browser/browsertest"
	"takeover/session"
)

// TestExampleProgram runs the program of examples/programs, whose person is this test.
func TestExampleProgram(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "sign-in.mjs")
	modules, err := filepath.Abs("../node_modules")
	if err != nil {
		t.Fatal(err)
	}
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{"../examples/programs/sign-in.ts"}, Outfile: bundle, Write: true, Bundle: true,
		Format: api.FormatESModule, Platform: api.PlatformNode, Target: api.ES2022,
		Alias: map[string]string{"playwright-core": filepath.Join(modules, "playwright-core", "index.mjs")}, External: []string{filepath.Join(modules, "playwright-core", "*")},
	})
	if len(built.Errors) > 0 {
		t.Fatalf("%+v", built.Errors)
	}
	s := startServer(t, nil)
	cmd := exec.CommandContext(browsertest.Context(t, "the program"), "node", bundle)
	cmd.Env = append(os.Environ(), "TAKEOVER_URL="+s.base, "TAKEOVER_API_KEY="+testKey)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`/takeover/([^#]+)#`)
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		if m := link.FindStringSubmatch(lines.Text()); m != nil {
			one := s.manager.List()[0]
			asked, err := one.Takeover(m[1])
			if err != nil {
				t.Fatal(err)
			}
			if err := asked.Done("somebody", "The code was in the mail."); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	want := []string{"The person is finished (done). The code was in the mail.", "The page is now: Sign in · Demo"}
	if len(said) != 3 || strings.Join(said[1:], "\n") != strings.Join(want, "\n") {
		t.Errorf("the program says %q", said)
	}
	if got := s.manager.List()[0].Status(); got != session.StatusReleased {
		t.Errorf("its session is %s", got)
	}
}
