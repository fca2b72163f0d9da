package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock.
const (
	rightsOfFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	rightsToRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// readable are the files that Chromium needs besides its own, with reasons. What
// does not exist is left out.
var readable = []string{
	"/usr", "/lib", "/lib32", "/lib64", "/bin", "/opt", "/nix/store", // programs, libraries, fonts, certificates, time zones
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", // the loader
	"/etc/fonts", "/var/cache/fontconfig", // fontconfig
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates", // certificates
	"/etc/chromium", "/etc/opt/chrome", // an administrator's policies
	"/etc/localtime", "/etc/timezone", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/mime.types", "/etc/os-release", // libc, GLib
	"/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/gai.conf", // the resolver, where Chromium has the server's network
	"/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage", // counts of processors and memory
}

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
	for _, path := range append([]string{what.Path, filepath.Dir(resolved(what.Path))}, append(what.Read, readable...)...) {
		if err := rules.allow(path, rightsToRead); err != nil {
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
