// Command bench measures Takeover against its references and prints one table.
//
// It is an outside program: it starts bin/takeover, talks to it as any other
// client would, and next to it drives a Chromium of its own over a bare pipe.
// Each figure is measured in the same run as its reference, in turns with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// bench is one group of rows that is measured together.
type bench struct {
	name  string
	run   func(ctx context.Context, e *env) ([]row, error)
	asked bool // takes so long that it is only measured when -only names it
}

// benches are all groups, in the order of the table. To add one: write a
// function that returns its rows, and name it here.
var benches = []bench{
	{name: "click", run: benchClick},
	{name: "rate", run: benchRate},
	{name: "viewers", run: benchViewers},
	{name: "stalled", run: benchStalled},
	{name: "distant", run: benchDistant},
	{name: "cost", run: benchCost},
	{name: "slow", run: benchSlow},
	{name: "start", run: benchStart},
	{name: "script", run: benchScript},
	{name: "run", run: benchRun},
	{name: "memory", run: benchMemory},
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
	for _, b := range benches {
		if !match.MatchString(b.name) || b.asked && *only == "" {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s\n", b.name)
		rows, err := b.run(ctx, e)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err != nil { // the others are still worth knowing
			rows = append(rows, row{what: b.name, failed: err})
		}
		report.rows = append(report.rows, rows...)
	}
	text := report.String()
	fmt.Print(text)
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
