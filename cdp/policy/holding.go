package policy

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/fetch"
)

// AnswerTime is how long a program may keep a request of a page waiting while a person
// is in control.
const AnswerTime = 5 * time.Second

// maxRequests bounds the requests that a holding remembers. Further ones wait for the
// program.
const maxRequests = 1000

// holding is what a program keeps a page from: its debugger may pause the page, and it
// may leave requests unanswered that it intercepts. The zero value is ready.
type holding struct {
	mu       sync.Mutex         // guards what follows
	debugs   bool               // the program has a debugger
	skips    bool               // the program wants no pauses
	off      bool               // the server has switched pauses off
	requests map[string]request // by id
}

// request is a request that waits for the program.
type request struct {
	since time.Time
	auth  bool // it waits for a name and a password
}

// Holds reports whether LetGoOn may have something to do later.
func (s *Scope) Holds() bool {
	h := &s.holding
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.debugs || len(h.requests) > 0
}

// LetGoOn returns the commands that let the page go on while a person is in control: a
// paused page at once, a request that the program has kept for longer than patience.
// The program's debugger does not pause the page then, because keys that are pressed in
// a paused page are lost. Afterwards it does again.
func (s *Scope) LetGoOn(person bool, patience time.Duration) (list []Call) {
	h := &s.holding
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.debugs && h.off != person {
		h.off = person
		list = append(list, Call{debugger.SetSkipAllPauses.Method, skip(person || h.skips)})
	}
	if !person {
		return list
	}
	if s.pause.leave() {
		list = append(list, Call{debugger.Resume.Method, noParams})
	}
	for id, r := range h.requests {
		if time.Since(r.since) < patience {
			continue
		}
		delete(h.requests, id)
		method, params := fetch.ContinueRequest.Method, map[string]any{"requestId": id}
		if r.auth {
			method = fetch.ContinueWithAuth.Method
			params["authChallengeResponse"] = map[string]string{"response": "Default"}
		}
		if raw, err := json.Marshal(params); err == nil {
			list = append(list, Call{method, raw})
		}
	}
	return list
}

func skip(on bool) json.RawMessage {
	if on {
		return json.RawMessage(`{"skip":true}`)
	}
	return json.RawMessage(`{"skip":false}`)
}

// keep records a request that waits for the program.
func (h *holding) keep(params []byte, auth bool) {
	var e struct {
		ID string `json:"requestId"`
	}
	if !decode(params, &e) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.requests == nil {
		h.requests = map[string]request{}
	}
	if len(h.requests) < maxRequests {
		h.requests[e.ID] = request{time.Now(), auth}
	}
}

// follow follows a command that is about to be sent.
func (h *holding) follow(method string, params []byte) {
	var p struct {
		ID   string `json:"requestId"`
		Skip bool   `json:"skip"`
	}
	_ = decode(params, &p) // Chromium refuses what is of another type
	h.mu.Lock()
	defer h.mu.Unlock()
	switch method {
	case debugger.Enable.Method:
		h.debugs = true
	case debugger.Disable.Method:
		h.debugs, h.skips, h.off = false, false, false
	case debugger.SetSkipAllPauses.Method:
		h.skips = p.Skip
	case fetch.Disable.Method:
		h.requests = nil
	case fetch.ContinueRequest.Method, fetch.ContinueResponse.Method, fetch.ContinueWithAuth.Method, fetch.FulfillRequest.Method, fetch.FailRequest.Method:
		delete(h.requests, p.ID)
	}
}
