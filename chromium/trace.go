package chromium

import (
	"log/slog"
	"os"
	"strconv"
	"sync"

	"takeover/cdp"
)

// TraceVariable is the environment variable that names a file for the protocol
// messages of all Chromiums; see cdp.Trace. The file is for debugging and
// contains secrets.
const TraceVariable = "TAKEOVER_CDP_LOG"

// traces holds the trace of each file, because the Chromiums of a process share
// it. The file stays open until the process ends.
var traces sync.Map // file name → func() (*cdp.Trace, error)

// traced returns a transport that also writes to the file that the environment
// names. If it names none, traced returns t.
func traced(t cdp.Transport, pid int, log *slog.Logger) cdp.Transport {
	name := os.Getenv(TraceVariable)
	if name == "" {
		return t
	}
	open, _ := traces.LoadOrStore(name, sync.OnceValues(func() (*cdp.Trace, error) {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		log.Warn("all CDP messages are written to a file; it holds cookies and page contents", "file", name)
		return cdp.NewTrace(file), nil
	}))
	trace, err := open.(func() (*cdp.Trace, error))()
	if err != nil {
		log.Warn("CDP messages are not written", "error", err)
		return t
	}
	return trace.Wrap(t, "pid "+strconv.Itoa(pid))
}
