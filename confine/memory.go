package confine

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MemoryLimit returns the memory of the machine in bytes, or the limit of the server's control
// groups if that is lower. It returns math.MaxInt64 if it cannot tell.
func MemoryLimit() int64 {
	limit := int64(math.MaxInt64)
	var machine unix.Sysinfo_t
	if unix.Sysinfo(&machine) == nil {
		limit = int64(machine.Totalram) * int64(machine.Unit)
	}
	for _, g := range memoryGroups() {
		limit = min(limit, g.limit())
	}
	return limit
}

// MemoryFree returns how many bytes of memory the machine and the server's control groups
// still have for new processes, without swapping: what is free, and what holds only copies of
// files. It returns math.MaxInt64 if it cannot tell.
func MemoryFree() int64 {
	free := int64(math.MaxInt64)
	if raw, err := os.ReadFile("/proc/meminfo"); err == nil {
		if kib, ok := field(raw, "MemAvailable:"); ok {
			free = kib << 10 // proc_meminfo(5)
		}
	}
	for _, g := range memoryGroups() {
		limit := g.limit()
		used, ok := g.read("memory.current", "memory.usage_in_bytes")
		if limit == math.MaxInt64 || !ok {
			continue
		}
		raw, _ := os.ReadFile(filepath.Join(string(g), "memory.stat")) // without it, all counts as used
		files, ok := field(raw, "total_inactive_file")                 // of version 1, with the groups below
		if !ok {
			files, _ = field(raw, "inactive_file")
		}
		free = min(free, max(0, limit-used+files))
	}
	return free
}

// field returns the number behind a name at the beginning of a line.
func field(raw []byte, name string) (int64, bool) {
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) >= 2 && words[0] == name {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// memoryGroup is the folder of a control group that counts memory.
type memoryGroup string

// memoryGroups returns the server's group and those above it, because the limit of a group
// holds for all below it.
func memoryGroups() (groups []memoryGroup) {
	trees, err := hierarchies()
	if err != nil {
		return nil
	}
	for _, tree := range trees {
		if len(tree.controllers) > 0 && !slices.Contains(tree.controllers, "memory") {
			continue
		}
		for folder := tree.folder; ; folder = filepath.Dir(folder) {
			groups = append(groups, memoryGroup(folder))
			if _, err := os.Stat(filepath.Join(folder, "cgroup.procs")); err != nil || folder == filepath.Dir(folder) {
				break // above the mounted tree
			}
		}
	}
	return groups
}

// limit returns the group's limit in bytes, or math.MaxInt64 if it has none.
func (g memoryGroup) limit() int64 {
	if limit, ok := g.read("memory.max", "memory.limit_in_bytes"); ok && limit > 0 {
		return limit
	}
	return math.MaxInt64
}

// read returns the number in the first of the group's files that exists.
func (g memoryGroup) read(names ...string) (int64, bool) {
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(string(g), name))
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && bad == nil {
			return n, true
		}
	}
	return 0, false
}
