package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// watchEvery is the interval at which --watch checks the file.
const watchEvery = 300 * time.Millisecond

// beginTime is how long the server may take to start a run.
const beginTime = time.Minute

// cleanUpTime is how long cancelling and releasing may take at the end.
const cleanUpTime = 15 * time.Second

// runCommand runs a script on a server.
type runCommand struct {
	Script   string          `arg:"" help:"The script; - reads it from standard input."`
	Session  string          `help:"Run in this session instead of a new one." placeholder:"ID"`
	URL      string          `help:"Open this address first (in a new session)." placeholder:"URL"`
	Args     json.RawMessage `help:"JSON that the script gets as args, such as '{\"name\": \"Ada\"}'." placeholder:"JSON"`
	Timeout  time.Duration   `help:"How long the script may run, not counting the time it waits for a person." default:"5m"`
	Download string          `help:"After the run, download the files that it left in the session to this folder. Files of the same names are replaced." placeholder:"DIR" type:"path"`
	Keep     bool            `help:"Leave the new session open afterwards, with its files. It ends when nobody has used it for an hour."`
	Watch    bool            `help:"Run again in the same session whenever the file changes."`
}

// Help returns additional text for the help of run.
func (*runCommand) Help() string {
	return "Prints the script's logs, and the link when it asks for a person, to standard error, and the result as JSON to standard output. A null or undefined result prints nothing. " +
		"Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted."
}

// runner is one execution of the command.
type runner struct {
	*runCommand
	client  *client
	json    bool
	std     streams
	session string
	code    string     // code of the current run
	had     []fileInfo // the session's files from before the run
}

// Run runs the script once, or again at each change with --watch.
func (r *runCommand) Run(ctx context.Context, c *cli, std streams) (err error) {
	if r.Session != "" && r.URL != "" {
		return usage("--url is for a new session; leave out --session")
	}
	if r.Watch && r.Script == "-" {
		return usage("--watch needs a file")
	}
	if len(r.Args) > 0 && !json.Valid(r.Args) {
		return usage(`--args is not JSON: write it as in --args '{"name": "Ada"}'`)
	}
	if r.Timeout == 0 {
		return usage("--timeout: a run needs some time, such as 90s or 5m")
	}
	if r.Script == "-" && isTerminal(std.in) {
		end := "Ctrl-D"
		if runtime.GOOS == "windows" {
			end = "Ctrl-Z and Enter"
		}
		fmt.Fprintf(std.err, "reading the script from standard input; %s ends it\n", end)
	}
	code, err := r.read(std.in)
	if err != nil {
		return usage("%w", err)
	}
	if strings.TrimSpace(code) == "" && !r.Watch {
		return usage("the script is empty")
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
		} else {
			defer run.say("session %s stays open; takeover sessions release %s ends it", run.session, run.session)
		}
	}
	if r.Watch {
		return run.watch(ctx, code)
	}
	return run.once(ctx, code)
}

// isTerminal reports whether a person types the input.
func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != os.DevNull && info.Name() != filepath.Base(os.DevNull)
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
		return nil // the session has already ended
	}
	return err
}

// say prints a message for the person at the terminal, separate from the result.
func (r *runner) say(format string, args ...any) {
	if !r.json {
		fmt.Fprintf(r.std.err, format+"\n", args...)
	}
}

// watch runs the script, and again after each change of its file, until ctx ends.
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

// changed waits until the content of the file is different.
func (r *runner) changed(ctx context.Context, code string) (string, error) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick.C:
		}
		if now, err := r.read(nil); err == nil && now != code && now != "" { // editors replace files, so the file may be missing for a moment
			return now, nil
		}
	}
}

