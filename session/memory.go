package session

import (
	"time"

	"takeover/capture"
	"takeover/chromium"
	"takeover/limits"
)

// memoryEvery is how often a session looks whether its Chromium ran out of memory.
const memoryEvery = 2 * time.Second

// watchMemory tells when the kernel has ended a part of a session's Chromium, or all of it,
// because it used the memory that it may. What happens then is what happens after any
// crash: a page says that it crashed, or Chromium starts again.
func watchMemory(s *Session, proc *chromium.Process) {
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	told, running := 0, true
	for running {
		select {
		case <-tick.C:
		case <-proc.Done():
			running = false
		case <-s.ctx.Done():
			return
		}
		if times := proc.OutOfMemory(); times > told {
			told = times
			sayStarved(s, times)
		}
	}
}

// sayStarved says how often a session's Chromium used all the memory that it may.
func sayStarved(s *Session, times int) {
	countLimit(s, limits.Memory)
	s.log.Warn("chromium used all the memory that it may", "times", times)
	s.note(capture.TypeMemoryFull, map[string]any{"times": times})
}
