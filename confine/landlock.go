package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock.
const (
	rightsOfFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	rightsToRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// readable are the files that every program needs besides its own, with reasons.
// What does not exist is left out.
var readable = []string{
	"/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64", "/nix/store", // libraries
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", // the loader
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/usr/share/pki", // certificates
	"/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo", // the time zone
	"/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/os-release", // libc, GLib
	"/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/gai.conf", // the resolver, where Chromium has the server's network
	"/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage", // counts of processors and memory
}

// maxParts bounds how many entries of folders are looked at, for a folder that must
// be allowed in parts. /usr/bin may have some thousands.
const maxParts = 20_000

// writable are the devices and folders of the kernel that Chromium writes to.
var writable = []string{
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
	"/dev/shm", // pictures between its processes
	"/proc",    // its sandbox writes the maps of its own user namespaces
}

// restrictFiles lets this thread, and what it starts, reach the files that what
// and the lists above name, and no others; and keeps it from signalling processes
// outside and from abstract sockets of others.
func restrictFiles(what spec) error {
	version, err := landlockVersion()
	if err != nil {
		return err
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1} // all rights of version 1
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if version >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER // rename between folders
	}
	if version >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	rules, err := newRuleset(&attr, size)
	if err != nil {
		return err
	}
	defer unix.Close(rules.fd)
	var needed []string // of what shall be hidden
	for _, path := range slices.Concat([]string{what.Path}, what.Read, readable) {
		if slices.Contains(what.Hide, resolved(path)) {
			needed = append(needed, path)
			err = rules.allow(path, rightsToRead) // it would not start otherwise
		} else {
			err = rules.allowExcept(resolved(path), what.Hide)
		}
		if err != nil {
			return err
		}
	}
	for _, path := range append(what.Write, writable...) {
		if err := rules.allow(path, rules.handled&^unix.LANDLOCK_ACCESS_FS_EXECUTE); err != nil {
			return err
		}
	}
	// Chromium starts itself again by this name.
	if err := rules.allow("/proc", rules.handled); err != nil {
		return err
	}
	if err := rules.apply(); err != nil {
		return err
	}
	if len(needed) > 0 { // which counts as none: it is there to protect these files
		return fmt.Errorf("%s: %w", strings.Join(needed, ", "), errAllNeeded)
	}
	if version < 6 {
		return &partly{fmt.Sprintf("the kernel's is version %d: it cannot hold back signals and abstract sockets", version)}
	}
	return nil
}

// restrictConnections lets this thread, and what it starts, connect by TCP to one
// port only, and listen on none.
func restrictConnections(port int) error {
	version, err := landlockVersion()
	if err != nil {
		return err
	}
	if version < 4 {
		return fmt.Errorf("the kernel's Landlock is version %d: it cannot hold back connections", version)
	}
	attr := unix.LandlockRulesetAttr{Handled_access_net: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP}
	rules, err := newRuleset(&attr, unsafe.Offsetof(attr.Handled_access_net)+unsafe.Sizeof(attr.Handled_access_net))
	if err != nil {
		return err
	}
	defer unix.Close(rules.fd)
	rule := struct{ access, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
	if _, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules.fd), ruleNetPort, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("rule for port %d: %w", port, errno)
	}
	return rules.apply()
}

// ruleNetPort is LANDLOCK_RULE_NET_PORT of linux/landlock.h.
const ruleNetPort = 2

func landlockVersion() (int, error) {
	version, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("the kernel has none: %w", errno)
	}
	return int(version), nil
}

func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

type ruleset struct {
	fd      int
	handled uint64 // rights on files
	parts   int    // entries that allowExcept has looked at
}

func newRuleset(attr *unix.LandlockRulesetAttr, size uintptr) (ruleset, error) {
	fd, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)), size, 0)
	if errno != 0 {
		return ruleset{}, fmt.Errorf("make rules: %w", errno)
	}
	return ruleset{fd: int(fd), handled: attr.Handled_access_fs}, nil
}

// apply applies the rules to this thread, and to what it starts.
func (r ruleset) apply() error {
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("apply rules: %w", errno)
	}
	return nil
}

// allowExcept allows to read a file or folder, given by its real path, but not what is
// hidden below it. A rule holds for all of a folder and none can take back a part, so
// a folder with something hidden is allowed entry by entry, and cannot be listed.
func (r *ruleset) allowExcept(path string, hidden []string) error {
	if !slices.ContainsFunc(hidden, func(h string) bool { return isBelow(h, path) }) {
		return r.allow(path, rightsToRead)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil //nolint:nilerr // Chromium cannot read it either, or it does not exist
	}
	if r.parts += len(entries); r.parts > maxParts {
		return fmt.Errorf("%s has too many entries to allow all but the server's own files", path)
	}
	for _, entry := range entries {
		part := filepath.Join(path, entry.Name())
		if entry.Type()&os.ModeSymlink != 0 || slices.Contains(hidden, part) {
			continue // what a link leads to is allowed by its real path, or not at all
		}
		if err := r.allowExcept(part, hidden); err != nil {
			return err
		}
	}
	return nil
}

// allow allows rights on a file, or on a folder and everything below it.
func (r ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
		return nil // Chromium cannot reach it either
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rights &= r.handled
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= rightsOfFiles
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("rule for %s: %w", path, errno)
	}
	return nil
}
