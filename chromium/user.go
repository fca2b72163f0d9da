package chromium

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// firstUID and lastUID are the range of user ids for Chromiums when the
	// server runs as root. Each Chromium has its own id, so that none can read
	// another's profile. systemd leaves this range unused
	// (https://systemd.io/UIDS-GIDS/), and it lies within the 16 bits that
	// containers usually map.
	firstUID, lastUID = 60578, 61183

	// userLocks is the file in which each server locks one byte for each user id
	// that it has given to a Chromium, so that two servers never use the same one.
	userLocks = "takeover-users.lock"
)

// errNoUser is returned when no user id is left for a Chromium.
var errNoUser = errors.New("all user ids for Chromiums are in use")

func isChromiumUser(uid int) bool { return uid >= firstUID && uid <= lastUID }

// users are the user ids that this server has given to Chromiums.
var users = userTable{given: map[int]string{}}

type userTable struct {
	mu    sync.Mutex // guards what follows
	next  int
	given map[int]string // user id → folder
	locks *os.File
}

// take gives a folder a user id that nobody uses: no other folder, no other
// server, and no process.
func (t *userTable) take(dir string) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	busy, err := usersWithProcesses()
	if err != nil {
		return 0, err
	}
	const count = lastUID - firstUID + 1
	for range count {
		t.next++
		uid := firstUID + (os.Getpid()+t.next)%count // each server begins at another id
		if busy[uid] {
			continue
		}
		err := t.claimLocked(uid, dir)
		if err == nil || !errors.Is(err, errUserTaken) {
			return uid, err
		}
	}
	return 0, errNoUser
}

// errUserTaken is returned when another folder has the user id.
var errUserTaken = errors.New("another Chromium has the user id of this profile")

// claim gives uid to a folder that had it before.
func (t *userTable) claim(uid int, dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.claimLocked(uid, dir)
}

func (t *userTable) claimLocked(uid int, dir string) error {
	holder, given := t.given[uid]
	if given && holder != dir {
		if _, err := os.Lstat(holder); !errors.Is(err, fs.ErrNotExist) {
			return errUserTaken
		}
		// The folder that has the user id was removed, but not by RemoveDir.
	}
	if err := t.lockLocked(uid, unix.F_WRLCK); err != nil {
		return err
	}
	t.given[uid] = dir
	return nil
}

// release takes the user id back from a folder that is gone.
func (t *userTable) release(uid int, dir string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.given[uid] == dir {
		delete(t.given, uid)
		_ = t.lockLocked(uid, unix.F_UNLCK)
	}
}

// lockLocked changes the lock of a user id. Locks of an open file description end
// with the server, and do not exclude the server itself.
func (t *userTable) lockLocked(uid int, kind int16) error {
	if t.locks == nil {
		file, err := openUserLocks()
		if err != nil {
			return fmt.Errorf("open the locks of Chromium's users: %w", err)
		}
		t.locks = file
	}
	err := unix.FcntlFlock(t.locks.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: int64(uid - firstUID), Len: 1})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errUserTaken
	}
	return err
}

// openUserLocks opens the file where all servers of this machine find it. Nobody
// but root can write to /run; elsewhere the file must be checked.
func openUserLocks() (*os.File, error) {
	var errs []error
	for _, dir := range []string{"/run", "/tmp", os.TempDir()} {
		file, err := os.OpenFile(filepath.Join(dir, userLocks), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		info, err := file.Stat()
		if err == nil && info.Mode().IsRegular() && ownerOf(info) == os.Geteuid() {
			return file, nil
		}
		errs = append(errs, err, file.Close(), fmt.Errorf("%s is not ours", file.Name()))
	}
	return nil, errors.Join(errs...)
}

// usersWithProcesses returns the user ids of Chromiums that have processes.
func usersWithProcesses() (map[int]bool, error) {
	busy := map[int]bool{}
	for _, pid := range allProcesses() {
		for _, uid := range usersOf(pid) {
			if isChromiumUser(uid) {
				busy[uid] = true
			}
		}
	}
	if len(busy) == 0 && len(usersOf(os.Getpid())) == 0 {
		return nil, errors.New("/proc cannot be read")
	}
	return busy, nil
}

// usersOf returns the real, effective, saved and file system user id of a
// process, or nothing when it has ended.
func usersOf(pid int) []int {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, rest, _ := strings.Cut(string(status), "\nUid:")
	line, _, _ := strings.Cut(rest, "\n")
	var uids []int
	for _, field := range strings.Fields(line) {
		if uid, err := strconv.Atoi(field); err == nil {
			uids = append(uids, uid)
		}
	}
	return uids
}

func hasUser(pid, uid int) bool {
	for _, u := range usersOf(pid) {
		if u == uid {
			return true
		}
	}
	return false
}

// endUser kills all processes of a Chromium's user, also those that left its
// process group, and returns when none is left. A process could start others
// while we look at it, so we look until nothing is found.
func endUser(uid int) error {
	if !isChromiumUser(uid) || !mustDropRoot() {
		return nil
	}
	deadline := time.Now().Add(reapTimeout)
	for {
		left := 0
		var errs []error
		for _, pid := range allProcesses() {
			if !hasUser(pid, uid) {
				continue
			}
			stat, err := readStat(pid)
			switch {
			case err != nil: // it has ended
			case stat.state == 'Z' || stat.state == 'X':
				if stat.parent == os.Getpid() {
					_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // an orphan that became our child
				}
			default:
				left++
				errs = append(errs, killProcess(pid, deadline, func() bool { return hasUser(pid, uid) }))
			}
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.Join(append(errs, fmt.Errorf("processes of user %d do not end", uid))...)
		}
	}
}

// killProcess kills a process, unless another one has its pid by now, and waits
// for its end.
func killProcess(pid int, deadline time.Time, meant func() bool) error {
	fd, err := unix.PidfdOpen(pid, 0) // from here on the descriptor refers to this process, even if its pid is reused
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	if !meant() {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return fmt.Errorf("process %d does not end", pid)
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if n == 1 || err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
