package limits

import (
	"context"
	"time"
)

const (
	// lookEvery is how often Watch looks at the counts.
	lookEvery = 10 * time.Second
	// tellEvery is how often Watch tells of one limit at most.
	tellEvery = time.Hour
)

// OfServer are the limits that whoever runs the server wants to know of at once, because
// callers are refused or data is lost until something is done.
var OfServer = []Name{Sessions, KeySessions, Connections, Disk, EventsRefused}

// Reached says that a limit was reached.
type Reached struct {
	Limit Name   `json:"limit"`
	Times uint64 `json:"times"` // since it was told the last time
}

// Watch tells of each of the limits when it was reached, within 10 s and at most once an
// hour, until ctx ends.
func (h *Hits) Watch(ctx context.Context, names []Name, tell func(Reached)) {
	w := watch{hits: h, told: map[Name]told{}}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			for _, r := range w.look(now, names) {
				tell(r)
			}
		case <-ctx.Done():
			return
		}
	}
}

// watch is what was told.
type watch struct {
	hits *Hits
	told map[Name]told
}

type told struct {
	count uint64
	at    time.Time
}

// look returns the limits that must be told of now.
func (w *watch) look(now time.Time, names []Name) (list []Reached) {
	for _, name := range names {
		count, last := w.hits.Count(name), w.told[name]
		if count > last.count && now.Sub(last.at) >= tellEvery {
			list = append(list, Reached{name, count - last.count})
			w.told[name] = told{count, now}
		}
	}
	return list
}
