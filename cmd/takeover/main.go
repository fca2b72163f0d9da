// Command takeover is the server and its command line: serve runs the server,
// the other commands talk to one that runs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"takeover/scripting"
)

// Exit codes: exitFailed is for what was tried and did not succeed, exitUsage
// for what was not understood.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// cli is every command and the flags that all of them have.
type cli struct {
	Server string `help:"Address of the server that the other commands talk to." default:"http://127.0.0.1:8080" env:"TAKEOVER_URL" group:"Connection"`
	Key    string `help:"API key; by default the first of TAKEOVER_API_KEY, or the one kept in the data directory." placeholder:"KEY" group:"Connection"`
	JSON   bool   `help:"Write JSON." name:"json"`

	Serve     serveCommand     `cmd:"" help:"Run the server."`
	Run       runCommand       `cmd:"" help:"Run a script: prints its logs, the link when it asks for a person, and the result as JSON. Exit code 0 when it succeeded, 1 when it failed, 2 for a wrong call."`
	Sessions  sessionsCommand  `cmd:"" help:"List, show, release and open sessions."`
	Takeovers takeoversCommand `cmd:"" help:"List the takeovers that wait for a person."`
	Doctor    doctorCommand    `cmd:"" help:"Check what the server needs on this machine, and say how to mend it."`
	Version   versionCommand   `cmd:"" help:"Print the version."`

	ScriptWorker struct{} `cmd:"" hidden:"" help:"What the server starts for each run."`
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exitError ends the program with a code of its own. Its text, if any, is
// printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// workerCommand is the hidden subcommand that the server starts for each run.
const workerCommand = "script-worker"

func main() {
	if len(os.Args) == 2 && os.Args[1] == workerCommand {
		scripting.WorkerMain() // before anything else: a run waits for it; does not return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := realMain(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// realMain is main without the process around it.
func realMain(ctx context.Context, args []string, std streams) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c, kong.Name("takeover"), kong.Description("A remote browser that scripts drive and people take over."),
		kong.UsageOnError(), kong.Writers(std.out, std.err), kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Vars{"data_dir": defaultDataDir()})
	if err != nil {
		fmt.Fprintln(std.err, "takeover:", err)
		return exitFailed
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help
		return exited
	}
	if err != nil {
		fmt.Fprintln(std.err, "takeover:", err)
		fmt.Fprintln(std.err, "Try: takeover --help")
		return exitUsage
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	return report(parsed.Run(&c, std), std)
}

// report prints why a command failed, and gives its exit code.
func report(err error, std streams) int {
	if err == nil {
		return exitOK
	}
	code := exitFailed
	if exit := (*exitError)(nil); errors.As(err, &exit) {
		code = exit.code
		if exit.err == nil {
			return code
		}
	}
	fmt.Fprintln(std.err, "takeover:", err)
	return code
}
