// Package confinetest runs tests as an ordinary user, and gives them folders that only root
// can make.
package confinetest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// User is the number of an ordinary user, which nothing else on the machine has.
const User = 61500

// placesVariable names the folders that root made for a test as an ordinary user.
const placesVariable = "TAKEOVER_TEST_PLACES"

// Places makes a folder below each of parents, for the user who runs the test, until the
// test ends. A parent "" is the folder of temporary files. Below others only root can make
// one: an ordinary user gets those that AsOrdinaryUser made, or none.
func Places(t *testing.T, parents ...string) []string {
	t.Helper()
	if given := os.Getenv(placesVariable); given != "" {
		return filepath.SplitList(given)
	}
	return placesFor(t, os.Geteuid(), parents)
}

func placesFor(t *testing.T, uid int, parents []string) (places []string) {
	t.Helper()
	for _, parent := range parents {
		if parent != "" && os.Geteuid() != 0 {
			t.Logf("not tried below %s, where only root can make a folder", parent)
			continue
		}
		place, err := os.MkdirTemp(parent, "takeover-test-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.RemoveAll(place); err != nil {
				t.Error(err)
			}
		})
		if err := errors.Join(os.Chmod(place, 0o755), os.Chown(place, uid, uid)); err != nil { //nolint:gosec // programs read in it, as in /opt
			t.Fatal(err)
		}
		places = append(places, place)
	}
	return places
}

// AsOrdinaryUser repeats tests of the binary without root's rights, with Places below
// parents. It skips the test if nobody is root, or if one of the tests is skipped.
func AsOrdinaryUser(t *testing.T, parents []string, tests ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("%s themselves run as an ordinary user", tests)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^("+strings.Join(tests, "|")+")$", "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: User, Gid: User}}
	cmd.Env = append(os.Environ(), "TMPDIR=/tmp", "HOME=/tmp", placesVariable+"="+strings.Join(placesFor(t, User, parents), string(filepath.ListSeparator)))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, name := range tests {
		if strings.Contains(string(out), "--- SKIP: "+name) {
			t.Skipf("%s", out)
		}
		if err == nil && !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%s did not run: %s", name, out)
		}
	}
}
