package chromium

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxTempPath is the longest TMPDIR in which Chromium can create its socket
// org.chromium.Chromium.XXXXXX/SingletonSocket: sun_path in unix(7) has 108
// bytes, the last of them NUL.
const maxTempPath = 107 - len("/org.chromium.Chromium.XXXXXX/SingletonSocket")

// folder is the folder of one Chromium on disk. It contains the record of its
// process, which Chromium cannot change, and the folders that Chromium uses:
// profile, home, tmp.
type folder struct {
	dir  string
	uid  int    // the user under which Chromium runs
	temp string // its TMPDIR: dir/tmp, or elsewhere when that is too long
	seed []byte // the packed user data directory of a new profile, or nil
}

func mustDropRoot() bool { return os.Geteuid() == 0 }

// openFolder creates the folder at dir, or opens the existing one with its
// profile. With drop, the folder belongs to an unprivileged user, who must be
// able to reach it.
func openFolder(dir string, drop bool) (*folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, uid: os.Geteuid(), temp: filepath.Join(dir, tempName)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := f.writeRecord(record{Temp: f.temp}); err != nil {
		return nil, err
	}
	if len(f.temp) > maxTempPath {
		if f.temp, err = shortTemp(); err != nil {
			return nil, err
		}
		if err := f.writeRecord(record{Temp: f.temp}); err != nil {
			return nil, err
		}
	}
	if !drop {
		return f, nil
	}
	if err = errors.Join(makeReachable(f.dir), makeReachable(filepath.Dir(f.temp))); err == nil {
		err = f.chooseUser()
	}
	if err != nil {
		return nil, errors.Join(err, f.emptyTemp())
	}
	return f, nil
}

// reopen opens the folder for another start. The end of a Chromium may have
// removed its folder for temporary files.
func (f *folder) reopen() (*folder, error) { return openFolder(f.dir, f.uid != os.Geteuid()) }

// chooseUser gives the folder its former user, after ending that user's processes,
// or a new one.
func (f *folder) chooseUser() (err error) {
	if owner, ok := f.formerUser(); ok {
		f.uid = owner
		if err := users.claim(owner, f.dir); err != nil {
			return err
		}
		return endUser(owner)
	}
	f.uid, err = users.take(f.dir)
	return err
}

// formerUser returns the user of the Chromium that had this folder before.
func (f *folder) formerUser() (int, bool) {
	info, err := os.Lstat(f.profile())
	if err != nil {
		return 0, false
	}
	return ownerOf(info), isChromiumUser(ownerOf(info))
}

// shortTemp creates a folder in which the path of a folder for temporary files is
// short enough for Chromium's socket, and returns that path. The outer folder
// stays ours, because in a folder such as /tmp, the owner of a folder may replace
// it.
func shortTemp() (string, error) {
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		dir, err := os.MkdirTemp(parent, shortTempPrefix)
		if err != nil {
			return "", err
		}
		if temp := filepath.Join(dir, tempName); len(temp) <= maxTempPath {
			return temp, nil
		}
		if err := os.Remove(dir); err != nil {
			return "", err
		}
	}
	return "", errors.New("no folder for temporary files has a path that is short enough for Chromium")
}

// tempName is the name of the folder for temporary files, and shortTempPrefix
// begins the name of the folder around it when that is elsewhere.
const tempName, shortTempPrefix = "tmp", "takeover-"

func (f *folder) profile() string   { return filepath.Join(f.dir, "profile") }
func (f *folder) home() string      { return filepath.Join(f.dir, "home") }
func (f *folder) files() string     { return filepath.Join(f.dir, "files") }
func (f *folder) downloads() string { return filepath.Join(f.dir, "downloads") }
func (f *folder) ownedByRoot() bool { return f.uid == 0 }

