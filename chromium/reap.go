package chromium

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"takeover/confine"
)

// reapTimeout bounds the wait for the end of a killed process.
const reapTimeout = 5 * time.Second

// Reap cleans up after a killed server: it kills the Chromiums that still run
// below root and removes their folders. It kills the recorded process if pid and
// start time match, the members of that process's group that use the same profile,
// and its crash handlers. If the server runs as root, it also kills all processes
// of the folder's user, unless another Chromium has this user now. It does not
// touch folders of a running server, or folders without our record. A root that
// does not exist counts as clean. It also removes the control groups of killed
// servers.
func Reap(root string) error {
	var errs []error
	for _, place := range placesOf(root) {
		entries, err := os.ReadDir(place)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			if err := reapFolder(filepath.Join(place, e.Name())); err != nil {
				errs = append(errs, fmt.Errorf("reap %s: %w", e.Name(), err))
			}
		}
	}
	if err := confine.Reap(); err != nil { // after their processes
		errs = append(errs, fmt.Errorf("reap control groups: %w", err))
	}
	return errors.Join(errs...)
}

func reapFolder(dir string) error {
	r, err := readRecord(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.Server.alive() {
		return nil
	}
	f := &folder{dir: dir, temp: r.Temp}
	if err := f.killLeft(r.Chromium); err != nil {
		return err
	}
	if err := f.endFormerUser(); err != nil {
		return err
	}
	if !f.tempIsOurs() {
		f.temp = filepath.Join(dir, tempName)
	}
	return f.remove()
}

// endFormerUser kills all processes of the user that had the folder, unless
// another Chromium has this user now.
func (f *folder) endFormerUser() error {
	owner, ok := f.formerUser()
	if !ok || !mustDropRoot() {
		return nil
	}
	err := users.claim(owner, f.dir)
	if errors.Is(err, errUserTaken) {
		return nil
	}
	f.uid = owner // remove releases it
	return errors.Join(err, endUser(owner))
}

// tempIsOurs reports whether the recorded folder for temporary files can be one
// that openFolder created.
func (f *folder) tempIsOurs() bool {
	return f.temp == filepath.Join(f.dir, tempName) ||
		filepath.Base(f.temp) == tempName && strings.HasPrefix(filepath.Base(filepath.Dir(f.temp)), shortTempPrefix)
}

// killLeft kills the recorded Chromium's crash handlers and the processes of its
// group that have this folder's profile. The kernel does not reuse a group's id
// while the group has members.
func (f *folder) killLeft(chromium identity) error {
	if chromium.PID == 0 {
		return nil
	}
	if boot, err := identify(os.Getpid()); err != nil || boot.Boot != chromium.Boot {
		return err // no process survives a reboot
	}
	var errs []error
	for _, pid := range allProcesses() {
		if f.isMember(pid, chromium) {
			errs = append(errs, killProcess(pid, time.Now().Add(reapTimeout), func() bool { return f.isMember(pid, chromium) }))
		}
	}
	return errors.Join(errs...)
}

// isMember reports whether pid is the recorded Chromium or a part of it.
func (f *folder) isMember(pid int, chromium identity) bool {
	stat, err := readStat(pid)
	switch {
	case err != nil || stat.state == 'Z' || stat.startTime < chromium.StartTime:
		return false
	case pid == chromium.PID:
		return stat.startTime == chromium.StartTime
	case stat.group == chromium.PID:
		return bytes.Contains(readCommand(pid), []byte(" --user-data-dir="+f.profile()+" "))
	}
	return strings.HasPrefix(stat.name, crashHandler) && f.hasCrashHandler(pid)
}
