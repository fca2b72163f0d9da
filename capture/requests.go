package capture

import (
	"slices"
	"time"

	"takeover/limits"
)

// request is a running request.
type request struct {
	id, loader, url, method, kind, frame string

	post string // what it sent, if the body of its response is wanted; at most maxPostData bytes

	started  time.Time // by our clock
	sent     float64   // by Chromium's monotonic clock, seconds
	wall     float64   // the same moment, in seconds since the epoch
	active   time.Time // when its response or data last arrived
	size     int64     // bytes of body so far
	cached   bool
	response *cdpResponse
	hasExtra bool    // the headers on the wire are reported in a separate event
	owed     int     // number of redirects whose wire headers will arrive too late
	ending   *ending // it has ended, and waits for those headers
	reported bool    // its response was written
	moved    bool    // the target that began it is gone
	counts   bool    // delays network_idle
}

// ending says how a request ended.
type ending struct {
	at          float64 // on Chromium's monotonic clock, seconds
	transferred int64   // bytes over the wire
}

// requests holds the running requests of one target.
type requests struct {
	byID  map[string]*request
	order []string // oldest first; some may have gone
	extra map[string]*extraInfo

	whole bool            // requests that began before the target was followed are known, too
	over  map[string]bool // requests that ended while whole was false

	limits *limits.Hits
}

// extraInfo holds the headers on the wire. Chromium reports them in separate
// events, before or after the events of the request.
type extraInfo struct {
	request, response []cdpHeaders // one for each hop of a redirect
}

func newRequests(hits *limits.Hits) requests {
	return requests{limits: hits, byID: map[string]*request{}, extra: map[string]*extraInfo{}}
}

func (q *requests) add(r *request) {
	if q.byID[r.id] == nil {
		q.order = append(q.order, r.id)
	}
	q.byID[r.id] = r
	for len(q.byID) > maxRequests {
		q.limits.Add(limits.CaptureTables, 1)
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

// ended records the end of a request. The request may have started before the
// target was followed.
func (q *requests) ended(id string) {
	if q.whole {
		return
	}
	if q.over == nil || len(q.over) >= maxRequests {
		q.over = map[string]bool{}
	}
	q.over[id] = true
}

// extraOf returns where to store a request's headers on the wire.
func (q *requests) extraOf(id string) *extraInfo {
	extra := q.extra[id]
	if extra == nil {
		if len(q.extra) >= maxRequests {
			clear(q.extra) // they are optional, so losing them is acceptable
		}
		extra = &extraInfo{}
		q.extra[id] = extra
	}
	return extra
}

// takeRequest makes the request of a document that was committed in this target
// one of this target. If the document's frame has changed its process, the target
// of the old process reported the request and its response, and this one reports
// the data and the end. The request of a document has the id of its loader.
func (w *watched) takeRequest(loader string) {
	if w.requests.byID[loader] != nil {
		return
	}
	for _, other := range w.l.targets {
		r := other.requests.byID[loader]
		if r == nil {
			continue
		}
		other.requests.give(r, &w.requests)
		return
	}
}

// give makes a request one of another target.
func (q *requests) give(r *request, to *requests) {
	to.add(r)
	q.remove(r)
	if extra := q.extra[r.id]; extra != nil {
		to.extra[r.id] = extra
		delete(q.extra, r.id)
	}
}

// abandonRequests forgets the requests of a target that is gone. It writes the
// responses that have begun, as far as they are known. The page takes over the
// document of a frame, which may have moved to the page's process.
func (w *watched) abandonRequests() {
	page := w.page()
	for _, id := range w.requests.order {
		r := w.requests.byID[id]
		switch {
		case r == nil || r.response == nil || !w.m.active.Network:
		case r.kind == "document" && r.frame == w.target && page != nil && page != w:
			r.moved, r.active = true, time.Now()
			w.requests.give(r, &page.requests)
			page.silentAt = earliest(page.silentAt, r.active.Add(quiet))
		default:
			w.finish(r)
		}
	}
	w.requests = newRequests(w.m.limits)
}

// tickRequests writes the responses of fetches that receive no more data, of
// requests whose headers on the wire did not arrive, and of documents whose frame
// has gone. It returns when to check again.
func (w *watched) tickRequests(now time.Time) (next time.Time) {
	if w.silentAt.IsZero() || now.Before(w.silentAt) {
		return w.silentAt
	}
	for _, r := range w.requests.byID {
		if r.response == nil || r.kind != "fetch" && r.ending == nil && !r.moved || r.reported {
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
