package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// hiddenFolders contain socket files of others, such as those of system services.
// Landlock does not hold back connections to them before version 9.
var hiddenFolders = []string{"/run", "/tmp", "/var", "/home", "/root", "/srv", "/mnt", "/media"}

// emptyFolder are the options of the file system that covers a hidden folder.
const emptyFolder = "mode=0755,size=64k,nr_inodes=1k"

// hideFiles covers the hidden folders and what is the server's own, except for what
// Chromium needs of them. lent are the mounts of what.Lent.
func hideFiles(what spec, lent []int) error {
	if len(lent) != len(what.Lent) {
		return fmt.Errorf("%d mounts came for %d paths", len(lent), len(what.Lent))
	}
	mounts := map[string]int{}
	for i, path := range what.Lent {
		mounts[path] = lent[i]
	}
	var needed []string
	for _, list := range [][]string{{what.Path}, what.Keep, what.Read, what.Write, readable} {
		for _, path := range list {
			needed = append(needed, path, resolved(path))
		}
	}
	slices.Sort(needed) // a folder comes before what is in it
	var covered []string
	var errs []error
	for _, path := range slices.Concat(hiddenFolders, what.Hide) {
		if isGone(path, covered, needed) {
			continue
		}
		if err := hide(path, needed, mounts); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
			continue // the others can be hidden all the same
		}
		covered = append(covered, path)
	}
	return joined(errs)
}

// isGone reports whether a folder that is covered already hides a path, and nothing
// that stays of that folder contains it.
func isGone(path string, covered, needed []string) bool {
	return slices.ContainsFunc(covered, func(folder string) bool {
		return isWithin(path, folder) && !slices.ContainsFunc(needed, func(stays string) bool { return isBelow(stays, folder) && isWithin(path, stays) })
	})
}

func hide(path string, needed []string, lent map[string]int) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil //nolint:nilerr // there is nothing to hide, or Chromium cannot reach it either
	case slices.Contains(needed, path):
		return errAllNeeded
	case info.IsDir():
		return hideFolder(path, needed, lent)
	case info.Mode().IsRegular():
		return hideFile(path)
	}
	return nil // it is hidden by the name that it links to
}

// errAllNeeded is returned when what shall be hidden is what Chromium must read.
var errAllNeeded = errors.New("it cannot be hidden, because all of it is needed")

// hideFile covers a file with an empty one that nobody may read.
func hideFile(path string) error {
	if err := unix.Mount("tmpfs", ownShm, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, emptyFolder); err != nil {
		return err
	}
	cover := filepath.Join(ownShm, "hidden")
	err := os.WriteFile(cover, nil, 0)
	fd := -1
	if err == nil {
		fd, err = unix.OpenTree(unix.AT_FDCWD, cover, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	}
	if err := errors.Join(err, unix.Unmount(ownShm, unix.MNT_DETACH)); err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// kept is a part of a hidden folder that stays.
type kept struct {
	path string
	fd   int // its mount
	dir  bool
	lent bool // by the server
}

// maxLent bounds the mounts that come with a message to the launcher.
const maxLent = 16

// lend returns the mounts of what Chromium reads in folders that its user may not
// search, such as the home folder of root. There are none where the server may not
// mount.
func lend(o Options) (paths []string, mounts []int) {
	if os.Geteuid() != 0 || o.UID == 0 {
		return nil, nil
	}
	for _, path := range append([]string{o.Path}, o.Read...) {
		path = resolved(path)
		if len(paths) == maxLent || slices.Contains(paths, path) || !slices.ContainsFunc(hiddenFolders, func(folder string) bool { return isBelow(path, folder) }) {
			continue
		}
		if fd, err := openTree(path); err == nil {
			// The files belong to others anyway, so it may fail.
			_ = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV})
			paths, mounts = append(paths, path), append(mounts, fd)
		}
	}
	return paths, mounts
}

func openTree(path string) (int, error) {
	return unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
}

func hideFolder(folder string, needed []string, lent map[string]int) (err error) {
	var keep []kept
	defer func() {
		for _, k := range keep {
			_ = unix.Close(k.fd)
		}
	}()
	for _, path := range needed {
		if !isBelow(path, folder) || slices.ContainsFunc(keep, func(k kept) bool { return k.path == path || k.dir && isBelow(path, k.path) }) {
			continue
		}
		k, err := keepMount(path, lent)
		switch {
		case err != nil:
			return fmt.Errorf("keep %s: %w", path, err)
		case k.path != "":
			keep = append(keep, k)
		}
	}
	if err := unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, emptyFolder); err != nil {
		return err
	}
	defer func() {
		if err != nil { // half of it would be worse than nothing
			err = errors.Join(err, unix.Unmount(folder, unix.MNT_DETACH))
		}
	}()
	for _, k := range keep {
		if err := k.restore(); err != nil && !k.lent { // without what is lent, Chromium reaches what its user may
			return fmt.Errorf("keep %s: %w", k.path, err)
		}
	}
	return unix.Mount("", folder, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// keepMount returns the mount of a path, or nothing if Chromium cannot reach it.
func keepMount(path string, lent map[string]int) (kept, error) {
	if fd, ok := lent[path]; ok {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return kept{}, err
		}
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		return kept{path: path, fd: own, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR, lent: true}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return kept{}, nil //nolint:nilerr // documented
	}
	fd, err := openTree(path)
	return kept{path: path, fd: fd, dir: info.IsDir()}, err
}

// restore puts what is kept back to its place.
func (k kept) restore() error {
	if err := os.MkdirAll(filepath.Dir(k.path), 0o755); err != nil { //nolint:gosec // an empty folder
		return err
	}
	var err error
	if k.dir {
		err = os.Mkdir(k.path, 0o755) //nolint:gosec // it is covered at once
	} else {
		err = os.WriteFile(k.path, nil, 0o600)
	}
	if err != nil {
		return err
	}
	return unix.MoveMount(k.fd, "", unix.AT_FDCWD, k.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

func isBelow(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/") && path != folder
}

func isWithin(path, folder string) bool { return path == folder || isBelow(path, folder) }
