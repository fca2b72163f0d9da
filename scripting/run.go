package scripting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"takeover/scripting/wire"
)

// memoryPeriod is the time between two checks of a worker's resident memory.
const memoryPeriod = 20 * time.Millisecond

// The reasons to end a run's worker.
var (
	errRunOver     = errors.New("the run has ended")
	errOutOfMemory = errors.New("out of memory")
	errBacklog     = errors.New("the script does not read the results of its operations")
	errProtocol    = errors.New("the script worker violates the protocol")
	errTimeUp      = errors.New("time is up")
	errStuck       = errors.New("the script did not yield")
)

// Run is one execution of one script. All methods may be called from any
// goroutine.
type Run struct {
	limits Limits
	proc   *process
	ops    Operations
	sink   Sink
	clock  *clock
	script Script

	ctx    context.Context // context of the run's operations; its cause says why it ended
	cancel context.CancelCauseFunc
	stuck  chan struct{}  // gets a token when the worker reports that it is stuck
	calls  sync.WaitGroup // running operations

	mu       sync.Mutex // guards what follows
	pending  map[uint64]context.CancelCauseFunc
	underWay int // bytes of the parameters of pending operations

	// Owned by the goroutine that reads the worker's frames until that goroutine
	// has ended.
	end       *wire.Result
	logBytes  int
	steps     int
	lasted    int // steps that the worker told of while they lasted
	tests     int
	truncated bool

	begun  chan struct{} // closed when the worker has started the script, or has ended
	done   chan struct{}
	result Result // set before done is closed
}

// newRun sends the script to the worker.
func newRun(ctx context.Context, p *Pool, proc *process, s Script, ops Operations, sink Sink) (*Run, error) {
	payload, err := json.Marshal(wire.Script{Code: s.Code, Filename: s.Filename, Args: s.Args, Serve: s.Serve})
	if err != nil {
		return nil, fmt.Errorf("script arguments: %w", err)
	}
	r := &Run{
		limits: p.o.Limits, proc: proc, ops: ops, sink: sink, script: s,
		clock:   newClock(s.Timeout),
		pending: map[uint64]context.CancelCauseFunc{},
		stuck:   make(chan struct{}, 1),
		begun:   make(chan struct{}),
		done:    make(chan struct{}),
	}
	if s.Serve {
		r.clock.pause()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.ctx, func() { cancel(context.Cause(p.ctx)) })
	r.ctx = ctx
	r.cancel = func(cause error) {
		stop()
		cancel(cause)
	}
	proc.out.push(wire.Frame{Kind: wire.KindRun, Payload: payload})
	return r, nil
}

// Emit sends the script's API an event. It never blocks; events and answers
// arrive in the order they were given.
func (r *Run) Emit(event string, params json.RawMessage) {
	r.push(wire.Frame{Kind: wire.KindEvent, Name: event, Payload: params})
}

// Pause stops the run's clock, for example while a person has taken over. Pauses
// nest.
func (r *Run) Pause() { r.clock.pause() }

// Resume ends one Pause.
func (r *Run) Resume() { r.clock.resume() }

// Times returns how long the run has taken so far without its pauses, and how long it
// was paused.
func (r *Run) Times() (ran, paused time.Duration) { return r.clock.read() }

// Cancel ends the run at once, whatever the script is doing. The result gives
// cause as the reason. With nil, it only says that the run was cancelled.
func (r *Run) Cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	r.cancel(cause)
}

// Done returns a channel that is closed when the run and all its operations have
// ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait waits for the end of the run.
func (r *Run) Wait() Result {
	<-r.done
	return r.result
}

// supervise watches the run until it and all its operations have ended.
func (r *Run) supervise() {
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		r.read()
	}()
	r.watch(reading)
	// Once the worker is dead and its last frames are read, no operation can start
	// any more.
	r.proc.kill()
	<-reading
	cause := context.Cause(r.ctx)
	r.cancel(errRunOver)
	r.calls.Wait()
	r.proc.close()
	r.result = r.conclude(cause)
	r.clock.stop()
	r.result.Duration, r.result.Paused = r.clock.read()
	close(r.done)
}

