// Command bench measures Takeover against its references and prints one table.
//
// It is an outside program: it starts bin/takeover, talks to it like any other
// client, and drives a Chromium of its own over a bare pipe. It measures each
// figure in the same run as its reference, alternating between them. Only the cost
// of redaction and a large directory of sessions are measured inside.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bench is a group of rows that are measured together.
type bench struct {
	name  string
	run   func(ctx context.Context, e *env) ([]row, error)
	asked bool // runs only when -only names it, because it takes long
}

// benches lists all groups in the order of the table. To add one, write a
// function that returns its rows, and list it here.
var benches = []bench{
	{name: "click", run: benchClick},
	{name: "rate", run: benchRate},
	{name: "viewers", run: benchViewers},
	{name: "stalled", run: benchStalled},
	{name: "distant", run: benchDistant},
	{name: "cost", run: benchCost},
	{name: "slow", run: benchSlow},
	{name: "tap", run: benchTap},
	{name: "start", run: benchStart},
	{name: "link", run: benchLink},
	{name: "script", run: benchScript},
	{name: "record", run: benchRecord},
	{name: "cdp", run: benchCDP},
	{name: "crowd", run: benchCrowd},
	{name: "run", run: benchRun},
	{name: "memory", run: benchMemory},
	{name: "load", run: benchLoad},
	{name: "flood", run: benchFlood},
	{name: "redaction", run: benchRedact},
	{name: "film", run: benchFilm},
	{name: "cluster", run: benchCluster},
	{name: "carry", run: benchCarry, asked: true},
	{name: "ended", run: benchEnded, asked: true},
	{name: "soak", run: benchSoak, asked: true},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	var names []string
	for _, b := range benches {
		names = append(names, b.name)
	}
	binary := flag.String("binary", "bin/takeover", "the server's executable")
	only := flag.String("only", "", "measure only groups that match this expression: "+strings.Join(names, " "))
	quick := flag.Bool("quick", false, "measure a tenth as long: to see that it works, not for figures")
	write := flag.String("write", "", "also write the table to this file")
	strict := flag.Bool("strict", false, "fail when a target is missed")
	soak := flag.Duration("soak", 10*time.Minute, "how long viewers come and go with -only soak")
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	busy := load()
	e, err := newEnv(ctx, *binary, *quick)
	if err != nil {
		return err
	}
	defer e.close()
	e.soak = *soak
	report := newReport(ctx, e.chromium, busy)
	report.rows, err = measure(ctx, e, chosen(match, *only == ""), groupLimit)
	text := report.String()
	fmt.Print(text)
	if err != nil {
		return err
	}
	if *write != "" {
		if err := os.WriteFile(*write, []byte(text), 0o644); err != nil { //nolint:gosec // a document
			return err
		}
	}
	if missed := report.missed(); *strict && missed > 0 {
		return fmt.Errorf("%d targets missed", missed)
	}
	return nil
}

// groupLimit bounds the duration of a group. The longest group needs a quarter of
// it.
const groupLimit = 10 * time.Minute

// chosen returns the matching groups. A pattern that matches everything excludes
// the groups that run only on request.
func chosen(match *regexp.Regexp, all bool) []bench {
	return slices.DeleteFunc(slices.Clone(benches), func(b bench) bool { return !match.MatchString(b.name) || b.asked && all })
}

// measure runs the groups one after the other, and reports progress on stderr.
// Each may take as long as limit; for a group that runs only on request, e.soak is
// added. A group that fails becomes a row that says so. When ctx ends, measure
// returns the rows so far with the error.
func measure(ctx context.Context, e *env, groups []bench, limit time.Duration) (rows []row, err error) {
	for i, b := range groups {
		fmt.Fprintf(os.Stderr, "measuring %s (%d of %d)\n", b.name, i+1, len(groups))
		began := time.Now()
		own := limit
		if b.asked {
			own += e.soak
		}
		limited, cancel := context.WithTimeoutCause(ctx, own, fmt.Errorf("not done within %v", own))
		measured, err := b.run(limited, e)
		if err != nil {
			err = cmp.Or(context.Cause(limited), err)
		}
		cancel()
		rows = append(rows, measured...)
		if ctx.Err() != nil {
			return rows, fmt.Errorf("interrupted while measuring %s", b.name)
		}
		if err != nil { // the other groups are still useful
			fmt.Fprintf(os.Stderr, "%s failed: %v\n", b.name, err)
			rows = append(rows, row{what: b.name, failed: err})
		}
		fmt.Fprintf(os.Stderr, "measured %s in %v\n", b.name, time.Since(began).Round(time.Second))
	}
	return rows, nil
}
