package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"takeover/confine/confinetest"
)

// probeCommand makes the test binary stand in Chromium's place and look at files.
const probeCommand = "probe"

// quickEnd keeps the race detector from waiting for a second before a program ends.
const quickEnd = "GORACE=atexit_sleep_ms=0"

func launcherOf(program string) []string { return []string{"/usr/bin/env", quickEnd, program, Command} }

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == Command:
		Main()
	case len(os.Args) > 2 && os.Args[1] == probeCommand:
		probe(os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

// probe says on descriptor 4 what it can read: the text of a file, or the names in a
// folder.
func probe(paths []string) {
	seen := map[string]string{}
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			seen[path] = string(text)
		} else if entries, err := os.ReadDir(path); err == nil {
			seen[path] = fmt.Sprint(entries)
		}
	}
	if err := json.NewEncoder(os.NewFile(4, "answer")).Encode(seen); err != nil {
		panic(err)
	}
}

// readTexts is what a confined probe reads.
func readTexts(t *testing.T, o Options, paths []string) (map[string]string, Report) {
	t.Helper()
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ourOut.Close()
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ourIn.Close()
	o.Pipes, o.Stderr = [2]*os.File{theirIn, theirOut}, os.Stderr
	runtime.LockOSThread() // the launcher ends with it
	defer runtime.UnlockOSThread()
	launcher, err := Start(o)
	if err := errors.Join(err, theirIn.Close(), theirOut.Close()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(launcher.Cmd.Wait(), launcher.End()); err != nil {
			t.Error(err)
		}
	}()
	if err := launcher.Run(append([]string{probeCommand}, paths...)); err != nil {
		t.Fatal(err)
	}
	var seen map[string]string
	if err := json.NewDecoder(ourIn).Decode(&seen); err != nil {
		t.Fatal(err)
	}
	return seen, launcher.Report
}

// systemPlaces are folders from which Chromium reads.
var systemPlaces = []string{"/opt", "/usr/local"}

// TestHidden keeps the server's files where Chromium reads its libraries, and looks for
// them from the confinement: with all measures, and with only one of the two that hide them.
func TestHidden(t *testing.T) {
	uid := os.Geteuid()
	if uid == 0 {
		uid = 61501
	}
	program := filepath.Join(t.TempDir(), "chromium")
	copyProgram(t, program)
	places := confinetest.Places(t, systemPlaces...)
	if len(places) == 0 {
		t.Skip("only root can make folders below /opt and /usr")
	}
	for _, place := range places {
		in := func(name string) string { return filepath.Join(place, name) }
		own := in("data/chromium/own")
		secret := []string{in("data/link-key"), in("data/chromium/other/Cookies"), in("keys/api-key")}
		public := []string{in("keys/readme"), filepath.Join(own, "file")}
		for _, file := range slices.Concat(secret, public) {
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("the text"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.Symlink("data", in("link")), os.Symlink("keys/api-key", in("link-to-key"))); err != nil {
			t.Fatal(err)
		}
		secret = append(secret, in("link/link-key"), in("link-to-key"))
		for _, trial := range []struct {
			name    string
			without []string
			by      []string // what must be in force
		}{
			{"all measures", nil, []string{Hidden, Files}},
			{"mounts alone", []string{Files}, []string{Hidden}},
			{"Landlock alone", []string{Mounts}, []string{Files}},
			{"nothing", []string{Mounts, Files}, nil},
		} {
			seen, report := readTexts(t, Options{
				Launcher: launcherOf(program), Path: program, Env: []string{quickEnd}, UID: uid, Without: trial.without,
				Read: []string{filepath.Dir(place)}, Write: []string{own}, Keep: []string{own},
				Hide: []string{in("link"), in("link-to-key"), in("none"), "/dev/null"},
			}, slices.Concat(secret, public, []string{in("data")}))
			for _, measure := range trial.by {
				if !report.On(measure) {
					t.Skip(report.Refused())
				}
			}
			for _, file := range secret {
				if got := seen[file]; (got != "") != (trial.by == nil) {
					t.Errorf("%s: %s is %q", trial.name, file, got)
				}
			}
			if got := seen[in("data")]; strings.Contains(got, "link-key") != (trial.by == nil) {
				t.Errorf("%s: the data folder has %s", trial.name, got)
			}
			for _, file := range public {
				if seen[file] != "the text" {
					t.Errorf("%s: %s cannot be read", trial.name, file)
				}
			}
		}
	}
}

// TestHiddenAsOrdinaryUser repeats TestHidden as a server that has the same user as its
// Chromiums.
func TestHiddenAsOrdinaryUser(t *testing.T) {
	confinetest.AsOrdinaryUser(t, systemPlaces, "TestHidden")
}

// TestLent reads a folder in root's home folder, which the confined user may not
// search.
func TestLent(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has files that another user may not reach")
	}
	home, err := os.MkdirTemp("/root", "takeover-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	lent, other := filepath.Join(home, "lent"), filepath.Join(home, "other")
	for _, folder := range []string{lent, other} {
		if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(filepath.Join(folder, "text"), []byte("text"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{filepath.Join(lent, "text"), filepath.Join(other, "text")}
	seen, report := readTexts(t, Options{Path: os.Args[0], UID: 61500, Read: []string{lent}}, paths)
	if !report.On(Hidden) {
		t.Skipf("this machine cannot hide folders: %s", report.Refused())
	}
	if want := map[string]string{paths[0]: "text"}; !maps.Equal(seen, want) {
		t.Errorf("it can read %v, want %v", seen, want)
	}
}

// TestHiddenIsNeeded hides a folder that the program needs, which no measure can.
func TestHiddenIsNeeded(t *testing.T) {
	program := filepath.Join(t.TempDir(), "chromium")
	copyProgram(t, program)
	library := t.TempDir()
	uid := os.Geteuid()
	if uid == 0 {
		uid = 61501
	}
	_, report := readTexts(t, Options{
		Launcher: launcherOf(program), Path: program, Env: []string{quickEnd}, UID: uid, Read: []string{library}, Hide: []string{library},
	}, []string{library})
	for _, measure := range []string{Hidden, Files} {
		if report.On(measure) || !strings.Contains(report.Refused(), library) {
			t.Errorf("%s: nothing is said: %q", measure, report.Refused())
		}
	}
}

// copyProgram puts the test binary where every user reaches it.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, program, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(to); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEndsBeforeTheServer checks that the kernel of a machine without memory ends what is
// confined before the server.
func TestEndsBeforeTheServer(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	copyProgram(t, program)
	const score = "/proc/self/oom_score_adj"
	seen, _ := readTexts(t, Options{Launcher: launcherOf(program), Path: program, Env: []string{quickEnd}, UID: os.Geteuid()}, []string{score})
	if got := strings.TrimSpace(seen[score]); got != memoryScore {
		t.Errorf("the score is %q, want %s", got, memoryScore)
	}
}
