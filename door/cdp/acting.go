package cdp

import (
	"sync"

	"takeover/session"
)

// acting holds the commands that were reported as begun and not yet as ended. A
// command that Chromium never answers, or whose answer the client does not read, ends
// with the client. The zero value is ready.
type acting struct {
	mu   sync.Mutex // guards open
	open map[*call]*session.RawAction
}

// begin adds a command. action is nil if it is not reported.
func (a *acting) begin(cmd *call, action *session.RawAction) {
	if action == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[*call]*session.RawAction{}
	}
	a.open[cmd] = action
}

// end reports the end of a command, unless that was done before. err is why it failed,
// or nil.
func (a *acting) end(cmd *call, err error) {
	a.mu.Lock()
	action := a.open[cmd]
	delete(a.open, cmd)
	a.mu.Unlock()
	action.End(err)
}

// endAll reports the end of all commands that are left.
func (a *acting) endAll(err error) {
	a.mu.Lock()
	left := a.open
	a.open = nil
	a.mu.Unlock()
	for _, action := range left {
		action.End(err)
	}
}