// prepare creates what Chromium needs to start, and removes what a killed
// Chromium left: the lock with the id of its process, and its temporary files.
// Chromium's user must have no running process.
func (f *folder) prepare() error {
	if err := errors.Join(emptyDir(f.temp), emptyDir(f.downloads())); err != nil {
		return err
	}
	for _, dir := range []string{f.profile(), f.home(), f.temp, f.files(), f.downloads()} {
		if err := f.makeDir(dir); err != nil {
			return err
		}
	}
	for _, name := range []string{"SingletonLock", "SingletonCookie", "SingletonSocket"} {
		if err := os.Remove(filepath.Join(f.profile(), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// makeDir makes one of Chromium's folders and gives it to Chromium's user. What
// this user already has is neither read nor changed: it may contain links to
// anything. The folder around it is ours, so the folder itself is no link.
func (f *folder) makeDir(dir string) error {
	drop := f.uid != os.Geteuid()
	if info, err := os.Lstat(dir); err == nil && drop && ownerOf(info) == f.uid {
		return nil
	}
	_, err := os.Lstat(dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if dir == f.profile() {
		if f.seed != nil && isNew {
			if err := unpackUserData(f.seed, dir); err != nil {
				return err
			}
			f.seed = nil // it may be large
		}
		if err := writeFirstPreferences(dir); err != nil {
			return err
		}
		if err := keepNoTabs(dir); err != nil {
			return err
		}
	}
	if !drop {
		return nil
	}
	return giveTo(dir, f.uid)
}

// giveTo makes uid the owner of a tree. It follows no links. The top comes last:
// until then uid can reach nothing below it, and the owner of the top shows
// whether the whole tree was given.
func giveTo(root string, uid int) error {
	tree, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer tree.Close()
	var paths []string
	err = fs.WalkDir(tree.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Backward(paths) {
		if err := tree.Lchown(path, uid, uid); err != nil {
			return err
		}
	}
	return nil
}

func ownerOf(info fs.FileInfo) int {
	return int(info.Sys().(*syscall.Stat_t).Uid) //nolint:forcetypeassert // always so on Linux
}

// ErrUnreachable is returned when the server runs as root and the unprivileged
// user of its Chromium cannot reach the folder, for example because it is below
// /root.
var ErrUnreachable = errors.New("an unprivileged Chromium cannot reach this folder")

// makeReachable lets other users pass through dir, which must belong to us, and
// through our temporary folders above it. It changes no other folder.
func makeReachable(dir string) error {
	temp := filepath.Clean(os.TempDir()) + string(filepath.Separator)
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		perm := info.Mode().Perm()
		ours := ownerOf(info) == os.Geteuid()
		switch {
		case perm&0o001 != 0:
		case ours && (at == dir && at != filepath.Clean(os.TempDir()) || strings.HasPrefix(at, temp)):
			if err := os.Chmod(at, perm|0o011); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%w: %s: others may not search %s (chmod o+x)", ErrUnreachable, dir, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// environment returns Chromium's environment. The server's environment contains
// secrets, so only the variables named here are passed on. The proxies of the
// environment may have passwords; a guarded Chromium has another proxy.
func (f *folder) environment(guarded bool) []string {
	env := []string{
		"HOME=" + f.home(),
		"TMPDIR=" + f.temp,
		// Containers have no bus; this keeps Chromium from looking for one.
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/dev/null",
		"DBUS_SYSTEM_BUS_ADDRESS=unix:path=/dev/null",
	}
	names := []string{
		"PATH", "LANG", "LC_ALL", "LC_CTYPE", "LANGUAGE", "TZ", "LD_LIBRARY_PATH",
		"FONTCONFIG_PATH", "FONTCONFIG_FILE", "SSL_CERT_FILE", "SSL_CERT_DIR",
	}
	if !guarded {
		names = append(names, "http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")
	}
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// attributes makes Chromium start in a process group of its own, as its user. The
// kernel kills it when the server dies.
func (f *folder) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if f.uid != os.Geteuid() {
		attr.Credential = &syscall.Credential{Uid: uint32(f.uid), Gid: uint32(f.uid)}
	}
	return attr
}

// emptyTemp removes Chromium's temporary files after Chromium has ended.
func (f *folder) emptyTemp() error {
	if filepath.Dir(f.temp) == f.dir {
		return emptyDir(f.temp)
	}
	return os.RemoveAll(filepath.Dir(f.temp))
}

// remove removes the folder with its contents.
func (f *folder) remove() error {
	err := errors.Join(f.emptyTemp(), os.RemoveAll(f.dir))
	if err == nil {
		users.release(f.uid, f.dir)
	}
	return err
}

// emptyDir removes the contents of a folder. A folder that does not exist counts
// as empty.
func emptyDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var errs []error
	for _, e := range entries {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return errors.Join(errs...)
}
