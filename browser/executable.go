package browser

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoExecutable is FindExecutable's error when there is no Chromium.
var ErrNoExecutable = errors.New("no Chromium found")

// executableNames are the names that distributions give to Chromium and its
// relatives, best first.
var executableNames = []string{
	"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome",
	"chromium-headless-shell", "chrome-headless-shell", "headless_shell", "microsoft-edge-stable", "brave-browser",
}

// executablePlaces are where packages put the program that their wrapper script
// on PATH starts.
var executablePlaces = []string{
	"/usr/lib/chromium/chromium",                   // Debian, Alpine, Arch
	"/usr/lib/chromium-browser/chromium-browser",   // older Ubuntu
	"/usr/lib64/chromium-browser/chromium-browser", // Fedora
	"/opt/google/chrome/chrome",
}

// FindExecutable returns the path of the Chromium to start: the first of the
// usual names on PATH, else one of the usual places. A wrapper script is passed
// over for the program it starts, if that is where packages put it: the script
// costs start-up time and adds switches of its own.
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
// path itself when it is no script or the program is not known.
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
		// The script names the folder or, as Debian's does, makes it of /usr/lib
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
	f, err := os.Open(path) //nolint:gosec // a program found on PATH
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [2]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && string(magic[:]) == "#!"
}
