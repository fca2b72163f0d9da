package session

import (
	"context"
	"slices"
	"time"

	"takeover/capacity"
)

const (
	// pressureEvery is how often the server looks how much memory is free.
	pressureEvery = 2 * time.Second
	// Memory is scarce with less than this part of all free, or fewer bytes: then no
	// browser is kept warm. It is short with less than half of that: then sessions
	// hibernate.
	scarcePart  = 10 // one of so many
	scarceBytes = 512 << 20
	// plentyShare is how much more must be free, in percent, until browsers are warm again:
	// those that are started must not make memory scarce at once.
	plentyShare = 150
)

// watchMemory lets browsers give way when the machine's memory becomes scarce, until ctx
// ends: first those that are only kept warm, then those of sessions that nobody uses, one at
// a time, the longest unused first. Nothing here ends the browser of a session in use.
func (m *Manager) watchMemory(ctx context.Context) {
	tick := time.NewTicker(pressureEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			free, limit := capacity.Memory()
			m.relieve(now, free, limit)
		case <-ctx.Done():
			return
		}
	}
}

// relieve does so once; free and limit are in bytes. It also makes sessions hibernate that
// were not used for as long as the operator says.
func (m *Manager) relieve(now time.Time, free, limit int64) {
	scarce := min(max(limit/scarcePart, scarceBytes), limit/2)
	m.browsers.Scarce(free < scarce || m.browsers.IsScarce() && free < scarce*plentyShare/100)
	short := free < scarce/2
	if !short && m.opts.HibernateAfter <= 0 {
		return
	}
	unused := slices.DeleteFunc(m.List(), func(s *Session) bool { return s.life.alive() != nil || !mayHibernate(s, now) })
	if len(unused) == 0 {
		return
	}
	for _, s := range unused {
		if m.opts.HibernateAfter > 0 && s.gestures.idle(now) >= m.opts.HibernateAfter {
			hibernate(s)
		}
	}
	if !short {
		return
	}
	longest := slices.MaxFunc(unused, func(a, b *Session) int { return int(a.gestures.idle(now) - b.gestures.idle(now)) })
	m.opts.Logger.Warn("memory is short: a session that nobody uses hibernates", "session", longest.id, "free", free)
	hibernate(longest)
}
