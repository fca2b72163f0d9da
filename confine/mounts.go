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

// hideFolders covers the hidden folders, except for what Chromium needs of them.
func hideFolders(what spec) error {
	var needed []string
	for _, list := range [][]string{{what.Path, filepath.Dir(resolved(what.Path))}, what.Keep, what.Read, what.Write, readable} {
		for _, path := range list {
			needed = append(needed, path, resolved(path))
		}
	}
	slices.Sort(needed) // a folder comes before what is in it
	for _, folder := range hiddenFolders {
		if err := hideFolder(folder, needed); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	return nil
}

// kept is a part of a hidden folder that stays.
type kept struct {
	path string
	fd   int // its mount
	dir  bool
}

func hideFolder(folder string, needed []string) (err error) {
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return nil // there is nothing to hide, or it is hidden by the name that it links to
	}
	if slices.Contains(needed, folder) {
		return errors.New("all of it is needed")
	}
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
		info, err := os.Stat(path)
		if err != nil {
			continue // Chromium cannot reach it either
		}
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return fmt.Errorf("keep %s: %w", path, err)
		}
		keep = append(keep, kept{path: path, fd: fd, dir: info.IsDir()})
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
		if err := k.restore(); err != nil {
			return fmt.Errorf("keep %s: %w", k.path, err)
		}
	}
	return unix.Mount("", folder, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
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

func isBelow(path, folder string) bool { return strings.HasPrefix(path, folder+"/") }
