//go:build lab

package lab

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// ledger is what clients were told is done. Whatever fails afterwards, it must all be there.
type ledger struct {
	mu        sync.Mutex
	sessions  []string
	events    map[string]map[string]bool // by session: the ids that the stream acknowledged
	runs      map[string]int             // by session and run: the result
	takeovers map[string]string          // by session and takeover: the note of who ended it
}

func newLedger() *ledger {
	return &ledger{events: map[string]map[string]bool{}, runs: map[string]int{}, takeovers: map[string]string{}}
}

func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := 0
	for _, ids := range l.events {
		events += len(ids)
	}
	return fmt.Sprintf("%d sessions, %d events, %d results of runs, %d outcomes of takeovers", len(l.sessions), events, len(l.runs), len(l.takeovers))
}

// work makes an event, a run and a takeover in each session, at once, and writes down what it
// is told.
func (l *ledger) work(t *testing.T, at *host, sessions []string) {
	t.Helper()
	var all sync.WaitGroup
	for n, id := range sessions {
		all.Go(func() { l.workIn(t, at, id, n) })
	}
	all.Wait()
}

func (l *ledger) workIn(t *testing.T, at *host, id string, n int) {
	l.mu.Lock()
	result := len(l.runs) + 100*n
	l.mu.Unlock()
	var event struct{ Seq int }
	if status := at.call("POST", "/v1/sessions/"+id+"/events", `{"type":"custom_lab"}`, &event); status != 201 {
		t.Errorf("an event of %s: %d", id, status)
	}
	var asked struct{ ID string }
	if status := at.call("POST", "/v1/sessions/"+id+"/takeovers", `{"reason":"help"}`, &asked); status != 201 {
		t.Errorf("a takeover of %s: %d", id, status)
	}
	note := fmt.Sprint("helped ", result)
	if status := at.call("POST", "/v1/sessions/"+id+"/takeovers/"+asked.ID+"/done", `{"note":"`+note+`"}`, nil); status != 200 {
		t.Errorf("the end of a takeover of %s: %d", id, status)
	}
	l.run(t, at, id, result)
	var kept []string
	for start := time.Now(); !slices.Contains(kept, strconv.Itoa(event.Seq)); kept = at.acknowledged(id) {
		if time.Since(start) > patience {
			t.Errorf("the stream of %s acknowledged %v, not %d", id, kept, event.Seq)
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.sessions, id) {
		l.sessions, l.events[id] = append(l.sessions, id), map[string]bool{}
	}
	for _, seq := range kept {
		l.events[id][seq] = true
	}
	l.takeovers[id+"/"+asked.ID] = note
}

// run runs a script that returns a number.
func (l *ledger) run(t *testing.T, at *host, id string, result int) {
	var run struct {
		ID     string
		Result int
	}
	if status := at.call("POST", "/v1/sessions/"+id+"/scripts", fmt.Sprintf(`{"code":"return %d","wait":true}`, result), &run); status != 200 || run.Result != result {
		t.Errorf("a run in %s: %d %+v", id, status, run)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[id+"/"+run.ID] = result
}

// acknowledged reads a session's stream of events for a moment, and returns the ids in it: those
// events are stored.
func (h *host) acknowledged(id string) (ids []string) {
	out, _ := h.inside("curl", "-s", "-N", "--max-time", "2", "-H", "Authorization: Bearer "+key, "http://"+h.addr+":8080/v1/sessions/"+id+"/events/stream?replay=all").Output() // its time is over
	for line := range bytes.Lines(out) {
		if id, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("id: ")); ok {
			ids = append(ids, string(id))
		}
	}
	return ids
}

// check compares what each of the hosts says with what clients were told, for sessions that
// are at a node which answers, and that no session stands twice in a list.
func (l *ledger) check(t *testing.T, what string, hosts ...*host) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range hosts {
		var list struct {
			Sessions []sessionInfo
			Missing  []string
		}
		until(t, "all nodes answer "+h.name, patience, func() bool {
			list.Sessions, list.Missing = nil, nil
			return h.call("GET", "/v1/sessions?limit=100", "", &list) == 200 && len(list.Missing) == 0
		})
		owners := map[string][]string{}
		for _, s := range list.Sessions {
			owners[s.ID] = append(owners[s.ID], s.Node)
		}
		events, runs, takeovers := 0, map[string]bool{}, map[string]bool{}
		for _, id := range l.sessions {
			if len(owners[id]) != 1 {
				t.Errorf("%s: in the list of %s, %s is at %v", what, h.name, id, owners[id])
			}
			events += l.checkEvents(t, h, id)
			var ran struct {
				Runs []struct {
					ID     string
					Status string
					Result int
				}
			}
			h.call("GET", "/v1/sessions/"+id+"/runs?limit=100", "", &ran)
			for _, r := range ran.Runs {
				if want, ok := l.runs[id+"/"+r.ID]; ok && r.Status == "succeeded" && r.Result == want {
					runs[r.ID] = true
				}
			}
			var helped struct {
				Takeovers []struct{ ID, State, Note string }
			}
			h.call("GET", "/v1/sessions/"+id+"/takeovers?limit=100", "", &helped)
			for _, o := range helped.Takeovers {
				if want, ok := l.takeovers[id+"/"+o.ID]; ok && o.State == "done" && o.Note == want {
					takeovers[o.ID] = true
				}
			}
		}
		want := 0
		for _, ids := range l.events {
			want += len(ids)
		}
		t.Logf("%s, %s has %d of %d events, %d of %d results of runs, %d of %d outcomes of takeovers", what, h.name, events, want, len(runs), len(l.runs), len(takeovers), len(l.takeovers))
		if events != want || len(runs) != len(l.runs) || len(takeovers) != len(l.takeovers) {
			t.Errorf("%s, %s has lost something", what, h.name)
		}
	}
}

// checkEvents counts the acknowledged events of a session that are there, each once.
func (l *ledger) checkEvents(t *testing.T, h *host, id string) (found int) {
	var page struct {
		Events []struct{ Seq int }
	}
	seen := map[string]int{}
	for since := 0; ; since = page.Events[len(page.Events)-1].Seq {
		page.Events = nil
		h.call("GET", fmt.Sprintf("/v1/sessions/%s/events?limit=1000&since=%d", id, since), "", &page)
		if len(page.Events) == 0 {
			break
		}
		for _, e := range page.Events {
			seen[strconv.Itoa(e.Seq)]++
		}
	}
	for seq := range l.events[id] {
		switch seen[seq] {
		case 0:
			t.Errorf("%s: %s has no event %s", h.name, id, seq)
		case 1:
			found++
		default:
			t.Errorf("%s: %s has event %s %d times", h.name, id, seq, seen[seq])
		}
	}
	return found
}
