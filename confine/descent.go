package confine

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// endTime bounds the wait for the end of killed processes.
const endTime = 5 * time.Second

// endDescendants kills all descendants of a process, also those that left its
// process group, and returns when none is left. The process adopts the orphans
// among them: it must be the first of its process namespace, or a subreaper.
func endDescendants(ancestor int) {
	for deadline := time.Now().Add(endTime); time.Now().Before(deadline); {
		parents := parentsOfAll()
		left := false
		for pid := range parents {
			if !descends(parents, pid, ancestor) {
				continue
			}
			left = true
			kill(pid, func() bool { return descends(parentsOfAll(), pid, ancestor) })
		}
		if !left {
			return
		}
	}
}

// kill kills a process, unless another one has its pid by now.
func kill(pid int, meant func() bool) {
	fd, err := unix.PidfdOpen(pid, 0) // from here on the descriptor refers to this process
	if err != nil {
		return // it has ended
	}
	defer unix.Close(fd)
	if meant() {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// parentsOfAll returns the parents of all processes that have not ended.
func parentsOfAll() map[int]int {
	parents := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		fields := statFields(stat)
		if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		if parents[pid], err = strconv.Atoi(fields[1]); err != nil {
			delete(parents, pid)
		}
	}
	return parents
}

// statFields returns the fields of proc_pid_stat(5) from the third on. The second,
// the name, stands in parentheses and may contain any byte.
func statFields(stat []byte) []string {
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// descends follows a process's parents.
func descends(parents map[int]int, pid, ancestor int) bool {
	for range parents {
		parent, ok := parents[pid]
		if !ok || parent == ancestor {
			return ok
		}
		pid = parent
	}
	return false
}
