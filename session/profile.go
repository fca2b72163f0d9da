package session

import (
	"time"

	"takeover/capture"
	"takeover/chromium"
	"takeover/limits"
)

const (
	profileGrowth    = 256 << 20 // bytes a second, faster than pages usually write
	profileSoon      = time.Second
	profileLate      = 10 * time.Second
	profileWarnLimit = 80 // percent of the limit at which the session says that it is filling

	reasonProfile = "profile over its limit"
)

// watchProfile ends the session when its Chromium has stored more than it may, and
// says once before that it is filling.
// Chromium itself permits each site more than half of the disk. The less room is
// left, the sooner watchProfile looks again.
func watchProfile(s *Session, proc *chromium.Process) {
	limit := s.services.settings.profileBytes
	told := false
	next := time.NewTimer(profileSoon)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-proc.Done():
			return
		case <-s.ctx.Done():
			return
		}
		used, err := proc.Stored(limit)
		switch {
		case err != nil:
			s.log.Warn("size of the profile", "error", err)
		case used > limit:
			endOverLimit(s, used, limit)
			return
		case used >= limit/100*profileWarnLimit && !told:
			told = true
			sayFilling(s, used, limit)
		}
		seconds := float64(limit-used) / profileGrowth
		next.Reset(min(max(time.Duration(seconds*float64(time.Second)), profileSoon), profileLate))
	}
}

// sayFilling says that a session's profile takes most of the bytes that it may.
func sayFilling(s *Session, used, limit int64) {
	countLimit(s, limits.ProfileFilling)
	s.log.Warn("profile is filling", "bytes", used, "limit", limit)
	s.note(capture.TypeProfileFilling, map[string]any{"bytes": used, "limit": limit})
}

// endOverLimit ends a session whose profile takes more bytes than the limit.
func endOverLimit(s *Session, used, limit int64) {
	countLimit(s, limits.Profile)
	s.log.Warn(reasonProfile, "bytes", used, "limit", limit)
	s.note(capture.TypeProfileFull, map[string]any{"bytes": used, "limit": limit})
	s.life.end(StatusFailed, reasonProfile)
}
