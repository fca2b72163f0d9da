package browsertest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// leftProcesses reports processes that were started with a folder below root.
// Each process of a Chromium has it in its environment or command line.
func leftProcesses(root string) error {
	var errs []error
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	for _, dir := range procs {
		if dir == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // empty if it has ended meanwhile
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if bytes.Contains(cmdline, []byte(root)) || bytes.Contains(environ, []byte("TMPDIR="+root)) {
			errs = append(errs, fmt.Errorf("left over: process %s: %s", filepath.Base(dir), strings.ReplaceAll(string(cmdline), "\x00", " ")))
		}
	}
	return errors.Join(errs...)
}

// leftFiles reports the content of root, two levels deep.
func leftFiles(root string) error {
	var errs []error
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		errs = append(errs, fmt.Errorf("left over: %s", path))
		if d.IsDir() && filepath.Dir(path) != root {
			return fs.SkipDir
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}