// once runs the script and prints the outcome.
func (r *runner) once(ctx context.Context, code string) error {
	body := map[string]any{"code": code, "timeout": r.Timeout.Milliseconds()}
	if r.Script != "-" {
		body["filename"] = filepath.Base(r.Script)
	}
	if len(r.Args) > 0 {
		body["args"] = r.Args
	}
	base := "/v1/sessions/" + url.PathEscape(r.session)
	r.code = code
	if err := r.lookAtFiles(ctx); err != nil {
		return err
	}
	run, err := r.begin(ctx, base, body)
	if err != nil {
		return err
	}
	asked := map[string]bool{}
	err = r.client.stream(ctx, base+"/runs/"+run.ID+"/stream", func(event string, data []byte) (bool, error) {
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
	return errors.Join(r.finish(run), r.collect(ctx))
}

// begin starts the run. It waits for the response even if ctx ends meanwhile,
// because it needs the run's id to cancel it.
func (r *runner) begin(ctx context.Context, base string, body any) (run runInfo, err error) {
	begin, done := context.WithTimeout(context.WithoutCancel(ctx), beginTime)
	defer done()
	return run, r.client.call(begin, "POST", base+"/scripts", body, &run)
}

// lookAtFiles remembers which files an existing session had before the run, so that
// collect does not download them.
func (r *runner) lookAtFiles(ctx context.Context) (err error) {
	if r.Session != "" && r.Download != "" {
		r.had, err = r.client.files(ctx, r.session)
	}
	return err
}

// collect downloads the files that the run left, or warns that they will be
// deleted.
func (r *runner) collect(ctx context.Context) error {
	goes := r.Session == "" && !r.Keep && !r.Watch
	if r.Download == "" && !goes || ctx.Err() != nil {
		return nil //nolint:nilerr // an interrupted command reports that itself
	}
	all, err := r.client.files(ctx, r.session)
	if p := (*problem)(nil); errors.As(err, &p) && p.Status == http.StatusGone {
		return nil // the script ended its session
	} else if err != nil {
		return err
	}
	left := slices.DeleteFunc(all, func(f fileInfo) bool {
		return slices.ContainsFunc(r.had, func(g fileInfo) bool { return g.Name == f.Name && g.Size == f.Size && g.ModifiedAt.Equal(f.ModifiedAt) })
	})
	if r.Download != "" {
		return r.download(ctx, left)
	}
	if len(left) > 0 {
		r.say("the session's files go with it: %s\n  --download DIR fetches them, --keep leaves the session open", list(left))
	}
	return nil
}

// list joins the names of files, up to a readable number.
func list(files []fileInfo) string {
	const most = 10
	var names []string
	for i, f := range files {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(files)-most))
			break
		}
		names = append(names, f.String())
	}
	return strings.Join(names, ", ")
}

// download saves files to the folder given for them.
func (r *runner) download(ctx context.Context, files []fileInfo) error {
	if err := os.MkdirAll(r.Download, 0o755); err != nil { //nolint:gosec // the person's own folder
		return err
	}
	dir, err := os.OpenRoot(r.Download)
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, f := range files {
		if err := r.client.fetchInto(ctx, r.session, f.Name, dir, os.O_TRUNC); err != nil {
			return fmt.Errorf("download: %w", err)
		}
		r.say("downloaded %s", filepath.Join(r.Download, f.String()))
	}
	return nil
}

// takeover prints the link for a person, once per takeover. Whoever has the link
// can use it while the takeover is open.
func (r *runner) takeover(data []byte, asked map[string]bool) error {
	var t takeoverInfo
	if err := json.Unmarshal(data, &t); err != nil {
		return fmt.Errorf("read takeover: %w", err)
	}
	if t.State == "pending" && !asked[t.ID] {
		asked[t.ID] = true
		r.say("waiting for a person: %s\n  %s", printable(t.Reason), t.URL)
	}
	if over := endings[t.State]; over != "" && asked[t.ID] {
		asked[t.ID] = false
		r.say("%s", over)
	}
	return nil
}

// endings describe how a takeover ended.
var endings = map[string]string{
	"done": "the person is done; the script continues", "failed": "the person could not do it", "expired": "nobody finished it in time", "cancelled": "the request was cancelled",
}

// cancel cancels a run that nobody waits for any more.
func (r *runner) cancel(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	_ = r.client.call(ctx, "POST", path+"/cancel", nil, nil) // releasing the session will end the run, too
}

// finish prints the result, or the error.
func (r *runner) finish(run runInfo) error {
	if len(run.Tests) > 0 {
		return r.finishTests(run)
	}
	if run.Status == "succeeded" {
		if result := string(run.Result); !r.json && result != "" && result != "null" {
			fmt.Fprintf(r.std.out, "%s\n", result)
		}
		return nil
	}
	if r.json || run.Error == nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("the run ended: %s", run.Status)}
	}
	return &exitError{code: exitFailed, err: errors.New(r.words(run.Error))}
}

// words returns an error with its position in the script, and the lines around
// it.
func (r *runner) words(e *runError) string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Name, printable(e.Message))
	}
	first, more, _ := strings.Cut(strings.TrimRight(printable(e.Message), "\n"), "\n")
	text := fmt.Sprintf("%s: %s (%s:%d:%d)", e.Name, first, r.Script, e.Line, e.Column)
	for _, part := range []string{more, around(r.code, e.Line, e.Column)} {
		if part != "" {
			text += "\n" + part
		}
	}
	return text
}