// watch returns when the worker has to be killed or has ended by itself.
func (r *Run) watch(reading <-chan struct{}) {
	memory := time.NewTicker(memoryPeriod)
	defer memory.Stop()
	var grace <-chan time.Time // fires when an interrupt should have taken effect
	var reason error
	for {
		select {
		case <-reading:
			return
		case <-r.ctx.Done():
			return
		case <-r.clock.expired:
			reason = errTimeUp
			r.push(wire.Frame{Kind: wire.KindInterrupt, Name: "the run exceeded its time of " + inShort(r.script.Timeout)})
		case <-r.stuck:
			reason = errStuck
		case <-grace:
			r.cancel(reason)
			return
		case <-memory.C:
			if resident, _ := r.proc.resident(); resident > r.limits.Memory {
				r.cancel(errOutOfMemory)
				return
			}
		}
		if reason != nil && grace == nil {
			timer := time.NewTimer(r.limits.KillDelay)
			defer timer.Stop()
			grace = timer.C
		}
	}
}

// read handles the worker's frames. It returns after the last one, or after one
// that violates the protocol.
func (r *Run) read() {
	begin := sync.OnceFunc(func() { close(r.begun) })
	defer begin()
	for {
		f, err := wire.Read(r.proc.in)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.cancel(errProtocol)
			}
			return
		}
		if f.Kind != wire.KindReady {
			begin()
		}
		switch f.Kind {
		case wire.KindReady:
		case wire.KindCall:
			if !r.begin(f) {
				r.cancel(errProtocol) // a worker of ours would have refused the call itself
				return
			}
		case wire.KindLog:
			r.log(f)
		case wire.KindStep:
			if r.steps++; r.steps > r.limits.Steps {
				r.truncated = true
				continue
			}
			r.step(f, r.sink.Step)
		case wire.KindBegun:
			if r.lasted++; r.lasted <= r.limits.Steps {
				r.step(f, r.sink.Begun)
			}
		case wire.KindTest:
			r.test(f)
		case wire.KindAbort:
			r.abort(f)
		case wire.KindStuck:
			select {
			case r.stuck <- struct{}{}:
			default:
			}
		case wire.KindEnd:
			end, ok := readResult(f.Payload, r.limits)
			if !ok {
				r.cancel(errProtocol)
				return
			}
			r.end = end
			return
		default:
			r.cancel(errProtocol)
			return
		}
	}
}

// begin starts an operation. It returns false if the operation's id is in use, or
// if too many operations, or too many bytes of their parameters, would be under
// way.
func (r *Run) begin(f wire.Frame) bool {
	ctx, cancel := context.WithCancelCause(r.ctx)
	r.mu.Lock()
	_, twice := r.pending[f.ID]
	ok := !twice && len(r.pending) < r.limits.Pending && r.underWay+len(f.Payload) <= r.limits.UnderWay
	if ok {
		r.pending[f.ID] = cancel
		r.underWay += len(f.Payload)
	}
	r.mu.Unlock()
	if !ok {
		cancel(nil)
		return false
	}
	carryOut := r.ops.Begin(f.Name, f.Payload)
	r.calls.Go(func() {
		result, err := carryOut(ctx)
		r.mu.Lock()
		delete(r.pending, f.ID)
		r.underWay -= len(f.Payload)
		r.mu.Unlock()
		aborted, _ := errors.AsType[abortedError](context.Cause(ctx))
		cancel(nil)
		if r.ctx.Err() != nil {
			return // the run and its script are over, so this error does not matter
		}
		if err != nil {
			r.push(wire.Frame{Kind: wire.KindFailure, ID: f.ID, Payload: encodeError(aborted.explain(err))})
			return
		}
		r.push(wire.Frame{Kind: wire.KindAnswer, ID: f.ID, Payload: result})
	})
	return true
}

// abort makes an operation fail because the script no longer waits for it.
func (r *Run) abort(f wire.Frame) {
	r.mu.Lock()
	cancel := r.pending[f.ID]
	r.mu.Unlock()
	if cancel != nil { // the operation may have just ended
		cancel(abortedError(f.Name))
	}
}

// abortedError is the reason why the script no longer waits for an operation, or
// "" if it still waits.
type abortedError string

func (e abortedError) Error() string { return string(e) }

// explain returns the error to report for a failed operation. For an aborted one,
// that is the reason, with the log that follows the reason in err.
func (e abortedError) explain(err error) error {
	if e == "" {
		return err
	}
	if i := strings.Index(err.Error(), string(e)); i > 0 {
		return errors.New(err.Error()[i:])
	} else if i == 0 {
		return err
	}
	return e
}

