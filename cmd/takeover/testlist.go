package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// testMarks are the marks for the outcomes of tests.
var testMarks = map[string]string{"passed": "✓", "failed": "✗", "skipped": "–"}

// test prints the outcome of one of the script's tests.
func (r *runner) test(data []byte) error {
	var t testInfo
	if err := json.Unmarshal(data, &t); err != nil {
		return fmt.Errorf("read test: %w", err)
	}
	if r.json {
		return nil
	}
	took := ""
	if t.Status != "skipped" {
		took = fmt.Sprintf(" (%v)", time.Duration(t.DurationMS*float64(time.Millisecond)).Round(time.Millisecond))
	}
	fmt.Fprintf(r.std.out, "%s %s%s\n", testMarks[t.Status], printable(t.Title), took)
	if t.Error != nil {
		fmt.Fprintf(r.std.out, "    %s\n", strings.ReplaceAll(r.words(t.Error), "\n", "\n    "))
	}
	return nil
}

// finishTests prints how many tests had each outcome. Failed tests have already
// printed their errors.
func (r *runner) finishTests(run runInfo) error {
	counts := map[string]int{}
	for _, t := range run.Tests {
		counts[t.Status]++
	}
	var parts []string
	for _, status := range []string{"passed", "failed", "skipped"} {
		if n := counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	if !r.json {
		fmt.Fprintln(r.std.out, strings.Join(parts, ", "))
	}
	switch {
	case run.Status == "succeeded":
		return nil
	case counts["failed"] > 0:
		return &exitError{code: exitFailed, err: fmt.Errorf("%d of %d tests failed", counts["failed"], len(run.Tests))}
	case run.Error != nil:
		return &exitError{code: exitFailed, err: fmt.Errorf("%s", r.words(run.Error))}
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("the run ended: %s", run.Status)}
}
