package confine

import (
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
	trees, err := hierarchies()
	if err != nil {
		return limit
	}
	for _, tree := range trees {
		if len(tree.controllers) > 0 && !slices.Contains(tree.controllers, "memory") {
			continue
		}
		for folder := tree.folder; ; folder = filepath.Dir(folder) { // a group's limit holds for those below it
			for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
				raw, err := os.ReadFile(filepath.Join(folder, name))
				if bytes, bad := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && bad == nil && bytes > 0 {
					limit = min(limit, bytes)
				}
			}
			if _, err := os.Stat(filepath.Join(folder, "cgroup.procs")); err != nil || folder == filepath.Dir(folder) {
				break // above the mounted tree
			}
		}
	}
	return limit
}
