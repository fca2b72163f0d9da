package chromium

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoExecutable is returned by FindExecutable when the machine has no Chromium.
var ErrNoExecutable = errors.New("no Chromium found")

// executableNames are the names that distributions give to Chromium and its
// relatives, best first.
var executableNames = []string{
	"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome",
	"chromium-headless-shell", "chrome-headless-shell", "headless_shell", "microsoft-edge-stable", "brave-browser",
}

// executablePlaces are the paths where packages put the program that the wrapper
// script on PATH starts.
var executablePlaces = []string{
	"/usr/lib/chromium/chromium",                   // Debian, Alpine, Arch
	"/usr/lib/chromium-browser/chromium-browser",   // older Ubuntu
	"/usr/lib64/chromium-browser/chromium-browser", // Fedora
	"/opt/google/chrome/chrome",
}

// FindExecutable returns the path of the Chromium to start: the first of the
// usual names on PATH, or else one of the usual places. If it finds a wrapper
// script, it returns the program that the script starts, provided that this is in
// a usual place, because the script takes time and adds switches.
func FindExecutable() (string, error) {
	for _, name := range executableNames {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		return behindWrapper(path), nil
	}
	for _, path := range executablePlaces {
		if isExecutable(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: looked for %s on PATH", ErrNoExecutable, strings.Join(executableNames, ", "))
}

// behindWrapper returns the program that the wrapper script at path starts, or
// path itself when it is not a script or the program is unknown.
func behindWrapper(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err != nil || !isScript(target) {
		return path
	}
	if beside := filepath.Join(filepath.Dir(target), "chrome"); isExecutable(beside) {
		return beside
	}
	script, err := os.ReadFile(target)
	if err != nil {
		return path
	}
	for _, place := range executablePlaces {
		// The script names the folder. Debian's script builds it from /usr/lib
		// and its own name.
		family := filepath.Base(filepath.Dir(place))
		if (strings.Contains(string(script), filepath.Dir(place)) || family == filepath.Base(target)) && isExecutable(place) {
			return place
		}
	}
	return path
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [2]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && string(magic[:]) == "#!"
}
