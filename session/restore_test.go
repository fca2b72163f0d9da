package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/archive"
	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/control"
	"takeover/links"
	"takeover/store"
)

// openKept opens a store. The test closes it at its end or earlier.
func openKept(t *testing.T, dir string) *store.Store {
	t.Helper()
	kept, err := store.Open(browsertest.Context(t, "open store"), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	return kept
}

// told returns everything that the API reports about a session, as text.
func told(t *testing.T, s *Session) string {
	t.Helper()
	type run struct {
		Info   RunInfo
		Script RunScript
		Stream []RunEvent
		Log    string
	}
	all := struct {
		Info      Info
		Runs      []run
		Takeovers []TakeoverInfo
		Links     []links.Info
		Events    capture.Page
		Log       string
	}{Info: s.Info(), Links: s.Links(), Log: s.Log()}
	ctx := browsertest.Context(t, "what is told of a session")
	for _, r := range s.Runs() {
		one := run{Info: withoutSecrets(r.Info()), Script: r.Script(), Log: r.Log()}
		for ev, err := range r.Stream(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			switch data := ev.Data.(type) {
			case TakeoverInfo:
				ev.Data = withoutSecret(data)
			case RunInfo:
				ev.Data = withoutSecrets(data)
			}
			one.Stream = append(one.Stream, ev)
		}
		all.Runs = append(all.Runs, one)
	}
	for _, to := range s.Takeovers() {
		all.Takeovers = append(all.Takeovers, withoutSecret(to.Info()))
	}
	var err error
	if all.Events, err = s.Journal().Events(ctx, 0, 1000, capture.Filter{}); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func withoutSecrets(info RunInfo) RunInfo {
	info.Takeovers = slices.Clone(info.Takeovers)
	for i, to := range info.Takeovers {
		info.Takeovers[i] = withoutSecret(to)
	}
	return info
}

// difference returns the first line in which two texts differ.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %.300s | %.300s", i, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

// TestRestartForgetsNothingThatEnded checks that the API reports the same about
// an ended session after a restart as before.
func TestRestartForgetsNothingThatEnded(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	kept := openKept(t, dir)
	m, err := NewManager(managerOptions(Options{Dir: data, Store: kept}))
	if err != nil {
		t.Fatal(err)
	}
	s := create(t, m, CreateOptions{URL: site(t) + "/kept", Metadata: map[string]any{"for": "a test"}})
	if _, err := s.StartCapture(browsertest.Context(t, "start capture"), capture.Config{}); err != nil {
		t.Fatal(err)
	}
	tell(t, s, 0, 20)
	_, secret, err := s.CreateLink(links.Options{Role: RoleView})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := m.RedeemLink(secret, "192.0.2.0/24")
	if err != nil {
		t.Fatal(err)
	}
	r := startRun(t, s, `console.log('first'); await page.evaluate(() => console.error('said by the page')); console.warn('second');
const taken = await requestTakeover('please'); console.log(taken.note); await page.title(); return 'x'.repeat(2_000_000)`)
	to := openTakeoverOf(t, r)
	if err := to.Done("somebody", "a note"); err != nil {
		t.Fatal(err)
	}
	if n := len(resultOf[string](t, r)); n != 2_000_000 {
		t.Fatalf("the result has %d characters", n)
	}
	if info := endOf(t, startRun(t, s, `throw new TypeError('boom')`)); info.Status != RunFailed {
		t.Fatalf("the second run %s", info.Status)
	}
	inPage(t, s, `console.warn('said between runs')`)
	if err := s.Release("enough"); err != nil {
		t.Fatal(err)
	}
	before := told(t, s)
	for _, part := range []string{`"first"`, `"a note"`, `"TypeError"`, `said by the page`, `"enough"`, `"custom_n"`, `"a test"`, `/kept"`} {
		if !strings.Contains(before, part) {
			t.Errorf("%s is not told of before the restart", part)
		}
	}
	if err := errors.Join(m.Close(t.Context()), kept.Close()); err != nil {
		t.Fatal(err)
	}

	again := startManager(t, Options{Dir: data, Store: openKept(t, dir)})
	list := again.List()
	if len(list) != 1 || list[0].ID() != s.ID() {
		t.Fatalf("%d sessions are listed", len(list))
	}
	old := list[0]
	if after := told(t, old); after != before {
		t.Errorf("before and after the restart: %s", difference(before, after))
	}
	if log := old.Log(); !strings.Contains(log, "said by the page") || !strings.Contains(log, "said between runs") || !strings.Contains(log, "boom") {
		t.Errorf("a session of earlier has the log %q", log)
	}
	if strings.Contains(to.Info().URL, "#") == strings.Contains(old.Takeovers()[0].Info().URL, "#") {
		t.Error("the secret of a takeover's link was kept, or there was none")
	}
	for what, err := range map[string]error{
		"extend": old.Extend(time.Minute), "metadata": old.SetMetadata(nil), "release": old.Release(""),
		"run":      second(old.StartRun(RunOptions{Code: "1"})),
		"takeover": second(old.RequestTakeover(TakeoverOptions{Reason: "x"})),
		"capture":  second(old.StartCapture(t.Context(), capture.Config{})),
		"join":     second(old.Join(ViewerOptions{Role: RoleView})),
	} {
		if ended := (*EndedError)(nil); !errors.As(err, &ended) || ended.Reason != "enough" {
			t.Errorf("%s on a session of earlier gave %v", what, err)
		}
	}
	if _, err := again.RedeemLink(secret, ""); !isLinkEnded(err) {
		t.Errorf("its link gave %v", err)
	}
	if err := again.CheckGrant(grant); !isLinkEnded(err) {
		t.Errorf("a grant of its link gave %v", err)
	}
	if _, err := old.Journal().Read(old.Info().EventCount, capture.Filter{}).Next(t.Context()); err == nil {
		t.Error("an event has a number over the last one's")
	}
}

// isLinkEnded reports whether an error says that a link ended with its session.
func isLinkEnded(err error) bool {
	why, ok := errors.AsType[*links.Error](err)
	return ok && why.State == links.Ended && errors.Is(err, links.ErrInvalid)
}

func second[T any](_ T, err error) error { return err }

// TestRestartEndsWhatWasLive checks that sessions that were live when the process
// was killed have ended after the restart, with a reason.
func TestRestartEndsWhatWasLive(t *testing.T) {
	kept, data := openKept(t, t.TempDir()), t.TempDir()
	m := startManager(t, Options{Dir: data, Store: kept})
	s := create(t, m, CreateOptions{URL: site(t) + "/live"})
	_, secret, err := s.CreateLink(links.Options{Role: RoleControl})
	if err != nil {
		t.Fatal(err)
	}
	r := startRun(t, s, `await page.evaluate(() => console.warn('said so far')); console.log('so far'); await requestTakeover('please')`)
	to := openTakeoverOf(t, r)
	browsertest.Until(t, "the page's line is heard", func() bool { return strings.Contains(r.Log(), "said so far") })
	for what, written := range map[string]<-chan struct{}{
		"session": m.archive.Written(s.key(), s.write), "run": m.archive.Written(r.key(), r.write), "takeover": m.archive.Written(to.key(), to.write),
	} {
		waitFor(t, what+" is written", written)
	}

	// The first manager is not closed, as if its process had been killed. The
	// second one has the same server id.
	other, stranger := t.TempDir(), t.TempDir()
	id, err := os.ReadFile(filepath.Join(data, "server-id"))
	if err == nil {
		err = os.WriteFile(filepath.Join(other, "server-id"), id, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := len(startManager(t, Options{Dir: stranger, Store: kept}).List()); n != 0 {
		t.Errorf("a server of another name lists %d sessions", n)
	}
	for round := range 2 { // the second restart finds what the first one wrote
		m, err := NewManager(managerOptions(Options{Dir: other, Store: kept}))
		if err != nil {
			t.Fatal(err)
		}
		old, err := m.Get(s.ID())
		if err != nil {
			t.Fatal(err)
		}
		if info := old.Info(); info.Status != StatusFailed || info.EndReason != ReasonRestart || info.EndedAt == nil || !strings.HasSuffix(info.URL, "/live") || info.Takeover != nil || info.Controller != control.Nobody {
			t.Errorf("%d: the session is %+v", round, info)
		}
		run, err := old.Run(r.ID())
		if err != nil {
			t.Fatal(err)
		}
		if info := endOf(t, run); info.Status != RunFailed || info.EndedAt == nil || info.Error == nil || !strings.Contains(info.Error.Message, ReasonRestart) || len(info.Logs) != 1 || info.Logs[0].Text != "so far" {
			t.Errorf("%d: the run is %+v, %+v", round, info, info.Error)
		}
		log := run.Log()
		if !strings.Contains(log, ")\n```Error\n") || !strings.Contains(log, ReasonRestart) || !strings.Contains(log, "```Text console.warn\nsaid so far\n") || strings.Contains(log, "executing") {
			t.Errorf("%d: the run's log is %s", round, log)
		}
		if got := old.Log(); got != log {
			t.Errorf("%d: the session's log is %s", round, got)
		}
		if info := old.Takeovers()[0].Info(); info.ID != to.ID() || info.State != TakeoverCancelled || info.EndedAt == nil || info.Note != ReasonRestart {
			t.Errorf("%d: the takeover is %+v", round, info)
		}
		if len(m.Takeovers("pending")) != 0 {
			t.Errorf("%d: a takeover is pending", round)
		}
		if _, err := m.RedeemLink(secret, ""); round == 1 && !isLinkEnded(err) {
			t.Errorf("%d: its link gave %v", round, err)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestEndsAreStoredBeforeTheyAreTold reads the store at the moment at which somebody learns
// how a run or a takeover ended: a process that is killed now takes nothing with it.
func TestEndsAreStoredBeforeTheyAreTold(t *testing.T) {
	kept, data := openKept(t, t.TempDir()), t.TempDir()
	m := startManager(t, Options{Dir: data, Store: kept})
	s := create(t, m, CreateOptions{})
	server, err := os.ReadFile(filepath.Join(data, "server-id"))
	if err != nil {
		t.Fatal(err)
	}
	stored := func(key archive.Key, record any) {
		t.Helper()
		raw, err := archive.Get[json.RawMessage](t.Context(), m.archive.Of(strings.TrimSpace(string(server))), key)
		if err == nil {
			err = json.Unmarshal(raw, record)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // its beginning was written a moment before
		r := startRun(t, s, `return 42`)
		waitFor(t, "the run's end", r.Done())
		var run runRecord
		if stored(r.key(), &run); run.Status != RunSucceeded || run.DetailBytes == 0 {
			t.Fatalf("a run that has ended is stored as %+v", run)
		}
	}
	r := startRun(t, s, `await requestTakeover('please')`)
	to := openTakeoverOf(t, r)
	if err := to.Done("somebody", "all set"); err != nil {
		t.Fatal(err)
	}
	var info TakeoverInfo
	if stored(to.key(), &info); info.State != TakeoverDone || info.Note != "all set" {
		t.Errorf("a takeover that has ended is stored as %+v", info)
	}
	endOf(t, r)
}

// TestKeepIsBounded checks that the number, age and size of the kept sessions are
// limited.
func TestKeepIsBounded(t *testing.T) {
	now := time.Now().UTC()
	for name, c := range map[string]struct {
		keep KeepOptions
		want []string // ids of sessions, the newest first
	}{
		"all":   {KeepOptions{}, []string{"s0", "s1", "s2", "s3"}},
		"count": {KeepOptions{Sessions: 3}, []string{"s0", "s1", "s2"}},
		"age":   {KeepOptions{Age: 90 * time.Minute}, []string{"s0", "s1"}},
		"bytes": {KeepOptions{Bytes: 100_000}, []string{"s0"}},
	} {
		t.Run(name, func(t *testing.T) {
			kept, data := openKept(t, t.TempDir()), t.TempDir()
			first := startManager(t, Options{Dir: data, Store: kept})
			for _, n := range []int{3, 2, 1, 0} { // each ended an hour before the next, and takes 60 kB
				id := fmt.Sprintf("s%d", n)
				at := now.Add(-time.Duration(n) * time.Hour)
				info := Info{ID: id, SessionID: id, Status: StatusReleased, CreatedAt: at.Add(-time.Minute), EndedAt: &at, Metadata: map[string]any{"long": strings.Repeat("x", 60_000)}}
				if _, err := first.archive.Set(t.Context(), archive.Key{Kind: archive.Sessions, Session: id}, info); err != nil {
					t.Fatal(err)
				}
				if _, err := first.archive.Set(t.Context(), archive.Key{Kind: archive.Takeovers, Session: id, ID: "to_1"}, TakeoverInfo{ID: "to_1", State: TakeoverDone}); err != nil {
					t.Fatal(err)
				}
			}
			m, err := NewManager(managerOptions(Options{Dir: data, Store: kept, Keep: c.keep}))
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, s := range m.List() {
				ids = append(ids, s.ID())
			}
			if !slices.Equal(ids, c.want) {
				t.Errorf("listed are %v, want %v", ids, c.want)
			}
			if err := m.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			for _, kind := range []archive.Kind{archive.Sessions, archive.Takeovers} {
				left := 0
				if err := archive.Read(t.Context(), first.archive, kind, func(archive.Key, json.RawMessage) (int, error) { left++; return 0, nil }); err != nil || left != len(c.want) {
					t.Errorf("%d %s are kept, %v", left, kind, err)
				}
			}
		})
	}
}

// TestCloseInTime checks that Close returns when its time is up, and that another
// Close can wait for the rest.
func TestCloseInTime(t *testing.T) {
	m, err := NewManager(managerOptions(Options{Dir: t.TempDir(), Store: openKept(t, t.TempDir())}))
	if err != nil {
		t.Fatal(err)
	}
	s := create(t, m, CreateOptions{})
	s.life.work.Add(1) // something in the session that takes longer
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no time")
	cancel(why)
	if err := m.Close(ctx); !errors.Is(err, why) {
		t.Errorf("closed: %v", err)
	}
	select {
	case <-s.Ended():
		t.Error("the session has ended")
	default:
	}
	s.life.work.Done()
	if err := m.Close(t.Context()); err != nil || !s.Status().Ended() {
		t.Errorf("closed again: %v, %s", err, s.Status())
	}
}

// tell adds n test events, numbered from first.
func tell(t *testing.T, s *Session, first, n int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		e, err := capture.NewEvent("custom_n", map[string]any{"n": i})
		if err == nil {
			_, err = s.Monitor().Add(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
