package capacity

import (
	"runtime"

	"takeover/confine"
)

const (
	// perCore is how many sessions a core carries, of which most wait.
	perCore = 4
	// sessionMemory is what a session takes, in bytes: between what an empty page and
	// what a large one needs (docs/operating.md).
	sessionMemory = 300 << 20
	// serverMemory is left to the server itself, in bytes.
	serverMemory = 512 << 20
)

// Machine returns how many sessions this machine carries: four per core that the process
// may use, but no more than find room in the memory that it may use.
func Machine() int { return fits(runtime.GOMAXPROCS(0), confine.MemoryLimit()) }

// Memory returns how many bytes of memory are free, and how many there are, for all processes
// of the machine, or of the control group that the server is in.
func Memory() (free, all int64) { return confine.MemoryFree(), confine.MemoryLimit() }

func fits(cores int, memory int64) int {
	return int(max(1, min(int64(perCore*cores), (memory-serverMemory)/sessionMemory)))
}
