// Command takeover is the server and its command line: serve runs the server, and
// the other commands talk to a running server. The server runs on Linux; for other
// systems, the program is built without it (server_other.go).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// Exit codes: exitFailed means that the command failed, exitUsage that the
// command line is wrong, and exitInterrupted that Ctrl-C ended the command.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

const about = `A remote browser that scripts drive and people take over.

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.`

// cli holds all commands, and the flags that they share.
type cli struct {
	Server  string      `help:"Address of the server that the other commands talk to." default:"${server}" env:"TAKEOVER_URL" group:"Connection"`
	Key     string      `help:"API key. Default: the first key in TAKEOVER_API_KEY, or the one in the data directory." placeholder:"KEY" group:"Connection"`
	JSON    bool        `help:"Write JSON." name:"json"`
	Release versionFlag `help:"Print the version." name:"version"`

	serverCommands

	Run          runCommand          `cmd:"" help:"Run a script or a Playwright Test file."`
	Sessions     sessionsCommand     `cmd:"" aliases:"list" help:"List, show, release and open sessions."`
	Files        filesCommand        `cmd:"" help:"List, fetch, add and remove a session's files."`
	Takeovers    takeoversCommand    `cmd:"" help:"List the takeovers that wait for a person."`
	Trajectories trajectoriesCommand `cmd:"" help:"List, show, zip and remove the bundles of recordings."`
	Profiles     profilesCommand     `cmd:"" help:"List, save, import, export, rename and remove profiles: what browsers have stored."`
	Events       eventsCommand       `cmd:"" help:"Show a session's events."`
	Nodes        nodesCommand        `cmd:"" help:"List the servers of the cluster."`
	Open         openCommand         `cmd:"" help:"Open a session's page in your browser."`
	Connect      connectCommand      `cmd:"" help:"Show how programs connect to a session: Playwright, Puppeteer, MCP hosts, curl."`
	Diagnose     diagnoseCommand     `cmd:"" help:"Find out what is wrong with a page."`
	MCP          mcpCommand          `cmd:"" name:"mcp" help:"Speak the Model Context Protocol on the standard streams, for a running server."`
	Version      versionCommand      `cmd:"" help:"Print the version; on Linux, also which Chromium would be used."`

	Licenses   licensesCommand   `cmd:"" help:"Print the licences of the program and of the parts that it contains."`
	Completion completionCommand `cmd:"" help:"Print a script that makes a shell complete commands and flags."`
}

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exitError ends the program with the given exit code. Its text, if any, is
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

func main() {
	runAsChild(os.Args[1:]) // before anything else, because a Chromium or a run waits for it
	os.Exit(realMain(untilSignal(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// stopSignal is the cause of a context that a signal ended.
type stopSignal struct{ os.Signal } //nolint:errname // a cause, which callers do not get as an error

func (s *stopSignal) Error() string { return "signal: " + s.String() }

// untilSignal returns a context that ends with the first signal to stop. The next one ends
// the process at once, unless the command listens for it.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		got := <-signals
		cancel(&stopSignal{got})
		signal.Stop(signals)
	}()
	return ctx
}

// realMain does the work of main, without the effects on the process.
func realMain(ctx context.Context, args []string, std streams) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c, kong.Name("takeover"), kong.Description(about),
		kong.UsageOnError(), kong.Writers(std.out, std.err), kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Help(printHelp), kong.Vars{"data_dir": defaultDataDir(), "server": defaultServer},
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(duration)))
	if err != nil {
		fmt.Fprintln(std.err, "takeover:", err)
		return exitFailed
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if len(args) == 0 { // a list of the commands helps more than an error about a missing one
		_, _ = parser.Parse([]string{"--help"})
		return exitUsage
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help
		return exited
	}
	if err != nil {
		command := ""
		if failed, ok := errors.AsType[*kong.ParseError](err); ok {
			for _, step := range failed.Context.Path {
				if step.Command != nil {
					command += step.Command.Name + " "
				}
			}
		}
		fmt.Fprintln(std.err, "takeover:", err)
		fmt.Fprintf(std.err, "Try: takeover %s--help\n", command)
		return exitUsage
	}
	if err := misplaced(parsed); err != nil {
		return report(err, std)
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(&c, std)
	if err != nil && ctx.Err() != nil && commandOf(parsed) != "serve" {
		err = &exitError{code: exitInterrupted, err: errors.New("interrupted")}
	}
	return report(err, std)
}

// report prints why a command failed, and returns its exit code.
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
