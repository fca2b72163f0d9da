package automation

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// maxLogLines bounds an operation's log; lines in the middle are dropped.
	maxLogLines = 400

	// maxLogPeriod bounds the number of lines in a repeated sequence.
	maxLogPeriod = 24
)

// formatLog formats an operation's log, to follow its error.
func formatLog(log []string) string {
	if len(log) == 0 {
		return ""
	}
	return "\nCall log:\n" + strings.Join(logLines(log), "\n") + "\n"
}

// logLines formats a log as Playwright does: indented, with a dash for each line,
// and with repetitions counted.
func logLines(log []string) []string {
	if len(log) > maxLogLines {
		log = slices.Concat(log[:maxLogLines/2], log[len(log)-maxLogLines/2:])
	}
	lines := []string{}
	for i := 0; i < len(log); {
		period, count := repetition(log[i:])
		for j, line := range log[i : i+period] {
			text := strings.TrimLeft(line, " ")
			indent := "  " + line[:len(line)-len(text)]
			mark := "- "
			if count > 1 {
				times := fmt.Sprintf("%d × ", count)
				if mark = times; j > 0 {
					mark = strings.Repeat(" ", len([]rune(times))-2) + "- "
				}
			}
			lines = append(lines, indent+mark+text)
		}
		i += period * count
	}
	return lines
}

// repetition finds the sequence of lines at the front whose repetitions cover the
// most lines. It returns the sequence's length and how often it occurs.
func repetition(log []string) (period, count int) {
	period, count = 1, 1
	for p := 1; p <= min(len(log)/2, maxLogPeriod); p++ {
		k := 1
		for p*(k+1) <= len(log) && slices.Equal(log[p*k:p*(k+1)], log[:p]) {
			k++
		}
		if k > 1 && p*k > period*count {
			period, count = p, k
		}
	}
	return period, count
}
