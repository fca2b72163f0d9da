package confine

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// DefaultMemory is how much memory all processes of one Chromium may use,
	// with its files in /dev/shm.
	DefaultMemory = 8 << 30
	// DefaultTasks is how many threads all processes of one Chromium may have.
	DefaultTasks = 4096

	// cpuPeriod is the time, in microseconds, in which a Chromium may use its share of the
	// processors: the kernel's own default.
	cpuPeriod = 100_000

	// removeTime bounds the wait for the kernel to let go of an empty control group.
	removeTime = time.Second
)

// group is the control group of one Chromium: one folder where the kernel has
// version 2, one for each controller where it has version 1, and both where it is
// mixed.
type group struct {
	folders []string
	kill    string // the file that kills all members, or empty
}

// hierarchy is one mounted tree of control groups, and where the server stands in it.
type hierarchy struct {
	folder      string
	controllers []string // empty for version 2
}

var groupsMade atomic.Uint64

// bounds are what all processes of one Chromium may use.
type bounds struct {
	memory, tasks int64
	cpu           float64 // cores; 0 for all
}

// newGroup makes a control group for a Chromium below the server's own. It returns what it
// could make, and an error that says what is missing. A reason not to make one is returned as
// the error.
func newGroup(b bounds, leftOut string) (*group, error) {
	if leftOut != "" {
		return &group{}, errors.New(leftOut)
	}
	trees, err := hierarchies()
	if err != nil {
		return &group{}, err
	}
	me, err := identify(os.Getpid())
	if err != nil {
		return &group{}, err
	}
	g := &group{}
	name := fmt.Sprintf("%s-%d", me, groupsMade.Add(1))
	var errs []error
	var limitsMemory, limitsTasks bool
	limitsCPU := b.cpu <= 0
	controllers := []string{"memory", "pids"}
	if !limitsCPU {
		controllers = append(controllers, "cpu")
	}
	for _, tree := range trees {
		folder := filepath.Join(tree.folder, name)
		v2 := len(tree.controllers) == 0
		if !v2 && !slices.ContainsFunc(controllers, func(c string) bool { return slices.Contains(tree.controllers, c) }) {
			continue
		}
		if v2 { // it fails when the kernel has given the controllers to version 1, or processes stand in the server's group
			for _, controller := range controllers { // one by one, because the kernel takes all of a list or none
				_ = os.WriteFile(filepath.Join(tree.folder, "cgroup.subtree_control"), []byte("+"+controller), 0)
			}
		}
		if err := os.Mkdir(folder, 0o755); err != nil { //nolint:gosec // the kernel's own mode for these
			errs = append(errs, fmt.Errorf("make one in %s: %w", tree.folder, underlying(err))) // the same text at each start
			continue
		}
		g.folders = append(g.folders, folder)
		limitsMemory = setFirst(folder, b.memory, "memory.max", "memory.limit_in_bytes") || limitsMemory
		limitsTasks = setFirst(folder, b.tasks, "pids.max") || limitsTasks
		limitsCPU = b.cpu <= 0 || setCPU(folder, b.cpu) || limitsCPU
		g.findKill(folder)
		_ = setFirst(folder, 1, "memory.oom.group") // all of Chromium ends, not the one process that happened to ask
	}
	if !limitsMemory {
		errs = append(errs, errors.New("memory is not limited"))
	}
	if !limitsTasks {
		errs = append(errs, errors.New("processes are not limited"))
	}
	if !limitsCPU {
		errs = append(errs, errors.New("processor time is not limited"))
	}
	if g.kill == "" {
		errs = append(errs, errors.New("there is no cgroup.kill"))
	}
	return g, joined(errs)
}

// underlying returns the kernel's error without the path.
func underlying(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}

