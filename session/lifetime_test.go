package session

import (
	"testing"
	"time"
)

// TestWaitingForAPersonIsNotCharged lets a session's time run out while a person
// works. The script that asked for the person continues when they are done.
func TestWaitingForAPersonIsNotCharged(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	v := join(t, s, RoleTakeover)
	before := s.Info().ExpiresAt
	r := startRun(t, s, `await requestTakeover('log in'); await page.title(); return 'finished'`)
	to := openTakeoverOf(t, r)
	await(v, "that the clock stands", func(m LifeMessage) bool { return m.Paused })
	if err := v.Takeover("claim", to.ID(), ""); err != nil {
		t.Fatal(err)
	}
	await(v, "that they have control", onHolder(v.holder()))
	if err := v.Takeover("done", to.ID(), ""); err != nil {
		t.Fatal(err)
	}
	if got := resultOf[string](t, r); got != "finished" {
		t.Errorf("the script returned %q", got)
	}
	await(v, "that the clock goes on", func(m LifeMessage) bool { return !m.Paused })
	if err := s.Extend(2 * DefaultTimeout); err != nil {
		t.Fatal(err)
	}
	await(v, "more time", func(m LifeMessage) bool { return m.Timeout == 2*DefaultTimeout.Milliseconds() })
	if err := s.Extend(DefaultTimeout); err != nil {
		t.Fatal(err)
	}
	info := to.Info()
	if waited, added := info.EndedAt.Sub(info.CreatedAt), s.Info().ExpiresAt.Sub(before); waited <= 0 || added < waited {
		t.Errorf("the session waited %v for a person, and lives only %v longer", waited, added)
	}
}

// TestTimeoutWaitsForTheScript lets a session's time run out while a script runs.
// The session ends when the script has ended.
func TestTimeoutWaitsForTheScript(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	r := startRun(t, s, `console.log('here'); await requestTakeover('log in'); console.log(await page.title()); return 'finished'`)
	to := openTakeoverOf(t, r)
	runOutOfTime(s)
	if left, _ := s.timeLeft(time.Now()); left <= 0 {
		t.Errorf("with a takeover open %v is left", left)
	}
	if err := to.Done("test", ""); err != nil { // makes the session check the clock
		t.Fatal(err)
	}
	if got := resultOf[string](t, r); got != "finished" {
		t.Errorf("the script returned %q", got)
	}
	waitFor(t, "the session's end", s.Ended())
	if info := s.Info(); info.EndReason != "timeout" || info.Status != StatusReleased {
		t.Errorf("ended as %s: %s", info.Status, info.EndReason)
	}
}

// runOutOfTime sets a session's time so that it is up.
func runOutOfTime(s *Session) {
	s.life.clock.mu.Lock()
	defer s.life.clock.mu.Unlock()
	s.life.clock.timeout, s.life.clock.quiet = -time.Hour, 0
}

// TestLifeCountsFromTheLastUse uses a session whose creator gave no timeout, and one whose
// creator did.
func TestLifeCountsFromTheLastUse(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1})
	for _, given := range []time.Duration{0, DefaultTimeout} {
		s := create(t, m, CreateOptions{Timeout: given})
		s.gestures.mu.Lock()
		s.gestures.worked = s.gestures.worked.Add(time.Hour) // as if somebody worked in it in an hour
		last := s.gestures.worked
		s.gestures.mu.Unlock()
		info := s.Info()
		if moved := !info.ExpiresAt.Before(last.Add(DefaultTimeout)); moved != (given == 0) {
			t.Errorf("with the timeout %v, it was used at %v and lives until %v", given, last, info.ExpiresAt)
		}
		if life := info.ExpiresAt.Sub(info.CreatedAt).Milliseconds(); life != info.Timeout {
			t.Errorf("it lives for %d ms, and says %d", life, info.Timeout)
		}
		if err := s.KeepFor(2 * time.Hour); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(s.Info().ExpiresAt); left < time.Hour {
			t.Errorf("kept for two hours, it lives for %v", left)
		}
		if err := s.Extend(time.Hour / 2); err != nil {
			t.Fatal(err)
		}
		if info := s.Info(); info.Timeout != (time.Hour / 2).Milliseconds() {
			t.Errorf("shortened to half an hour, it lives for %d ms", info.Timeout)
		}
		if err := s.Extend(3 * time.Hour); err != nil {
			t.Fatal(err)
		}
		if info := s.Info(); info.Timeout != (3 * time.Hour).Milliseconds() {
			t.Errorf("extended to three hours, it lives for %d ms", info.Timeout)
		}
	}
}
