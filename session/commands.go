package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"takeover/control"
	"takeover/scripting"
)

const (
	// CommandTimeout is how long a command may take. The time in which the
	// program's own takeover is open does not count.
	CommandTimeout = 30 * time.Second
	// commandGrace is how long a cancelled command may take to say what it was
	// waiting for.
	commandGrace = 2 * time.Second
	// maxCommandResult bounds the result of a command, in bytes of JSON.
	maxCommandResult = 32 << 20
)

// errCommandTimeout is why a command is cancelled when its time is up.
var errCommandTimeout = errors.New("the command took too long")

// CommandError is the error of a command, as a script would get it.
type CommandError struct {
	Name    string // the error's class: Error, TimeoutError, TypeError, …
	Message string
}

// Error returns the name, unless it is Error, and the message.
func (e *CommandError) Error() string {
	if e.Name == "" || e.Name == "Error" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}

// Commands is a program that calls members of the script API's Page. A script
// worker carries out the calls, so they are what they are in scripts. The worker
// starts with the first command, and again after a crash. All methods may be
// called from any goroutine. End it with Close.
type Commands struct {
	program *Program
	timeout time.Duration // CommandTimeout, except in tests

	starting chan struct{} // held while a worker is started

	mu      sync.Mutex // guards what follows
	worker  *commandWorker
	last    uint64 // number of the last command
	waiting map[string]chan<- commandDone
	asking  int           // takeovers that commands wait for
	asked   chan struct{} // closed and replaced when asking falls to 0
}

// commandWorker is a script worker for one Chromium.
type commandWorker struct {
	client *Client
	ready  chan struct{} // closed when run is set
	run    *scripting.Run
}

// commandDone is a worker's report that a command has ended.
type commandDone struct {
	ID      string `json:"id"`
	Result  string `json:"result"` // JSON
	Name    string `json:"name"`   // of the error; empty if it succeeded
	Message string `json:"message"`
}

