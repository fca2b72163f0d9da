package automation

import (
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/cdp-commands.txt")

// commandName finds the names of CDP commands in the source of cdproto.
var commandName = regexp.MustCompile(`(?m)^\s*Command\w+\s*= "(\w+\.\w+)"`)

// TestCDPCommandsAreClassified compares what scripts may send with
// testdata/cdp-commands.txt, which lists every command. A
// command that a newer cdproto adds, or that a change opens, is not in the file.
// Think about what it reaches, then run the test with -update.
func TestCDPCommandsAreClassified(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/chromedp/cdproto").Output()
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for _, name := range sources {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range commandName.FindAllStringSubmatch(string(raw), -1) {
			table[m[1]] = "refused"
			if checkAllowed(m[1]) == nil {
				table[m[1]] = "allowed"
			}
		}
	}
	if len(table) < 600 || table["Runtime.evaluate"] != "allowed" || table["Browser.close"] != "refused" {
		t.Fatalf("read %d commands", len(table))
	}
	for name := range allowedCommands { // also those that Chromium understands and cdproto leaves out
		if _, method, _ := strings.Cut(name, "."); method != allCommands {
			table[name] = "allowed"
		}
	}
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(table)) {
		lines.WriteString(name + " " + table[name] + "\n")
	}
	const file = "testdata/cdp-commands.txt"
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		name, class, _ := strings.Cut(strings.TrimSpace(line), " ")
		listed[name] = class
	}
	for name, class := range table {
		if listed[name] != class {
			t.Errorf("%s is %s, and %q in %s", name, class, listed[name], file)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("%s is in %s, and not a command of the protocol", name, file)
	}
}
