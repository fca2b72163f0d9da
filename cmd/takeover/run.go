package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// watchEvery is how often --watch looks at the file.
const watchEvery = 300 * time.Millisecond

// cleanUpTime is how long cancelling and releasing may take at the end.
const cleanUpTime = 15 * time.Second

// runCommand runs a script on a server.
type runCommand struct {
	Script  string          `arg:"" help:"The script; - reads it from standard input."`
	Session string          `help:"Run in this session instead of a new one." placeholder:"ID"`
	URL     string          `help:"Open this address first (in a new session)." placeholder:"URL"`
	Args    json.RawMessage `help:"JSON that the script sees as args." placeholder:"JSON"`
	Timeout time.Duration   `help:"How long the script may run, without the time it waits for a person." default:"5m"`
	Keep    bool            `help:"Leave the new session open afterwards."`
	Watch   bool            `help:"Run again in the same session whenever the file changes."`
}

// runner is one call of the command.
type runner struct {
	*runCommand
	client  *client
	json    bool
	std     streams
	session string
}

// Run runs the script once, or again and again.
func (r *runCommand) Run(ctx context.Context, c *cli, std streams) (err error) {
	if r.Session != "" && r.URL != "" {
		return usage("--url is for a new session; leave out --session")
	}
	if r.Watch && r.Script == "-" {
		return usage("--watch needs a file")
	}
	if len(r.Args) > 0 && !json.Valid(r.Args) {
		return usage("--args is not JSON")
	}
	code, err := r.read(std.in)
	if err != nil {
		return usage("%w", err)
	}
	api, err := c.client()
	if err != nil {
		return err
	}
	run := &runner{runCommand: r, client: api, json: c.JSON, std: std, session: r.Session}
	if run.session == "" {
		if err := run.create(ctx); err != nil {
			return err
		}
		if !r.Keep {
			defer func() { err = errors.Join(err, run.release(ctx)) }()
		}
	}
	if r.Watch {
		return run.watch(ctx, code)
	}
	return run.once(ctx, code)
}

func (r *runCommand) read(in io.Reader) (string, error) {
	if r.Script == "-" {
		raw, err := io.ReadAll(in)
		return string(raw), err
	}
	raw, err := os.ReadFile(r.Script)
	return string(raw), err
}

func (r *runner) create(ctx context.Context) error {
	body := map[string]any{"timeout": (24 * time.Hour).Milliseconds(), "idleTimeout": time.Hour.Milliseconds(), "metadata": map[string]any{"createdBy": "takeover run"}}
	if r.URL != "" {
		body["url"] = r.URL
	}
	var s sessionInfo
	if err := r.client.call(ctx, "POST", "/v1/sessions", body, &s); err != nil {
		return err
	}
	r.session = s.ID
	r.say("session %s", s.SessionViewerURL)
	return nil
}

func (r *runner) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	err := r.client.call(ctx, "POST", "/v1/sessions/"+r.session+"/release", nil, nil)
	if p := (*problem)(nil); errors.As(err, &p) && p.Status == 410 {
		return nil // it had ended before
	}
	return err
}

// say writes what is for the person at the terminal, beside the result.
func (r *runner) say(format string, args ...any) {
	if !r.json {
		fmt.Fprintf(r.std.err, format+"\n", args...)
	}
}

// watch runs the script, and again at each change of its file, until ctx ends.
func (r *runner) watch(ctx context.Context, code string) error {
	for {
		err := r.once(ctx, code)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			report(err, r.std)
		}
		r.say("waiting for a change of %s", r.Script)
		if code, err = r.changed(ctx, code); err != nil {
			return nil //nolint:nilerr // the person stopped watching
		}
	}
}

// changed waits until the file holds something else.
func (r *runner) changed(ctx context.Context, code string) (string, error) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick.C:
		}
		if now, err := r.read(nil); err == nil && now != code && now != "" { // editors replace files: it may be away for a moment
			return now, nil
		}
	}
}

// once runs the script and prints what comes of it.
func (r *runner) once(ctx context.Context, code string) error {
	body := map[string]any{"code": code, "timeout": r.Timeout.Milliseconds()}
	if r.Script != "-" {
		body["filename"] = filepath.Base(r.Script)
	}
	if len(r.Args) > 0 {
		body["args"] = r.Args
	}
	base := "/v1/sessions/" + r.session
	var run runInfo
	if err := r.client.call(ctx, "POST", base+"/scripts", body, &run); err != nil {
		return err
	}
	asked := map[string]bool{}
	err := r.client.stream(ctx, base+"/runs/"+run.ID+"/stream", func(event string, data []byte) (bool, error) {
		if r.json {
			fmt.Fprintf(r.std.out, `{"event":%q,"data":%s}`+"\n", event, data)
		}
		switch event {
		case "log":
			var l logLine
			if err := json.Unmarshal(data, &l); err != nil {
				return false, err
			}
			r.say("%s", printable(l.Text))
		case "test":
			return true, r.test(data)
		case "takeover":
			return true, r.takeover(data, asked)
		case "end":
			return false, json.Unmarshal(data, &run)
		}
		return true, nil
	})
	if err != nil {
		r.cancel(ctx, base+"/runs/"+run.ID)
		return err
	}
	return r.finish(run)
}

// takeover prints the link for a person, the first time it is asked for one.
// The link works for whoever gets it, as long as the takeover is open.
func (r *runner) takeover(data []byte, asked map[string]bool) error {
	var t takeoverInfo
	if err := json.Unmarshal(data, &t); err != nil {
		return fmt.Errorf("read takeover: %w", err)
	}
	if t.State == "pending" && !asked[t.ID] {
		asked[t.ID] = true
		r.say("a person is needed: %s\n  %s", printable(t.Reason), t.URL)
	}
	return nil
}

// cancel stops a run that nobody waits for any more.
func (r *runner) cancel(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	_ = r.client.call(ctx, "POST", path+"/cancel", nil, nil) // the release that follows ends it too
}

// finish prints the result, or why there is none.
func (r *runner) finish(run runInfo) error {
	if len(run.Tests) > 0 {
		return r.finishTests(run)
	}
	if run.Status == "succeeded" {
		if !r.json {
			result := run.Result
			if len(result) == 0 {
				result = json.RawMessage("null")
			}
			fmt.Fprintf(r.std.out, "%s\n", result)
		}
		return nil
	}
	if r.json || run.Error == nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("the run ended: %s", run.Status)}
	}
	return &exitError{code: exitFailed, err: errors.New(r.words(run.Error))}
}

// words is an error with where in the script it is.
func (r *runner) words(e *runError) string {
	where := ""
	if e.Line > 0 {
		where = fmt.Sprintf(" (%s:%d:%d)", r.Script, e.Line, e.Column)
	}
	return fmt.Sprintf("%s: %s%s", e.Name, printable(e.Message), where)
}