// OpenCommands lets a program that is named by name act in a session by commands.
func OpenCommands(s *Session, name control.Holder) (*Commands, error) {
	c := &Commands{timeout: CommandTimeout, starting: make(chan struct{}, 1), waiting: map[string]chan<- commandDone{}, asked: make(chan struct{})}
	var err error
	c.program, err = OpenProgram(s, name, ProgramOptions{late: true, Emit: func(client *Client, event string, params json.RawMessage) {
		if w := c.of(client); w != nil {
			w.run.Emit(event, params)
		}
	}})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Close cancels the commands and ends the worker.
func (c *Commands) Close() {
	c.mu.Lock()
	w := c.worker
	c.mu.Unlock()
	if w != nil {
		w.stop(ErrProgramClosed)
	}
	c.program.Close()
}

func (w *commandWorker) stop(cause error) {
	w.run.Cancel(cause)
	<-w.run.Done()
}

// of returns the worker for a client, once it has begun.
func (c *Commands) of(client *Client) *commandWorker {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.worker != nil && c.worker.client == client {
		return c.worker
	}
	return nil
}

// Begin begins a command; commands begin in the order of the calls. The returned
// function waits for its end and returns its result as JSON. It must be called, and
// its error is a *CommandError if the command failed. Begin and it together take at most
// CommandTimeout. chain is a JSON array of
// {method, args}: the first is a member of the page in a tab (0 for the one that
// people see), each further one a member of what the one before it returned.
func (c *Commands) Begin(ctx context.Context, tab uint32, chain json.RawMessage) (wait func(context.Context) (json.RawMessage, error), err error) {
	began := time.Now()
	c.program.session.Touch()
	starting, cancel := context.WithTimeoutCause(ctx, c.timeout, ErrNotReady)
	defer cancel()
	w, err := c.start(starting)
	if err != nil {
		return nil, err
	}
	names, err := w.client.Page(tab)
	if err != nil {
		return nil, err
	}
	done := make(chan commandDone, 1)
	c.mu.Lock()
	c.last++
	id := strconv.FormatUint(c.last, 10)
	c.waiting[id] = done
	c.mu.Unlock()
	if err := w.emit("command", map[string]any{"id": id, "page": names.Page, "chain": chain}); err != nil {
		c.forget(id)
		return nil, err
	}
	return func(ctx context.Context) (json.RawMessage, error) {
		defer c.forget(id)
		return c.result(ctx, w, id, began, done)
	}, nil
}

// forget drops a command for which nobody waits any more.
func (c *Commands) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// result waits for a command's end, and cancels it when its time is up or ctx ends.
func (c *Commands) result(ctx context.Context, w *commandWorker, id string, began time.Time, done <-chan commandDone) (json.RawMessage, error) {
	ended, err := c.await(ctx, w, began, done)
	if ended == nil && err != nil { // its time is up, or nobody waits any more
		_ = w.emit("command.cancel", map[string]any{"id": id, "reason": err.Error()}) // it can be encoded
		select {
		case d := <-done:
			ended = &d
		case <-time.After(commandGrace):
			return nil, err
		case <-w.run.Done():
			return nil, err
		}
	}
	if ended.Name != "" {
		return nil, &CommandError{ended.Name, c.program.session.monitor.Redactor().Values(ended.Message)}
	}
	return c.program.session.monitor.Redactor().JSON([]byte(ended.Result)), nil
}

// await waits until a command has ended, its time is up, or ctx ends. The command's
// time includes that of its worker's start.
func (c *Commands) await(ctx context.Context, w *commandWorker, began time.Time, done <-chan commandDone) (*commandDone, error) {
	timer := time.NewTimer(time.Until(began.Add(c.timeout)))
	defer timer.Stop()
	for {
		select {
		case d := <-done:
			return &d, nil
		case <-w.run.Done():
			select {
			case d := <-done:
				return &d, nil
			default:
			}
			return &commandDone{Name: "Error", Message: "the command's worker ended: " + w.end()}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timer.C:
			c.mu.Lock()
			asking, asked := c.asking > 0, c.asked
			c.mu.Unlock()
			why := c.program.session.control.Why(c.program.holder)
			switch {
			case !asking && why != nil:
				return nil, fmt.Errorf("%w, over %v: %w", errCommandTimeout, c.timeout, why)
			case !asking:
				return nil, fmt.Errorf("%w, over %v", errCommandTimeout, c.timeout)
			}
			select { // a person is asked to act: the time begins again when that has ended
			case d := <-done:
				return &d, nil
			case <-asked:
			case <-w.run.Done():
			case <-ctx.Done():
			}
			timer.Reset(c.timeout)
		}
	}
}

// end returns why the worker has ended.
func (w *commandWorker) end() string {
	if e := w.run.Wait().Err; e != nil {
		return e.Message
	}
	return "it has nothing to do"
}

func (w *commandWorker) emit(event string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	w.run.Emit(event, raw)
	return nil
}

// start returns the worker for the session's present Chromium, and starts it if
// there is none.
func (c *Commands) start(ctx context.Context) (*commandWorker, error) {
	select {
	case c.starting <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-c.starting }()
	client, err := c.program.Client(ctx) // only now: while it waited, Chromium may have crashed
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	last := c.worker
	c.mu.Unlock()
	if last != nil && last.client == client && !isClosed(last.run.Done()) {
		return last, nil
	}
	if last != nil {
		last.stop(errors.New("the browser has crashed"))
	}
	p := c.program
	if last != nil && last.client == client { // the worker died, and its names with it
		p.mu.Lock()
		p.client = nil
		p.mu.Unlock()
		client.actor.client.Close()
		if client, err = p.Client(ctx); err != nil {
			return nil, err
		}
	}
	w := &commandWorker{client: client, ready: make(chan struct{})}
	w.run, err = p.session.services.scripts.Start(p.ctx, scripting.Script{Serve: true}, commandOperations{c, w}, noReports{})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.worker = w
	c.mu.Unlock()
	close(w.ready)
	return w, nil
}

// commandOperations executes the operations of a worker that carries out commands.
type commandOperations struct {
	commands *Commands
	worker   *commandWorker
}

// Begin begins one operation, in its place.
func (o commandOperations) Begin(op string, params json.RawMessage) func(context.Context) (json.RawMessage, error) {
	ticket := o.commands.program.queue.Ticket(len(params))
	return func(ctx context.Context) (json.RawMessage, error) {
		<-o.worker.ready
		defer ticket.Leave()
		return o.call(ctx, op, params, ticket)
	}
}

func (o commandOperations) call(ctx context.Context, op string, params json.RawMessage, ticket *control.Ticket) (json.RawMessage, error) {
	if strings.HasPrefix(op, "command.") || op == "takeover.request" || op == "takeover.satisfy" || op == "assert" || op == "recording" {
		ticket.Begin()
		ticket.Leave()
	}
	switch op {
	case "command.serve":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "command.done":
		return o.commands.done(params)
	case "takeover.request":
		return o.commands.requestTakeover(ctx, params)
	case "takeover.satisfy":
		p := o.commands.program
		if t := p.session.openTakeover(); t != nil && t.program == p.holder {
			_ = t.Done("condition", "") // if it has just ended, the request has its outcome
		}
		return json.RawMessage("{}"), nil
	case "recording":
		return recordingOperation(o.commands.program.session, params)
	case "assert":
		return assertOperation(ctx, o.commands.program.session, o.commands.program.holder, params)
	}
	return o.worker.client.Do(ctx, Operation{Name: op, Params: params, Raw: true, ticket: ticket})
}

// done passes a command's result to its caller.
func (c *Commands) done(params json.RawMessage) (json.RawMessage, error) {
	var d commandDone
	if err := json.Unmarshal(params, &d); err != nil {
		return nil, err
	}
	if len(d.Result) > maxCommandResult || d.Name == "" && !json.Valid([]byte(d.Result)) {
		d.Name, d.Message = "RangeError", fmt.Sprintf("the result is larger than %d MiB", maxCommandResult>>20)
	}
	c.mu.Lock()
	waiting := c.waiting[d.ID]
	delete(c.waiting, d.ID)
	c.mu.Unlock()
	if waiting != nil { // somebody still waits for it
		waiting <- d
	}
	return json.RawMessage("{}"), nil
}

// requestTakeover asks for a person. The time of commands stands meanwhile.
func (c *Commands) requestTakeover(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	options, err := takeoverOptions(params)
	if err != nil {
		return nil, err
	}
	t, err := c.program.RequestTakeover(options)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.asking++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.asking--; c.asking == 0 {
			close(c.asked)
			c.asked = make(chan struct{})
		}
	}()
	return awaitTakeover(ctx, t)
}

// noReports drops what a worker logs and does: commands report themselves.
type noReports struct{}

// Log does nothing.
func (noReports) Log(scripting.Log) {}

// Step does nothing.
func (noReports) Step(scripting.Step)  {}
func (noReports) Begun(scripting.Step) {}

// Test does nothing.
func (noReports) Test(scripting.Test) {}
