package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"go.uber.org/goleak"

	"takeover/browser/browsertest"
	"takeover/screencast"
	"takeover/scripting"
	"takeover/scripting/worker"
	"takeover/scripting/workertest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == scripting.Subcommand {
		worker.Main(scripting.Bundles()) // a worker that a test's pool started; does not return
	}
	code := browsertest.Run(m, lent.End)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// startManager returns an empty registry that ends with the test.
func startManager(t *testing.T, o Options) *Manager {
	t.Helper()
	o.Dir = cmp.Or(o.Dir, t.TempDir())
	m, err := NewManager(managerOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// managerOptions returns options that make scripts run in workers of the test's
// own binary, which start when a script needs them: most tests run none, or one.
func managerOptions(o Options) Options {
	o.Executable = workertest.Command(scripting.Subcommand)
	o.ColdScripts = true
	return o
}

func create(t *testing.T, m *Manager, o CreateOptions) *Session {
	t.Helper()
	s, err := m.Create(browsertest.Context(t, "create"), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// site serves pages whose body counts the clicks on it.
func site(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>Page `+r.URL.Path[1:]+`</title><body style="height:600px;background:#def"
			onmousedown="downs++" onmouseup="ups++"><script>var downs=0, ups=0</script>`+r.URL.Path)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// viewer is a test's viewer; a goroutine of its own acknowledges its pictures.
type viewer struct {
	*Viewer
	t        *testing.T
	messages chan any
	pictures chan Picture // the newest pictures; older ones are dropped
}

func join(t *testing.T, s *Session, role Role) *viewer {
	t.Helper()
	return joinWith(t, s, ViewerOptions{Role: role, Name: t.Name()})
}

func joinWith(t *testing.T, s *Session, o ViewerOptions) *viewer {
	t.Helper()
	v, err := s.Join(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Hello(screencast.View{Width: 1280, Height: 720, PixelRatio: 1}); err != nil {
		t.Fatal(err)
	}
	tv := &viewer{Viewer: v, t: t, messages: make(chan any, 1000), pictures: make(chan Picture, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	go func() {
		defer func() { done <- struct{}{} }()
		for {
			m, err := v.NextMessage(ctx)
			if err != nil {
				return
			}
			tv.messages <- m
		}
	}()
	go func() {
		defer func() { done <- struct{}{} }()
		for {
			p, err := v.NextPicture(ctx)
			if err != nil {
				return
			}
			v.Ack(p.Seq)
			select {
			case <-tv.pictures:
			default:
			}
			tv.pictures <- p
		}
	}()
	t.Cleanup(func() {
		v.Leave()
		cancel()
		<-done
		<-done
	})
	return tv
}

// await returns the next message that match accepts.
func await[M any](v *viewer, what string, match func(M) bool) M {
	v.t.Helper()
	ctx := browsertest.Context(v.t, what)
	for {
		select {
		case m := <-v.messages:
			if typed, ok := m.(M); ok && match(typed) {
				return typed
			}
		case <-ctx.Done():
			v.t.Fatal(context.Cause(ctx))
		}
	}
}

func (v *viewer) picture(what string) Picture {
	v.t.Helper()
	ctx := browsertest.Context(v.t, what)
	select {
	case p := <-v.pictures:
		return p
	case <-ctx.Done():
		v.t.Fatal(context.Cause(ctx))
		return Picture{}
	}
}

func anyMessage[M any](M) bool { return true }

// waitFor waits until a channel is closed.
func waitFor(t *testing.T, what string, closed <-chan struct{}) {
	t.Helper()
	ctx := browsertest.Context(t, what)
	select {
	case <-closed:
	case <-ctx.Done():
		t.Fatal(context.Cause(ctx))
	}
}

// startRun starts a script and returns it.
func startRun(t *testing.T, s *Session, code string) *Run {
	t.Helper()
	r, err := s.StartRun(RunOptions{Code: code})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// endOf waits for a run's end.
func endOf(t *testing.T, r *Run) RunInfo {
	t.Helper()
	waitFor(t, "the run's end", r.Done())
	return r.Info()
}

// resultOf decodes the result of a run that must have succeeded.
func resultOf[T any](t *testing.T, r *Run) T {
	t.Helper()
	info := endOf(t, r)
	if info.Status != RunSucceeded {
		t.Fatalf("run %s: %+v\nsteps %+v", info.Status, info.Error, info.Steps)
	}
	var v T
	if err := json.Unmarshal(info.Result, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// logged waits until a run has logged a text.
func logged(t *testing.T, r *Run) {
	t.Helper()
	for ev, err := range r.Stream(browsertest.Context(t, "the script says something")) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == "log" {
			return
		}
		if ev.Type == "end" {
			t.Fatalf("ended: %+v", ev.Data)
		}
	}
}

// claim joins as a person who is asked for help and accepts the takeover. It
// returns the viewer and the epoch of its control.
func claim(t *testing.T, s *Session, to *Takeover) (*viewer, uint64) {
	t.Helper()
	v := join(t, s, RoleTakeover)
	v.picture("page")
	if err := v.Takeover("claim", to.ID(), ""); err != nil {
		t.Fatal(err)
	}
	return v, await(v, "control", func(m ControlMessage) bool { return m.Mine }).Epoch
}

// openTakeoverOf waits for the takeover that a run requests.
func openTakeoverOf(t *testing.T, r *Run) *Takeover {
	t.Helper()
	ctx := browsertest.Context(t, "takeover of the run")
	for ev, err := range r.Stream(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == "end" {
			t.Fatalf("the run ended without asking: %+v", ev.Data)
		}
		if info, ok := ev.Data.(TakeoverInfo); ok && info.State.Open() {
			to, err := r.session.Takeover(info.ID)
			if err != nil {
				t.Fatal(err)
			}
			return to
		}
	}
	t.Fatal(errors.New("the stream ended"))
	return nil
}
