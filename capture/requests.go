package capture

import (
	"slices"
	"time"
)

// request is one request under way.
type request struct {
	id, loader, url, method, kind, frame string

	started  time.Time // by our clock
	sent     float64   // by Chromium's monotonic clock, seconds
	wall     float64   // the same moment, seconds since the epoch
	active   time.Time // when its response or data came last
	size     int64     // bytes of body so far
	cached   bool
	response *cdpResponse
	hasExtra bool    // the response's real headers come on their own
	owed     int     // how many redirects' real headers are yet to come, too late for them
	ending   *ending // it has ended, and waits for them
	reported bool    // its response was written
	counts   bool    // holds network_idle up
}

// ending is how a request ended.
type ending struct {
	at          float64 // Chromium's monotonic clock, seconds
	transferred int64   // bytes over the wire
}

// requests are the requests of one target that are under way.
type requests struct {
	byID  map[string]*request
	order []string // oldest first; may name some that are gone
	extra map[string]*extraInfo

	whole bool            // those that began before they were followed are known too
	over  map[string]bool // until then: which of those have ended
}

// extraInfo holds the headers that really went over the wire, which Chromium
// reports on their own, before or after the events they belong to.
type extraInfo struct {
	request, response []cdpHeaders // one for each hop of a redirect
}

func newRequests() requests {
	return requests{byID: map[string]*request{}, extra: map[string]*extraInfo{}}
}

func (q *requests) add(r *request) {
	if q.byID[r.id] == nil {
		q.order = append(q.order, r.id)
	}
	q.byID[r.id] = r
	for len(q.byID) > maxRequests {
		oldest := q.order[0]
		q.order = q.order[1:]
		delete(q.byID, oldest)
		delete(q.extra, oldest)
	}
	if len(q.order) > 2*maxRequests {
		q.order = slices.DeleteFunc(q.order, func(id string) bool { return q.byID[id] == nil })
	}
}

func (q *requests) remove(r *request) { delete(q.byID, r.id) }

// ended notes that a request is over which may have begun before it was followed.
func (q *requests) ended(id string) {
	if q.whole {
		return
	}
	if q.over == nil || len(q.over) >= maxRequests {
		q.over = map[string]bool{}
	}
	q.over[id] = true
}

// extraOf returns where a request's real headers are kept.
func (q *requests) extraOf(id string) *extraInfo {
	extra := q.extra[id]
	if extra == nil {
		if len(q.extra) >= maxRequests {
			clear(q.extra) // they are a refinement; what is lost is not missed
		}
		extra = &extraInfo{}
		q.extra[id] = extra
	}
	return extra
}

// abandonRequests forgets the requests of a target that is gone. Those whose
// response has arrived are written with what there is.
func (w *watched) abandonRequests() {
	for _, id := range w.requests.order {
		if r := w.requests.byID[id]; r != nil && r.response != nil && w.m.active.Network {
			w.finish(r)
		}
	}
	w.requests = newRequests()
}

// tickRequests writes the responses of fetches that fell silent, and of requests
// whose real headers did not come, and returns when to look again.
func (w *watched) tickRequests(now time.Time) (next time.Time) {
	if w.silentAt.IsZero() || now.Before(w.silentAt) {
		return w.silentAt
	}
	for _, r := range w.requests.byID {
		if r.response == nil || r.kind != "fetch" && r.ending == nil || r.reported {
			continue
		}
		due := r.active.Add(quiet)
		if !now.Before(due) {
			w.finish(r)
			continue
		}
		if next.IsZero() || due.Before(next) {
			next = due
		}
	}
	w.silentAt = next
	return next
}
