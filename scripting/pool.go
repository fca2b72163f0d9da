package scripting

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"takeover/scripting/source"
	"takeover/scripting/wire"
)

// Subcommand is the hidden subcommand that starts a worker.
const Subcommand = "script-worker"

// DefaultUID is the workers' user id when the server runs as root: nobody.
const DefaultUID = 65534

// PoolOptions says how workers are started. Zero fields get their defaults.
type PoolOptions struct {
	Executable []string     // command of a worker; default this binary with Subcommand
	Limits     Limits       // of each run
	Cold       bool         // keep no worker warm
	UID        int          // user id of workers when the server runs as root; default DefaultUID
	Logger     *slog.Logger // default: discard
}

// Pool starts runs and keeps one worker warm for the next. All methods may be
// called from any goroutine.
type Pool struct {
	o      PoolOptions
	ctx    context.Context // ends with the pool
	cancel context.CancelCauseFunc

	mu     sync.Mutex // guards what follows
	warm   *process   // has the API loaded, or is loading it
	closed bool
	wg     sync.WaitGroup // runs and starting workers; Add only while not closed
}

// NewPool returns a pool and starts its first worker.
func NewPool(o PoolOptions) *Pool {
	if len(o.Executable) == 0 {
		o.Executable = []string{"/proc/self/exe", Subcommand}
	}
	if o.UID == 0 {
		o.UID = DefaultUID
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Limits = withDefaults(o.Limits)
	p := &Pool{o: o}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	p.warmUp()
	return p
}

// Limits returns the limits of the pool's runs, with defaults filled in.
func (p *Pool) Limits() Limits { return p.o.Limits }

// Start begins a run. The run ends with the script, with ctx, with Cancel or with
// the pool. The error is ErrNotBuilt, ErrTooLarge, ErrPoolClosed, a *ScriptError
// for code whose brackets are nested too deep, one for Args that are not JSON, or
// the reason why no worker could be started. All other errors of the code are
// errors of the run.
func (p *Pool) Start(ctx context.Context, s Script, ops Operations, sink Sink) (*Run, error) {
	if !built() {
		return nil, ErrNotBuilt
	}
	if len(s.Code) > p.o.Limits.ScriptSize {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(s.Code), p.o.Limits.ScriptSize)
	}
	if s.Filename == "" {
		s.Filename = "script.ts"
	}
	if s.Timeout <= 0 || s.Timeout > p.o.Limits.RunTime {
		s.Timeout = p.o.Limits.RunTime
	}
	if refused := source.CheckNesting(s.Code, p.o.Limits.Nesting); refused != nil {
		refused.Stack = fmt.Sprintf("%s: %s\n    at %s:%d:%d", refused.Name, refused.Message, s.Filename, refused.Line, refused.Column)
		return nil, refused
	}
	if !p.enter() {
		return nil, ErrPoolClosed
	}
	proc, err := p.take()
	if err != nil {
		p.wg.Done()
		return nil, err
	}
	r, err := newRun(ctx, p, proc, s, ops, sink)
	if err != nil {
		proc.close()
		p.wg.Done()
		return nil, err
	}
	go func() {
		defer p.wg.Done()
		var next sync.WaitGroup
		next.Go(func() {
			<-r.begun // not earlier, because starting a worker would delay the start of this run
			p.warmUp()
		})
		r.supervise()
		next.Wait()
	}()
	return r, nil
}

// Close cancels all runs and returns when no worker is left.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	warm := p.warm
	p.warm = nil
	p.mu.Unlock()
	p.cancel(ErrPoolClosed)
	if warm != nil {
		warm.close()
	}
	p.wg.Wait()
	return nil
}

// enter counts one more user of the pool, unless it is closed.
func (p *Pool) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.wg.Add(1)
	return true
}

// take returns the warm worker if there is one, otherwise a new one.
func (p *Pool) take() (*process, error) {
	p.mu.Lock()
	warm := p.warm
	p.warm = nil
	p.mu.Unlock()
	if warm != nil {
		if warm.alive() {
			return warm, nil
		}
		p.o.Logger.Warn("warm script worker died", "state", warm.cmd.ProcessState.String(), "stderr", warm.stderr.String())
		warm.close()
	}
	return p.startWorker()
}

func (p *Pool) startWorker() (*process, error) {
	setup := wire.Setup{Limits: p.o.Limits}
	if isRoot() {
		setup.UID = p.o.UID
	}
	return startProcess(p.o.Executable, setup)
}

// warmUp starts a worker for the next run if none is waiting.
func (p *Pool) warmUp() {
	if p.o.Cold || !built() || !p.enter() {
		return
	}
	defer p.wg.Done()
	p.mu.Lock()
	have := p.warm != nil
	p.mu.Unlock()
	if have {
		return
	}
	proc, err := p.startWorker()
	if err != nil {
		p.o.Logger.Warn("cannot keep a script worker warm", "error", err)
		return
	}
	p.mu.Lock()
	if p.warm == nil && !p.closed {
		p.warm, proc = proc, nil
	}
	p.mu.Unlock()
	if proc != nil {
		proc.close()
	}
}