// push sends a frame to the worker. If the worker does not read, push ends the
// run.
func (r *Run) push(f wire.Frame) {
	if !r.proc.out.push(f) && r.proc.alive() && r.ctx.Err() == nil {
		r.cancel(errBacklog)
	}
}

func (r *Run) log(f wire.Frame) {
	r.logBytes += len(f.Payload) + wire.LineCost
	if r.logBytes > r.limits.LogSize || !levels[f.Name] {
		r.truncated = true
		return
	}
	r.sink.Log(Log{Level: f.Name, Text: string(f.Payload), Time: instant(float64(f.ID) / 1000)})
}

// step tells the sink of a step that has ended, or has begun.
func (r *Run) step(f wire.Frame, tell func(Step)) {
	s, ok := readStep(f.Payload)
	if !ok {
		r.cancel(errProtocol)
		return
	}
	tell(s)
}

func (r *Run) test(f wire.Frame) {
	if r.tests++; r.tests > r.limits.Tests {
		r.truncated = true
		return
	}
	t, ok := readTest(f.Payload)
	if !ok {
		r.cancel(errProtocol)
		return
	}
	r.sink.Test(t)
}

// conclude returns the result of the run. cause is the reason why it was ended,
// or nil if it ended by itself.
func (r *Run) conclude(cause error) Result {
	res := Result{Value: json.RawMessage("null"), Truncated: r.truncated}
	fail := func(status, name, message string) Result {
		res.Status = status
		res.Err = &ScriptError{Name: name, Message: message}
		return res
	}
	switch {
	case r.end != nil:
		res.Status, res.Err = r.end.Status, r.end.Err
		res.Truncated = res.Truncated || r.end.Truncated
		if len(r.end.Value) > 0 {
			res.Value = r.end.Value
		}
		return res
	case cause == nil:
		return r.concludeDeath(fail)
	case errors.Is(cause, errOutOfMemory):
		return fail(StatusFailed, "Error", outOfMemory)
	case errors.Is(cause, errBacklog), errors.Is(cause, errProtocol):
		return fail(StatusFailed, "Error", cause.Error())
	case errors.Is(cause, errTimeUp):
		return fail(StatusTimeout, "TimeoutError", "the run exceeded its time of "+inShort(r.script.Timeout)+" and could not be interrupted")
	case errors.Is(cause, errStuck):
		return fail(StatusTimeout, "TimeoutError", fmt.Sprintf("the script did not yield for %v and could not be interrupted", r.limits.TurnTime))
	case errors.Is(cause, context.Canceled):
		return fail(StatusCancelled, "Error", "the run was cancelled")
	default:
		return fail(StatusCancelled, "Error", "the run was cancelled: "+cause.Error())
	}
}

const outOfMemory = "out of memory"

// concludeDeath returns why a worker died that the server did not kill. Only
// stderr has the Go runtime's reason.
func (r *Run) concludeDeath(fail func(status, name, message string) Result) Result {
	text := r.proc.stderr.String()
	switch {
	case strings.Contains(text, "stack overflow"), strings.Contains(text, "stack exceeds"):
		return fail(StatusFailed, "RangeError", "Maximum call stack size exceeded")
	case strings.Contains(text, "out of memory"), strings.Contains(text, "cannot allocate memory"):
		return fail(StatusFailed, "Error", outOfMemory)
	case killedByCPULimit(r.proc.cmd.ProcessState):
		return fail(StatusTimeout, "TimeoutError", "the script used all its processor time")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return fail(StatusFailed, "Error", strings.TrimSuffix(fmt.Sprintf("the script worker died (%v): %s", r.proc.cmd.ProcessState, line), ": "))
}

// encodeError encodes an operation's error for the script.
func encodeError(err error) []byte {
	e := wire.Failure{Name: "Error", Message: err.Error()}
	var named interface{ ErrorName() string }
	if errors.As(err, &named) {
		e.Name = named.ErrorName()
	}
	var fields interface{ ErrorFields() map[string]any }
	if errors.As(err, &fields) {
		e.Fields = fields.ErrorFields()
	}
	payload, marshalErr := json.Marshal(e)
	if marshalErr != nil { // a field that JSON cannot express
		e.Fields = nil
		payload, _ = json.Marshal(e)
	}
	return payload
}

// inShort writes a duration without the zeros at its end: 5m, not 5m0s.
func inShort(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
