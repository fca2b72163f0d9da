package takeover_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommitMessages runs the hook that checks the subjects of commits.
func TestCommitMessages(t *testing.T) {
	for message, complaint := range map[string]string{
		"input: release every key on blur":                       "",
		"cdp, web/views: rewrite the comments":                   "",
		"lint: pin golangci-lint\n\nIt has a module of its own.": "",
		"docs: pass the key by the environment":                  "",
		"Merge branch 'main'":                                    "",
		"Revert \"input: release every key on blur\"":            "",
		"fixup! input: release every key on blur":                "",
		"# a comment\ninput: release every key on blur":          "",
		"":                                           "no subject",
		"release every key on blur":                  "does not begin with",
		"input:release every key":                    "does not begin with",
		"keyboards: release every key on blur":       `no package or folder "keyboards"`,
		"input, keyboards: release every key":        `no package or folder "keyboards"`,
		"input: release every key on blur.":          "full stop",
		"input: the keys are released":               `"the" begins a description`,
		"input: what was pressed is released":        `"what" begins a description`,
		"input: Release every key":                   "capital letter",
		"input: released every key":                  "not an imperative",
		"input: releases every key":                  "not an imperative",
		"input: releasing every key":                 "not an imperative",
		"input: release every key\nand every button": "not empty",
		"input: release every key" + strings.Repeat(" and every button", 6): "characters",
	} {
		file := filepath.Join(t.TempDir(), "message")
		if err := os.WriteFile(file, []byte(message+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), ".githooks/commit-msg", file).CombinedOutput()
		switch {
		case complaint == "" && err != nil:
			t.Errorf("%q was refused: %s", message, out)
		case complaint != "" && err == nil:
			t.Errorf("%q was accepted", message)
		case !strings.Contains(string(out), complaint):
			t.Errorf("the complaint about %q does not say %q: %s", message, complaint, out)
		}
	}
}
