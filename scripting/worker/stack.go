package worker

import (
	"regexp"
	"strconv"
	"strings"

	"takeover/scripting/source"
)

// stackFrame matches a frame in goja's format. The last number is an offset in the
// code to which goja compiled the script.
var stackFrame = regexp.MustCompile(`^\s*at (?:(.*) \()?(.+):(\d+):(\d+)(?:\(\d+\))?\)?$`)

// tidyStack returns the frames of a JavaScript stack that lie in the script, each
// preceded by a newline.
func tidyStack(stack, script string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(stack, "\n") {
		if frame := tidyFrame(line, script); frame != "" {
			b.WriteString("\n" + frame)
		}
	}
	return b.String()
}

// tidyFrame returns one frame in readable form. It is empty for a frame outside
// of the script or before its first line.
func tidyFrame(line, script string) string {
	m := stackFrame.FindStringSubmatch(line)
	if m == nil || m[2] != script || m[3] == "0" {
		return ""
	}
	if m[1] == "" || m[1] == source.MainName {
		return "    at " + m[2] + ":" + m[3] + ":" + m[4]
	}
	return "    at " + m[1] + " (" + m[2] + ":" + m[3] + ":" + m[4] + ")"
}

// tidyLines makes the stacks in a text, such as a logged error.stack, readable.
func tidyLines(text, script string) string {
	const gojaFrame = "\tat "
	if !strings.Contains(text, gojaFrame) {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " "), gojaFrame) && stackFrame.MatchString(line) {
			if line = tidyFrame(line, script); line == "" {
				continue
			}
		}
		lines = append(lines, line)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// position returns the line and column of a tidy stack's first frame, or 0 if
// there is none.
func position(tidy, script string) (line, column int) {
	for text := range strings.SplitSeq(tidy, "\n") {
		if m := stackFrame.FindStringSubmatch(text); m != nil && m[2] == script {
			line, _ = strconv.Atoi(m[3])
			column, _ = strconv.Atoi(m[4])
			return line, column
		}
	}
	return 0, 0
}
