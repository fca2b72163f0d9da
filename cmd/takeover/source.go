package main

import (
	"fmt"
	"strings"
)

// How much of a script is shown around an error: lines before and after it, and
// characters per line.
const (
	linesBefore = 2
	linesAfter  = 1
	maxShown    = 160
)

// around returns the lines of a script around a position, with a mark below it.
// It returns nothing if the position does not exist.
func around(code string, line, column int) string {
	lines := strings.Split(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	var b strings.Builder
	last := min(line+linesAfter, len(lines))
	if last > line && lines[last-1] == "" {
		last-- // the empty text after the last newline is not a line
	}
	width := len(fmt.Sprint(last))
	for n := max(1, line-linesBefore); n <= last; n++ {
		text := []rune(strings.ReplaceAll(printable(lines[n-1]), "\t", " "))
		from := 0
		if n == line && column > maxShown*3/4 {
			from = min(column-maxShown/2, len(text))
		}
		shown := string(text[from:min(from+maxShown, len(text))])
		mark := " "
		if n == line {
			mark = ">"
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%s %*d | %s", mark, width, n, shown), " ") + "\n")
		if n == line && column > 0 && column-from <= maxShown {
			fmt.Fprintf(&b, "  %*s | %s^\n", width, "", strings.Repeat(" ", column-from-1))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
