package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is one line of the table.
type row struct {
	what      string
	ours      float64
	reference float64 // 0 if there is no reference
	unit      string
	target    target
	note      string
	failed    error // why the measurement failed
}

// target is the figure to reach: a ratio to the reference, or a value.
type target struct {
	ratio bool
	least bool // the figure must be at least limit; otherwise at most
	limit float64
}

func atMostTimes(limit float64) target  { return target{ratio: true, limit: limit} }
func atLeastTimes(limit float64) target { return target{ratio: true, least: true, limit: limit} }
func atMost(limit float64) target       { return target{limit: limit} }
func atLeast(limit float64) target      { return target{least: true, limit: limit} }

func (t target) String() string {
	sign, times := "≤", ""
	if t.least {
		sign = "≥"
	}
	if t.ratio {
		times = "×"
	}
	return fmt.Sprintf("%s %s%s", sign, number(t.limit), times)
}

func (r row) ok() bool {
	if r.failed != nil {
		return false
	}
	v := r.ours
	if r.target.ratio {
		v /= r.reference
	}
	if r.target.least {
		return v >= r.target.limit
	}
	return v <= r.target.limit
}

// report is the whole table, with the machine.
type report struct {
	rows    []row
	machine []string
	busy    float64 // average number of busy processors before the run
}

func newReport(ctx context.Context, chromium string, busy float64) *report {
	version, err := exec.CommandContext(ctx, chromium, "--version").Output()
	if err != nil {
		version = []byte("unknown")
	}
	return &report{busy: busy / float64(runtime.NumCPU()), machine: []string{
		time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		fmt.Sprintf("%d × %s", runtime.NumCPU(), cpuModel()),
		strings.TrimSpace(string(version)),
		runtime.Version(),
	}}
}

func (r *report) missed() int {
	n := 0
	for _, row := range r.rows {
		if !row.ok() {
			n++
		}
	}
	return n
}

// String returns the report as Markdown with aligned columns.
func (r *report) String() string {
	cells := [][]string{{"what", "Takeover", "reference", "ratio", "target", ""}}
	var notes []string
	for _, row := range r.rows {
		if row.failed != nil {
			cells = append(cells, []string{row.what, "–", "–", "–", "–", "failed: " + row.failed.Error()})
			continue
		}
		ref, ratio, verdict := "–", "–", "ok"
		if row.reference != 0 {
			ref = number(row.reference) + " " + row.unit
			ratio = fmt.Sprintf("%.3f×", row.ours/row.reference)
		}
		if !row.ok() {
			verdict = "**missed**"
		}
		cells = append(cells, []string{row.what, number(row.ours) + " " + row.unit, ref, ratio, row.target.String(), verdict})
		if row.note != "" {
			notes = append(notes, fmt.Sprintf("- %s: %s", row.what, row.note))
		}
	}
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, c := range line {
			widths[i] = max(widths[i], len([]rune(c)))
		}
	}
	rule := make([]string, len(widths))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", max(w, 3))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", strings.Join(r.machine, " · "))
	if r.busy > quietLoad {
		fmt.Fprintf(&b, "The machine was busy with other work (load %.1f per processor): these figures say little.\n\n", r.busy)
	}
	for _, line := range slices.Insert(cells, 1, rule) {
		for i, c := range line {
			fmt.Fprintf(&b, "| %s%s ", c, strings.Repeat(" ", max(widths[i], 3)-len([]rune(c))))
		}
		b.WriteString("|\n")
	}
	if len(notes) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(notes, "\n"))
	}
	return b.String()
}

// quietLoad is the load per processor above which other work disturbs the
// measurement.
const quietLoad = 0.7

// load returns the machine's load average over the last minute.
func load() float64 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(b), " ")
	v, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return v
}

// number formats a number with three significant digits, or with all digits
// before the point.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// percentile returns a percentile of durations, in milliseconds; p is between 0
// and 1.
func percentile(d []time.Duration, p float64) float64 {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	at := min(int(p*float64(len(sorted))), len(sorted)-1)
	return float64(sorted[at].Microseconds()) / 1000
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