// findKill remembers the file that kills all members of a folder, if it has one.
func (g *group) findKill(folder string) {
	if file := filepath.Join(folder, "cgroup.kill"); fileExists(file) {
		g.kill = file
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// identify returns the beginning of the names of a server's control groups. It
// names the process so that no other one has the same: by its pid, the namespace of
// that, and when it was started.
func identify(pid int) (string, error) {
	var place unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &place); err != nil {
		return "", err
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	fields := statFields(stat)
	const state, startTime = 0, 22 - 3
	if len(fields) <= startTime {
		return "", errors.New("malformed stat")
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return "", fs.ErrNotExist
	}
	return fmt.Sprintf("takeover-%d-%d-%s", pid, place.Ino, fields[startTime]), nil
}

// Reap removes the control groups of servers that were killed, and kills what is
// left in them. It looks at the groups beside the server's own that were made in
// its process namespace: whether other servers run, it cannot know.
func Reap() error {
	trees, err := hierarchies()
	if err != nil {
		return nil //nolint:nilerr // without control groups there is nothing to remove
	}
	me, err := identify(os.Getpid())
	if err != nil {
		return err
	}
	namespace := strings.Split(me, "-")[2]
	left := map[string]*group{}
	for _, tree := range trees {
		found, _ := filepath.Glob(filepath.Join(tree.folder, "takeover-*-"+namespace+"-*")) // the pattern is well formed
		for _, folder := range found {
			name := filepath.Base(folder)
			parts := strings.Split(name, "-")
			if len(parts) != 5 {
				continue
			}
			pid, err := strconv.Atoi(parts[1])
			if err != nil {
				continue
			}
			if alive, err := identify(pid); err == nil && strings.HasPrefix(name, alive+"-") {
				continue
			}
			if left[name] == nil {
				left[name] = &group{}
			}
			left[name].folders = append(left[name].folders, folder)
			left[name].findKill(folder)
		}
	}
	var errs []error
	for _, g := range left {
		errs = append(errs, g.end())
	}
	return errors.Join(errs...)
}

// joined joins errors in one line.
func joined(errs []error) error {
	var texts []string
	for _, err := range errs {
		if err != nil {
			texts = append(texts, err.Error())
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, ", "))
}

// setFirst writes a value to the first of the files that exists.
func setFirst(folder string, value int64, names ...string) bool {
	for _, name := range names {
		file := filepath.Join(folder, name)
		if fileExists(file) {
			return os.WriteFile(file, []byte(strconv.FormatInt(value, 10)), 0) == nil
		}
	}
	return false
}

// setCPU limits the processor time of a folder's members, if it counts that.
func setCPU(folder string, cores float64) bool {
	quota := max(1000, int64(cores*cpuPeriod)) // 1 ms, the least that the kernel takes
	if file := filepath.Join(folder, "cpu.max"); fileExists(file) {
		return os.WriteFile(file, fmt.Appendf(nil, "%d %d", quota, cpuPeriod), 0) == nil
	}
	return setFirst(folder, cpuPeriod, "cpu.cfs_period_us") && setFirst(folder, quota, "cpu.cfs_quota_us")
}

// add moves a process into the group.
func (g *group) add(pid int) error {
	for _, folder := range g.folders {
		if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			return err
		}
	}
	return nil
}

// killed returns how often the kernel ended a member because the group's memory was used
// up.
func (g *group) killed() (times int) {
	for _, folder := range g.folders {
		for _, name := range []string{"memory.events", "memory.oom_control"} {
			raw, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(raw)) {
				if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
					count, _ := strconv.Atoi(n) // the kernel writes a number
					times += count
				}
			}
		}
	}
	return times
}

// end kills all members and removes the group.
func (g *group) end() error {
	if g.kill != "" {
		if err := os.WriteFile(g.kill, []byte("1"), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	var errs []error
	for _, folder := range g.folders {
		// A member that was killed may still be leaving.
		deadline := time.Now().Add(removeTime)
		err := os.Remove(folder)
		for err != nil && !errors.Is(err, fs.ErrNotExist) && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
			err = os.Remove(folder)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// hierarchies returns the mounted trees, with the server's own folder in each.
func hierarchies() ([]hierarchy, error) {
	own, err := ownGroups()
	if err != nil {
		return nil, err
	}
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var trees []hierarchy
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		// proc_pid_mountinfo(5): … root, mount point, options, …, "-", type, source, options
		before, after, ok := strings.Cut(lines.Text(), " - ")
		fields, kinds := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(kinds) < 3 {
			continue
		}
		root, place := fields[3], fields[4]
		tree := hierarchy{}
		var path string
		switch kinds[0] {
		case "cgroup2":
			path, ok = own[""]
		case "cgroup":
			tree.controllers = strings.Split(kinds[2], ",")
			path, ok = ownOf(own, tree.controllers)
		default:
			continue
		}
		if !ok {
			continue
		}
		// In a container the mount shows only a part of the tree.
		tree.folder = filepath.Join(place, strings.TrimPrefix(path, strings.TrimSuffix(root, "/")))
		trees = append(trees, tree)
	}
	if len(trees) == 0 {
		return nil, errors.New("no control groups are mounted")
	}
	return trees, lines.Err()
}

// ownGroups returns the server's group by the controllers of its tree, as
// /proc/self/cgroup names them. Version 2 has none.
func ownGroups() (map[string]string, error) {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	own := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 {
			own[parts[1]] = parts[2]
		}
	}
	return own, nil
}

// ownOf returns the server's group in the tree that has one of the controllers.
func ownOf(own map[string]string, options []string) (string, bool) {
	for controllers, path := range own {
		for _, c := range strings.Split(controllers, ",") {
			if c != "" && slices.Contains(options, c) {
				return path, true
			}
		}
	}
	return "", false
}
