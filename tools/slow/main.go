// Command slow runs every test and prints the slowest ones, Go's and those of the
// pages, and how long each Go package took.
//
//	go run ./tools/slow [-n 20] [-pages=false] [packages]
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	n := flag.Int("n", 20, "how many tests to print")
	pages := flag.Bool("pages", true, "also run the tests of the pages")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	if err := run(ctx, packages, *pages, *n, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "slow:", err)
		os.Exit(1)
	}
}

// timing is how long a test, or all tests of a package, took.
type timing struct {
	name    string
	seconds float64
}

// run runs the tests and writes what was slow. The error is that of the tests, after the
// tables.
func run(ctx context.Context, packages []string, pages bool, n int, w io.Writer) error {
	var tests, whole []timing
	failed := output(ctx, func(r io.Reader) (err error) {
		tests, whole, err = readGo(r)
		return err
	}, "go", append([]string{"test", "-race", "-vet=off", "-timeout", "60m", "-json"}, packages...)...)
	if pages {
		failed = errors.Join(failed, output(ctx, func(r io.Reader) error {
			of, err := readPages(r)
			tests = append(tests, of...)
			return err
		}, "npx", "--no-install", "playwright", "test", "-c", "e2e/playwright.config.ts", "--reporter=json"))
	}
	write(w, "slowest tests", tests, n)
	write(w, "packages", whole, n)
	return failed
}

// output runs a command and reads what it prints. A test that fails makes the command
// fail, after everything was read.
func output(ctx context.Context, read func(io.Reader) error, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	failed := read(out)
	_, _ = io.Copy(io.Discard, out) // so that the command can end
	if err := cmd.Wait(); err != nil {
		failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
	}
	return failed
}

// readGo reads the events of go test -json. Tests within tests count as part of these.
func readGo(r io.Reader) (tests, packages []timing, err error) {
	for dec := json.NewDecoder(r); ; {
		var e struct {
			Action, Package, Test, Output string
			Elapsed                       float64 // seconds
		}
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return tests, packages, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("read the events of go test: %w", err)
		}
		name := strings.TrimPrefix(e.Package, "takeover/")
		switch e.Action {
		case "fail":
			fmt.Fprintln(os.Stderr, "failed:", name, e.Test)
			fallthrough
		case "pass":
			if e.Test == "" {
				packages = append(packages, timing{name, e.Elapsed})
			} else if !strings.Contains(e.Test, "/") {
				tests = append(tests, timing{name + " " + e.Test, e.Elapsed})
			}
		}
	}
}

// suite is a file of Playwright's report, or a group in one.
type suite struct {
	Title  string
	Suites []suite
	Specs  []struct {
		Title string
		Tests []struct {
			Results []struct{ Duration float64 } // milliseconds
		}
	}
}

// timings returns the tests of a suite.
func (s suite) timings(file string) (tests []timing) {
	for _, spec := range s.Specs {
		one := timing{name: file + " " + spec.Title}
		for _, t := range spec.Tests {
			for _, result := range t.Results {
				one.seconds += result.Duration / 1000
			}
		}
		tests = append(tests, one)
	}
	for _, inner := range s.Suites {
		tests = append(tests, inner.timings(file)...)
	}
	return tests
}

// readPages reads the JSON report of Playwright.
func readPages(r io.Reader) (tests []timing, err error) {
	var report struct{ Suites []suite }
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("read the report of playwright: %w", err)
	}
	for _, file := range report.Suites {
		tests = append(tests, file.timings("e2e/"+file.Title)...)
	}
	return tests, nil
}

// write writes the slowest n as a table, and the sum of all.
func write(w io.Writer, what string, list []timing, n int) {
	slices.SortStableFunc(list, func(a, b timing) int { return cmp.Compare(b.seconds, a.seconds) })
	var sum float64
	for _, t := range list {
		sum += t.seconds
	}
	fmt.Fprintf(w, "\n| seconds | %s: %d, %.0f s together |\n|---|---|\n", what, len(list), sum)
	for _, t := range list[:min(n, len(list))] {
		fmt.Fprintf(w, "| %.1f | %s |\n", t.seconds, t.name)
	}
}
